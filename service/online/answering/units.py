"""The smallest pieces evidence can be quoted in: sentences, table rows, list items, whole code blocks.

Each unit knows its place in the archived text, and which neighbours it cannot be quoted without.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from service.domain.answers import Evidence
from service.domain.documents import Span
from service.text.binding import names_only
from service.text.folding import fold
from service.text.sentences import sentences

# A sentence that opens like this leans on the one before it: without it the reader loses the subject or the
# condition. Matched against folded text.
_LEANS_BACK = re.compile(
    r"(?:第[一二三四五六七八九十百\d]+次(?:仍|还|再)|仍|否则|此时|这时|届时|此外|另外|但是?[^不]|不过|然而|因此|所以|其中|该|此|这|它|其(?!他|实|余)"
    r"|上述|以上|前者|后者|同时|并且?|而且|之后|随后|然后|接着|超过(?:后|该|此|上述)|如仍|若仍|如果仍)"
    r"|(?:otherwise|then|this|these|that|those|it|its|they|their|he|she|his|her|however|but|therefore|thus|hence"
    r"|such|instead|also|moreover|furthermore|in addition|in this case|if so|if not|after that|the (?:former|latter))\b"
)
# A sentence that opens like this limits or completes the rule before it: quoting the rule alone would mislead.
_LIMITS_PREVIOUS = re.compile(
    r"(?:第[一二三四五六七八九十百\d]+次(?:仍|还|再)|否则|但是?|不过|然而|除非|除外|例外|如仍|若仍|如果仍|仍)"
    r"|(?:otherwise|however|but|unless|except|if not|if it still)\b"
    r"|(?:在|从|自)?\s*v?\d+(?:\.\d+)+\s*(?:版本?)?\s*(?:及|或|和)?\s*(?:其)?(?:之前|以前|以下|更早|之后|以后|以上|起)"
    r"|(?:before|prior to|until|up to|since|as of|in) (?:(?:version|release) )?v?\d+(?:\.\d+)+"
)
# An item that counts: "1.", "（2）", "第三步", "step 4".
_STEP = re.compile(
    r"\s*(?:\d{1,2}\s?[.)、）](?!\d)|[（(]\d{1,2}[)）]|第[一二三四五六七八九十\d]+步|[①-⑳]|step \d)", re.I
)
_INTRODUCES = re.compile(r"[:：]\s*$")
_DELIMITER_ROW = re.compile(r"\s*\|?\s*:?-{1,}:?\s*(?:\|\s*:?-{1,}:?\s*)*\|?\s*")
_MAX_INTRODUCED = 8  # list items quoted with the line that introduces them
_MAX_NAMED = 5  # sentences quoted with the line that names what they are about
_MAX_STEPS = 1500  # code points a procedure may grow to
_MAX_SPAN = 700  # code points a quoted piece may grow to; longer ones stop being "the sentence that says so"


@dataclass(frozen=True, slots=True)
class Unit:
    """One quotable piece. `span` is in the archived text; `context` is what it is read under (headings,
    a table's head) and counts for matching, never for quoting."""

    source: int
    span: Span
    text: str
    context: str
    row: bool = False


def units_of(source: int, evidence: Evidence) -> list[Unit]:
    """The units of one piece of evidence, in text order. `source` is its place in the evidence list."""
    context = " ".join((evidence.title, *evidence.heading_path, evidence.search_prefix))
    base = evidence.span.start
    if evidence.kind == "table":
        return [
            Unit(source, Span(base + a, base + b), evidence.text[a:b], context, row=True)
            for a, b in _rows(evidence)
        ]
    if evidence.kind == "code":
        return [Unit(source, evidence.span, evidence.text, context)]
    return [
        Unit(source, Span(base + a, base + b), evidence.text[a:b], context)
        for a, b in sentences(evidence.text)
        if any(map(str.isalnum, evidence.text[a:b]))
    ]


def table_head(evidence: Evidence) -> str:
    """The head row a table chunk is read under: the last line of its search prefix, below any caption."""
    return evidence.search_prefix.rsplit("\n", 1)[-1]


def _rows(evidence: Evidence) -> list[tuple[int, int]]:
    """(start, end) of each data row, relative to the chunk."""
    rows, at = [], 0
    for line in evidence.text.split("\n"):
        start = at + len(line) - len(line.lstrip())
        if line.strip() and not _DELIMITER_ROW.fullmatch(line):
            rows.append((start, start + len(line.strip())))
        at += len(line) + 1
    return rows


def windows_of(source: int, evidence: Evidence, *, steps: bool = False) -> list[Unit]:
    """The units, each grown to what it cannot be quoted without; what grows to the same run is there once.

    With `steps`, numbered steps that follow each other are one window: a step alone is no procedure.
    """
    units = units_of(source, evidence)
    runs = (_run(units, place) for place in range(len(units)))
    spans = dict.fromkeys(_with_steps(units, *run) if steps else run for run in runs)
    return [_joined(units, evidence, first, last) for first, last in spans]


def _run(units: list[Unit], chosen: int) -> tuple[int, int]:
    """First and last index of the run that must be quoted together with `units[chosen]`.

    Backwards over sentences that lean on the one before, and to the line that names what this one is about; forwards
    over one that limits or completes the rule, over what a unit ending in a colon introduces, and over what is said
    of a name.
    """
    first = last = chosen
    if units[chosen].row:
        return first, last

    def fits(a: int, b: int) -> bool:
        return units[b].span.end - units[a].span.start <= _MAX_SPAN

    name = next((p for p in range(chosen, max(-1, chosen - _MAX_NAMED - 1), -1) if _names(units, p)), None)
    if name is not None and fits(name, last):
        first = name
        while (
            last < min(len(units) - 1, name + _MAX_NAMED)
            and not _names(units, last + 1)
            and fits(first, last + 1)
        ):
            last += 1
        return first, last
    while first > 0 and _LEANS_BACK.match(_opening(units[first])) and fits(first - 1, last):
        first -= 1
    while last + 1 < len(units) and fits(first, last + 1):
        introduces = _INTRODUCES.search(units[chosen].text) and last - chosen < _MAX_INTRODUCED
        if not introduces and not _LIMITS_PREVIOUS.match(_opening(units[last + 1])):
            break
        last += 1
    return first, last


def _with_steps(units: list[Unit], first: int, last: int) -> tuple[int, int]:
    """The run widened to the whole procedure where it begins with a step or leads into one."""
    at = first if _STEP.match(units[first].text) else last + 1
    if at >= len(units) or units[first].row or not _STEP.match(units[at].text):
        return first, last
    while (
        at > 0 and first == at and (_STEP.match(units[at - 1].text) or _INTRODUCES.search(units[at - 1].text))
    ):
        first = at = at - 1
    while last + 1 < len(units) and units[last + 1].span.end - units[first].span.start <= _MAX_STEPS:
        if not _STEP.match(units[last + 1].text):
            break
        last += 1
    return first, last


def _names(units: list[Unit], place: int) -> bool:
    return names_only(units[place].text)


def _joined(units: list[Unit], evidence: Evidence, first: int, last: int) -> Unit:
    if first == last:
        return units[first]
    span = Span(units[first].span.start, units[last].span.end)
    base = evidence.span.start
    return replace(units[first], span=span, text=evidence.text[span.start - base : span.end - base])


def _opening(unit: Unit) -> str:
    return fold(unit.text.lstrip(" \t-*+>#0123456789.)、（("))
