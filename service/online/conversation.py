"""A turn of a conversation: the follow-up as a standing question, from what the same principal asked before.

Answers are not kept and never looked at: each turn retrieves anew under the rights of its moment.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from service.domain.answers import Gap, Question, Reason
from service.domain.conversations import KEPT, NEW, Owner, new_id
from service.domain.ports import Conversations
from service.domain.rights import Principal
from service.errors import InvalidQuestion, NotFound
from service.profiles.rules import bypass_match
from service.text.folding import fold
from service.text.followup import How, Open, resolve

_NOT_FOLLOWED = (Reason.POLICY_BYPASS_REQUEST, Reason.QUESTION_OUT_OF_SCOPE)
_LONGEST = 2000  # characters of a resolved question, as of any other


@dataclass(frozen=True, slots=True)
class Turn:
    """`question` is what is asked in the end; `gap` says what nothing before it settles, and then nothing is asked."""

    owner: Owner
    conversation_id: str
    question: Question
    how: How | None
    before: tuple[str, ...]
    gap: Gap | None = None


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Where conversations are kept, and for how long."""

    store: Conversations
    ttl_s: int

    def turn(self, question: Question, principal: Principal) -> Turn:
        """Raises NotFound for a conversation that is over, another's, or never was; Unavailable where the store does
        not answer."""
        owner = Owner(principal.tenant, principal.subject)
        given = str(question.conversation_id)
        before: tuple[str, ...] | None = () if given == NEW else self.store.get(owner, given)
        if before is None:
            raise NotFound
        conversation_id = new_id() if given == NEW else given
        if bypass_match(fold(question.text)) is not None:
            return Turn(
                owner, conversation_id, question, "itself", before
            )  # Refused as it stands, whatever came before.
        found = resolve(question.text, before[-1] if before else None)
        if isinstance(found, Open):
            return Turn(owner, conversation_id, question, None, before, _unsettled(found.what, bool(before)))
        if len(found.question) > _LONGEST:
            raise InvalidQuestion("With what it refers to, the question is too long; ask it in full.")
        return Turn(owner, conversation_id, replace(question, text=found.question), found.how, before)

    def keep(self, turn: Turn, reason: Reason | None) -> None:
        """The turn's question becomes the one that the next follows, unless it was open or may not be asked.

        Raises Unavailable.
        """
        passed_over = turn.gap is not None or reason in _NOT_FOLLOWED
        told = turn.before if passed_over else (*turn.before, turn.question.text)
        self.store.keep(turn.owner, turn.conversation_id, told[-KEPT:], self.ttl_s)


def _unsettled(what: str, followed: bool) -> Gap:
    missing = (
        f"The question before does not settle what this one is about: {what}"
        if followed
        else f"The conversation begins here, so nothing settles what this is about: {what}"
    )
    return Gap(missing, suggestion="Ask the whole question, with what it is about.")
