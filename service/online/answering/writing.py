"""The language model's answerer: what it writes is a proposal, and only what the named sources prove of it goes on.

    evidence that fits → prompt → reply → claims → the spans that prove them → what the profile does about the rest

At most one further reply is asked for: of a model that was not understood or, if the profile says so, not proven. No
word of an earlier reply is in that request, and none of any reply in a trace or a log. Claims that could not be decided
go beside the proposal, for people to look at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal

from service.domain.answers import Claim, ClaimFault, Evidence
from service.domain.ports import Generator
from service.domain.reviews import Undecided
from service.errors import GenerationFailed
from service.online.answering.extractive import AnswerRequest, Proposal, value_of
from service.online.answering.prompt import (
    Form,
    amend_refused,
    amend_unreadable,
    prompt_of,
    source_line,
    words,
)
from service.online.answering.proving import Proven, Unproven, proven
from service.online.answering.quoting import citation_of
from service.online.answering.replies import read_reply

_MOST_REPLIES = 2
_MOST_CLAIMS = 40
_LEAST_S = 0.2  # a model has no use for less time

# What the model is told of a sentence: none of its words, and nothing that the evidence says.
_TOLD = {
    ClaimFault.CLAIM_WITHOUT_SOURCE: "names no source",
    ClaimFault.UNKNOWN_SOURCE: "names a source that is not in the evidence",
    ClaimFault.UNSUPPORTED_NUMBER: "has a number that its sources do not state so",
    ClaimFault.UNSUPPORTED_CLAIM: "says more than its sources do, or leaves out what they say it depends on",
}


@dataclass(frozen=True, slots=True)
class Terms:
    """Under what a model writes: what an unproven claim does, tokens for evidence and for the reply, and the seconds
    that are left, asked anew for each reply."""

    unproven: Literal["refuse", "strip", "regenerate"]
    evidence_tokens: int
    reply_tokens: int
    left: Callable[[], float]


@dataclass(frozen=True, slots=True)
class Writer:
    generator: Generator
    form: Form
    timeout_s: float
    count_tokens: Callable[[str], int]

    @property
    def identity(self) -> str:
        """What its answers depend on besides the evidence and the profile."""
        return f"{self.generator.identity} {words().identity} {self.form}"

    def write(self, request: AnswerRequest, terms: Terms) -> tuple[Proposal, dict[str, Any]]:
        """The proposal, and counts and names for the trace. Raises GenerationFailed."""
        sent = self._fitting(request.evidence, terms.evidence_tokens)
        form, amend, replies, faults = self.form, "", 0, list[ClaimFault]()
        undecided: dict[Undecided, None] = {}
        checked: list[Proven | Unproven] | None = None
        while replies < _MOST_REPLIES:
            form, reply = self._reply(request.question, sent, form, amend, terms)
            replies += 1
            checked = _checked(reply, request.evidence, sent)
            if checked is None:
                form, amend = "tagged", amend_unreadable()
                continue
            unproven = [claim for claim in checked if isinstance(claim, Unproven)]
            faults = [claim.fault for claim in unproven]
            undecided |= {claim.undecided: None for claim in unproven if claim.undecided}
            if not faults or terms.unproven != "regenerate":
                break
            amend = amend_refused(_told(checked))
        if checked is None:
            raise GenerationFailed("unreadable")
        detail = {
            "model": self.generator.identity,
            "prompt": words().identity,
            "form": form,
            "sent": len(sent),
            "replies": replies,
            "claims": len(checked),
            "faults": faults,
            "undecided": len(undecided),
        }
        proposal = _proposal(request, checked, strip=terms.unproven == "strip")
        return replace(proposal, undecided=tuple(undecided)), detail

    def _fitting(self, evidence: Sequence[Evidence], room: int) -> list[Evidence]:
        """What fits as it is sent, with titles, headings and escapes. The first piece always does."""
        sent, used = list[Evidence](), 0
        for item in evidence:
            used += self.count_tokens(source_line(item))
            if sent and used > room:
                break
            sent.append(item)
        return sent

    def _reply(
        self, question: str, sent: Sequence[Evidence], form: Form, amend: str, terms: Terms
    ) -> tuple[Form, str]:
        """The reply, and the form that it was asked for in: a server that knows no schema is asked for tags."""
        seconds = min(self.timeout_s, terms.left())
        if seconds < _LEAST_S:
            raise GenerationFailed("timeout")
        try:
            return form, self.generator.reply(
                prompt_of(question, sent, form, terms.reply_tokens, amend), seconds
            )
        except GenerationFailed as failed:
            if failed.kind != "schema_unsupported":
                raise
        return self._reply(question, sent, "tagged", amend, terms)


def _checked(
    reply: str, evidence: Sequence[Evidence], sent: Sequence[Evidence]
) -> list[Proven | Unproven] | None:
    """Each claim proven, or why it is not; None for a reply that cannot be read, or is longer than answers are."""
    written = read_reply(reply)
    claims = None if written is None else list(islice(written, _MOST_CLAIMS + 1))
    if claims is None or len(claims) > _MOST_CLAIMS:
        return None
    return [proven(claim, evidence, range(1, len(sent) + 1)) for claim in claims]


def _told(checked: Sequence[Proven | Unproven]) -> list[str]:
    return [
        f"sentence {place} {_TOLD[claim.fault]}"
        for place, claim in enumerate(checked, 1)
        if isinstance(claim, Unproven)
    ]


def _proposal(request: AnswerRequest, checked: Sequence[Proven | Unproven], *, strip: bool) -> Proposal:
    fault = next((claim.fault for claim in checked if isinstance(claim, Unproven)), None)
    held = {claim.text: claim for claim in checked if isinstance(claim, Proven)}
    if fault is not None and not (strip and held):
        return Proposal("", (), mode="generated", fault=fault)
    claims = [_claim(claim, request) for claim in held.values()]
    units = dict.fromkeys(window for claim in held.values() for window in claim.windows)
    return Proposal(
        "\n".join(map(_line, claims)),
        tuple(claims),
        tuple((unit, 0.0) for unit in units),
        mode="generated",
    )


def _claim(claim: Proven, request: AnswerRequest) -> Claim:
    citations = tuple(citation_of(request.evidence[unit.source], unit.span) for unit in claim.windows)
    return Claim(claim.text, "generated", citations, value=value_of(claim.text, request))


def _line(claim: Claim) -> str:
    """The claim with the marks of the sources that prove it, as an extractive answer has them."""
    sources = dict.fromkeys(citation.source_id for citation in claim.citations)
    return f"{claim.text} {''.join(f'[{source}]' for source in sources)}"
