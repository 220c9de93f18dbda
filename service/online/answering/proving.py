"""Which spans of the sources that a written claim names prove it.

The model names sources; the spans are chosen here, from what those sources say, and the verifier checks them again.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from service.domain.answers import ClaimFault, Evidence
from service.domain.reviews import CitedSpan, Undecided
from service.online.answering.splitting import Written
from service.online.answering.units import Unit, windows_of
from service.profiles.rules import bypass_match
from service.text.clauses import clauses
from service.text.folding import fold
from service.text.support import fault_of, verdict_of

_LONGEST = 1500  # characters of a claim; nothing that may be quoted is longer

# The verifier reads past these, as marks and list numbers. The marks are taken off by now: what is left is said.
_PASSED_OVER = re.compile(r"[\[【［]\s?[Ss]?\d[^\]】］]{0,40}[\]】］]|^\s*[(（]?\d{1,3}[.、)）]", re.M)

# Text that looks like a part of the prompt, or of a reply, is in a document to be taken for one.
_FORGED = re.compile(
    r"\[S\d{1,3}\]|<\|[^|<>\n]{1,40}\|>|\[/?INST\]|</?(?:evidence|question|answer)>"
    r'|"(?:claims|citations|sourceId)"\s*:|(?:^|\n)\s*#{1,6}\s*(?:system|assistant|系统|助手)\s?[:：]',
    re.I,
)


@dataclass(frozen=True, slots=True)
class Proven:
    """A claim with the pieces of evidence that prove it."""

    text: str
    windows: tuple[Unit, ...]


@dataclass(frozen=True, slots=True)
class Unproven:
    """Why a claim is not taken, and the claim itself where that could not be decided."""

    fault: ClaimFault
    undecided: Undecided | None = None


def proven(written: Written, evidence: Sequence[Evidence], sent: Collection[int]) -> Proven | Unproven:
    """`sent` are the numbers of the sources that the model was given; it can mean no others."""
    if not written.numbers:
        return Unproven(ClaimFault.CLAIM_WITHOUT_SOURCE)
    named = [number for number in written.numbers if number in sent]
    if not named:
        return Unproven(ClaimFault.UNKNOWN_SOURCE)
    if len(written.text) > _LONGEST:
        return Unproven(ClaimFault.UNSUPPORTED_CLAIM)
    windows = [window for number in named for window in _quotable(number - 1, evidence[number - 1])]
    chosen = _whole(written.text, windows) or _by_clauses(written.text, windows)
    if chosen:
        return Proven(written.text, chosen)
    numbers = all(fault_of(written.text, [window.text]) == "quantity" for window in windows)
    fault = ClaimFault.UNSUPPORTED_NUMBER if windows and numbers else ClaimFault.UNSUPPORTED_CLAIM
    reason = fault_of(written.text, [window.text for window in windows]) if windows else None
    if reason is None or verdict_of(reason) != "undecided":
        return Unproven(fault)
    cited = [evidence[number - 1] for number in named]
    return Unproven(
        fault,
        Undecided(
            written.text,
            reason,
            tuple(CitedSpan(item.document_id, item.document_version, item.span) for item in cited),
            tuple(sorted({evidence[number - 1].document_id for number in sent})),
        ),
    )


def _quotable(place: int, evidence: Evidence) -> Iterator[Unit]:
    for window in windows_of(place, evidence):
        if not _FORGED.search(window.text) and bypass_match(fold(window.text)) is None:
            yield window


def _whole(text: str, windows: Sequence[Unit]) -> tuple[Unit, ...]:
    """The shortest window that proves all of it."""
    able = [window for window in windows if _shown(text, [window])]
    return (min(able, key=lambda window: len(window.text)),) if able else ()


def _by_clauses(text: str, windows: Sequence[Unit]) -> tuple[Unit, ...]:
    """For each clause the shortest window that proves it, if together they prove the claim."""
    parts = [_whole(text[start:end], windows) for start, end in clauses(text)]
    chosen = tuple(dict.fromkeys(window for part in parts for window in part))
    return chosen if all(parts) and _shown(text, chosen) else ()


def _shown(text: str, windows: Sequence[Unit]) -> bool:
    quotes = [window.text for window in windows]
    if text.rstrip().endswith(("?", "？")) and not any(text.strip() in quote for quote in quotes):
        return False  # A question claims nothing that a statement could bear.
    passed_over = (found.group().strip() for found in _PASSED_OVER.finditer(text))
    return fault_of(text, quotes) is None and all(
        any(part in quote for quote in quotes) for part in passed_over
    )
