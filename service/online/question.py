"""Question analysis: what must match exactly, what is meant, and what may not be asked.

The question's own words are kept; nothing here rewrites an anchor.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from service.domain.answers import Reason
from service.profiles.rules import Rule, bypass_match, first_match
from service.text.analysis import content_terms, query_terms
from service.text.anchors import Anchor, find_anchors, is_hard
from service.text.folding import fold
from service.text.language import language
from service.text.questions import Condition, Kind, asks_value, conditions_of, kind_of, sides_of
from service.text.respelling import respelled


@dataclass(frozen=True, slots=True)
class Analysis:
    """The parsed question. `hard` are anchors an answer must match exactly; `anchors` all canonical forms.

    `terms` are looked for; `content` is what the question is about, and what evidence has to cover. `kind` is the
    kind of answer asked for, `sides` what a comparison compares, `conditions` the versions and platforms it names;
    `respelled` are names that its words may spell.
    """

    text: str
    folded: str
    language: str
    terms: tuple[str, ...]
    content: tuple[str, ...]
    hard: tuple[Anchor, ...]
    anchors: tuple[str, ...]
    asks_value: bool
    kind: Kind = "other"
    sides: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    respelled: tuple[str, ...] = ()


def analyse(text: str) -> Analysis:
    found = find_anchors(text)
    folded = fold(text)
    return Analysis(
        text=text,
        folded=folded,
        language=language(text),
        terms=tuple(query_terms(text)),
        content=tuple(content_terms(text)),
        hard=tuple(anchor for anchor in found if is_hard(anchor)),
        anchors=tuple(dict.fromkeys(anchor.canonical for anchor in found)),
        asks_value=asks_value(folded),
        kind=kind_of(folded),
        sides=sides_of(text),
        conditions=conditions_of(text),
        respelled=tuple(respelled(text)),
    )


def forbidden(analysis: Analysis, out_of_scope: Iterable[Rule]) -> tuple[Reason, str] | None:
    """The reason and rule id when the question may not be answered whatever the documents say."""
    rule = bypass_match(analysis.folded)
    if rule is not None:
        return Reason.POLICY_BYPASS_REQUEST, rule.rule_id
    rule = first_match(out_of_scope, analysis.folded)
    if rule is not None:
        return Reason.QUESTION_OUT_OF_SCOPE, rule.rule_id
    return None
