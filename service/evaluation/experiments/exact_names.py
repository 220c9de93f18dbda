"""Exact names asked by: each found first as written and in other spellings, none of its made-up siblings answered.

Names are read from the documents by forms of their own, not by the product's: error numbers in lists, settings that are
headings, long options. A sibling differs in one digit or letter and stands in no document.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

from service.domain.answers import Question
from service.domain.documents import Span
from service.domain.rights import Principal
from service.domain.sources import SourceItem
from service.evaluation.experiments import Expectation
from service.offline.ingest.parsing import parse
from service.offline.ingest.sources import read_sources
from service.offline.story import Offline
from service.online.entry import Online
from service.profiles.corpus import CorpusProfile

CORPUS = "exact-names"
_CODE = re.compile(
    r"^[ \t]*(?:[*-] |#{2,6} )?Error (?:Number: )?(?P<name>\d{3,6})(?: \([A-Z0-9]+\))?[ \t]*$", re.MULTILINE
)
_HEADING = re.compile(r"^(?:#{2,6} )?`?(?P<name>[a-z][a-z0-9]*(?:_[a-z0-9]+)+)`?(?: .*)?$", re.MULTILINE)
_OPTION = re.compile(r"(?<![\w-])--(?P<name>[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*)(?![\w-])")
_FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
_KINDS = ("error code", "setting", "option")
# How each kind is asked about; {} is the name as it is written.
_ASKED = {
    "error code": "错误码 {} 怎么处理？",
    "setting": "{} 的默认值是多少？",
    "option": "参数 {} 有什么作用？",
}


@dataclass(frozen=True, slots=True)
class Name:
    """`places` are where it is told of: (documentId, span)."""

    kind: str
    text: str
    places: tuple[tuple[str, Span], ...]


@dataclass(slots=True)
class Tally:
    """By kind and spelling: asked and found first; names that were not; siblings asked and answered."""

    asked: Counter[tuple[str, str]] = field(default_factory=Counter)
    first: Counter[tuple[str, str]] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)
    siblings: Counter[str] = field(default_factory=Counter)
    answered: list[str] = field(default_factory=list)


def publish(offline: Offline, sources: Sequence[Path], progress: Callable[[str, int, int], None]) -> None:
    profile = CorpusProfile(name=CORPUS)
    offline.ingest(CORPUS, list(sources), profile, {"allow": ["*"]}, progress)
    offline.publish(CORPUS, offline.build(CORPUS, progress).generation)


def names_in(sources: Sequence[Path]) -> tuple[list[Name], str]:
    """The names of all documents, and everything that they say, in lower case."""
    found: dict[tuple[str, str], list[tuple[str, Span]]] = {}
    texts = []
    for item in read_sources(list(sources)):
        if not isinstance(item, SourceItem):
            continue
        document = parse(item)
        text = document.canonical_text
        texts.append(text)
        for kind, name, span in (*_sections(text), *_options(text)):
            found.setdefault((kind, name), []).append((document.document_id, span))
    names = [Name(kind, name, tuple(places)) for (kind, name), places in sorted(found.items())]
    return names, "\n".join(texts).lower()


def run(
    online: Online,
    names: Sequence[Name],
    said: str,
    who: Principal,
    siblings: int,
    seed: int,
    progress: Callable[[str, int, int], None],
) -> tuple[Tally, list[Expectation]]:
    tally = Tally()
    for number, name in enumerate(names, 1):
        for spelling, written in spellings(name):
            hits = online.search(Question("name", written, CORPUS), who, 1).hits
            right = any(
                hit.document_id == document
                and (
                    (hit.span.start < span.end and span.start < hit.span.end)
                    or _in_heading(name, hit.heading_path)
                )
                for hit in hits
                for document, span in name.places
            )
            tally.asked[name.kind, spelling] += 1
            tally.first[name.kind, spelling] += right
            if not right:
                tally.missed.append(f"{name.kind}, {spelling}: {written}")
        progress("names", number, len(names))
    made = _siblings(names, said, siblings, random.Random(seed))
    for number, (kind, written) in enumerate(made, 1):
        answer = online.answer(Question("sibling", _ASKED[kind].format(written), CORPUS), who)
        tally.siblings[kind] += 1
        if answer.status == "answered":
            tally.answered.append(f"{kind}: {written}")
        progress("siblings", number, len(made))
    return tally, [
        *(
            Expectation(
                f"{kind}, {spelling}: found first",
                f"{asked} of {asked}",
                f"{tally.first[kind, spelling]} of {asked}",
                tally.first[kind, spelling] == asked,
            )
            for (kind, spelling), asked in tally.asked.items()
        ),
        Expectation(
            f"of {len(made)} made-up siblings answered", "none", str(len(tally.answered)), not tally.answered
        ),
    ]


def _in_heading(name: Name, heading_path: Sequence[str]) -> bool:
    """Whether a heading over the text names it: what stands below is about it."""
    return any(match["name"] == name.text for heading in heading_path for match in _OPTION.finditer(heading))


def spellings(name: Name) -> Iterable[tuple[str, str]]:
    """The name as a question writes it, and what people make of it."""
    text = name.text
    if name.kind == "error code":
        yield "as written", f"Error Number: {text}"
        yield "case", f"ERROR {text}"
        yield "hyphen", f"error-{text}"
        yield "space", f"错误码  {text}"
        yield "full width", f"错误码{text.translate(_FULL_WIDTH)}"
        return
    written = f"--{text}" if name.kind == "option" else text
    yield "as written", written
    yield "case", written.upper() if name.kind == "setting" else f"--{text[0].swapcase()}{text[1:]}"
    if name.kind == "setting":
        yield "hyphen", text.replace("_", "-")
        yield "space", text.replace("_", " ")
    elif "-" in text:
        yield "hyphen", f"--{text.replace('-', '')}"
        yield "space", f"--{text.replace('-', ' ')}"
    yield "full width", written.translate(_FULL_WIDTH)


def _sections(text: str) -> Iterable[tuple[str, str, Span]]:
    """Each code and each setting with what stands up to the next of its kind."""
    for kind, pattern in (("error code", _CODE), ("setting", _HEADING)):
        found = list(pattern.finditer(text))
        for match, following in zip_longest(found, found[1:]):
            end = following.start() if following else len(text)
            yield kind, match["name"], Span(match.start(), end)


def _options(text: str) -> Iterable[tuple[str, str, Span]]:
    for match in _OPTION.finditer(text):
        yield "option", match["name"], Span(match.start(), match.end())


def _siblings(names: Sequence[Name], said: str, most: int, drawn: random.Random) -> list[tuple[str, str]]:
    """As many of each kind as there are, in turns, none of which stands anywhere, in whatever spelling."""
    plain = re.sub(r"[-_ ]", "", said)
    pools = {kind: [name for name in names if name.kind == kind] for kind in _KINDS}
    kinds = [kind for kind in _KINDS if pools[kind]]
    made: dict[tuple[str, str], None] = {}
    for turn in range(most * 20 if kinds else 0):
        if len(made) == most:
            break
        kind = kinds[turn % len(kinds)]
        text = _one_changed(drawn.choice(pools[kind]).text, drawn)
        if re.sub(r"[-_ ]", "", text.lower()) not in plain:
            made[kind, f"--{text}" if kind == "option" else text] = None
    return list(made)


def _one_changed(text: str, drawn: random.Random) -> str:
    at = drawn.choice([place for place, char in enumerate(text) if char.isalnum()])
    others = "0123456789" if text[at].isdigit() else "abcdefghijklmnopqrstuvwxyz"
    return text[:at] + drawn.choice([o for o in others if o != text[at].lower()]) + text[at + 1 :]
