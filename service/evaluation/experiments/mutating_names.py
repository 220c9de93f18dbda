"""Names put in the place of others: whoever reads only numbers and negations does not see that somebody else is meant.

Latin names are told by their capital. Chinese ones by the marks around them (《…》, “…”), by what the segmenter's
dictionary and its model of unknown words call them, and by the word that ends them (大学, 公司, 省, 县).
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import rjieba

from service.evaluation.experiments.mutating import Mutator
from service.text.language import HAN
from service.text.stopwords import STOP_WORDS

NameKind = Literal["person", "place", "organisation", "title"]

_LATIN_NAME = re.compile(r"(?<![A-Za-z0-9_.\-/])[A-Z][A-Za-z]{3,}(?![A-Za-z0-9_\-/]|\.\w)")
_MARKED = re.compile(r"《([^《》\n]{2,30})》|“([^“”\n]{2,20})”|「([^「」\n]{2,20})」|『([^『』\n]{2,20})』")
_HAN_RUN = re.compile(f"[{HAN}]+")
# The segmenter's tags of proper names.
_TAGS: Mapping[str, NameKind] = {"nr": "person", "nrt": "person", "ns": "place", "nt": "organisation"}
# What ends a name and tells its kind, as a word of its own behind it.
_ENDINGS: Mapping[str, NameKind] = {
    **dict.fromkeys(
        "公司 集团 银行 大学 学院 中学 小学 学校 医院 协会 学会 委员会 研究所 研究院 出版社 报社 电视台 俱乐部"
        " 球队 乐队 政府 法院 部 局 厅 党 军".split(),
        "organisation",
    ),
    **dict.fromkeys("省 市 县 区 州 镇 乡 村 岛 山 河 江 湖 港 国 路 街 站".split(), "place"),
}  # fmt: skip
_JOINT = re.compile(r"\s*[、，和与及跟同或]\s*|以及|或者")


@dataclass(frozen=True, slots=True)
class Name:
    """A name of a text at [start, end)."""

    kind: NameKind
    start: int
    end: int
    text: str


def chinese_names(text: str) -> list[Name]:
    """The Chinese names of a text in order, never overlapping; single characters are none."""
    marked = [
        Name("title", found.start(group), found.end(group), found[group])
        for found in _MARKED.finditer(text)
        if (group := found.lastindex) and _HAN_RUN.search(found[group])
    ]
    others = [
        name for name in _whole(text) if not any(m.start < name.end and name.start < m.end for m in marked)
    ]
    return sorted((*marked, *others), key=lambda name: name.start)


def _whole(text: str) -> Iterator[Name]:
    """查尔斯·达尔文 is one name."""
    whole: Name | None = None
    for name in _tagged(text):
        if whole and text[whole.end : name.start] in ("·", "・", "•"):
            whole = Name(whole.kind, whole.start, name.end, text[whole.start : name.end])
            continue
        if whole:
            yield whole
        whole = name
    if whole:
        yield whole


def _tagged(text: str) -> Iterator[Name]:
    for run in _HAN_RUN.finditer(text):
        at, words = run.start(), rjieba.tag(run.group())
        ends = [*words[1:], ("", "")]
        taken = 0
        for (word, tag), (following, _) in zip(words, ends, strict=True):
            start, at = at, at + len(word)
            kind = _TAGS.get(tag)
            if start < taken or kind is None or len(word) < 2:
                continue
            taken = at
            if following in _ENDINGS:
                kind, taken = _ENDINGS[following], at + len(following)
            yield Name(kind, start, taken, text[start:taken])


def by_kind(texts: Sequence[str]) -> dict[NameKind, list[str]]:
    """All the names of the texts, each once, in a fixed order."""
    found: dict[NameKind, set[str]] = defaultdict(set)
    for text in texts:
        for name in chinese_names(text):
            found[name.kind].add(name.text)
    return {kind: sorted(names) for kind, names in sorted(found.items())}


def chinese_swappers(
    near: Mapping[NameKind, Sequence[str]], all_: Mapping[NameKind, Sequence[str]]
) -> dict[str, Mutator]:
    """For each kind a mutator that puts another name of the kind in the place of one: one of the same document where
    it has one, else of the whole corpus."""

    def swapper(kind: NameKind) -> Mutator:
        def swap(text: str, rng: random.Random) -> str | None:
            found = [name for name in chinese_names(text) if name.kind == kind]
            rng.shuffle(found)
            for name in found:
                for names in (near.get(kind, ()), all_.get(kind, ())):
                    # 北京 for 北京市 would say the same.
                    others = [n for n in names if n not in text and name.text not in n and n not in name.text]
                    if others:
                        return text[: name.start] + rng.choice(others) + text[name.end :]
            return None

        return swap

    return {f"Chinese {kind} swapped": swapper(kind) for kind in ("person", "place", "organisation", "title")}


def exchanged(text: str, rng: random.Random) -> str | None:
    """Two Chinese names of a kind change places; not those of one list, whose order says nothing."""
    names = chinese_names(text)
    pairs = [
        (first, second)
        for at, first in enumerate(names)
        for second in names[at + 1 :]
        if first.kind == second.kind
        and first.text not in second.text
        and second.text not in first.text
        and not _one_list(text, [n for n in names if first.start <= n.start <= second.start])
    ]
    if not pairs:
        return None
    first, second = rng.choice(pairs)
    between = text[first.end : second.start]
    return f"{text[: first.start]}{second.text}{between}{first.text}{text[second.end :]}"


def _one_list(text: str, names: Sequence[Name]) -> bool:
    return all(
        _JOINT.fullmatch(text[one.end : other.start].strip("》《“”「」『』"))
        for one, other in pairwise(names)
    )


def latin_swapper(names: Sequence[str]) -> Mutator:
    """Puts another text's name in the place of one; `names` are those of the whole corpus."""

    def swap(text: str, rng: random.Random) -> str | None:
        found = [match for match in _LATIN_NAME.finditer(text) if match.group().lower() not in STOP_WORDS]
        others = [name for name in names if name.lower() not in text.lower()]
        if not found or not others:
            return None
        match = rng.choice(found)
        return text[: match.start()] + rng.choice(others) + text[match.end() :]

    return swap


def latin_names(text: str) -> list[str]:
    """Names in Latin letters; what opens a sentence may be any word."""
    return [
        match.group()
        for match in _LATIN_NAME.finditer(text)
        if match.start() and match.group().lower() not in STOP_WORDS
    ]
