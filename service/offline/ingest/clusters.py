"""Near-duplicates across a build: chunks that say the same in almost the same words.

Numbers, units, names, values, negations and limits are what a text says, so they are its identity: two texts that
differ in one of them are never of one cluster, however alike the rest is. Among texts of one identity, MinHash with
a fixed seed finds candidates and the exact share of common shingles decides; who is compared with whom does not
depend on the order of documents.

A cluster is told, not acted upon: which texts stand between two others may be hidden from a reader, so collapsing
results by it could show that something hidden is there. `online/fusion.py` collapses what is identical.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import ceil

import numpy as np
from numpy.typing import NDArray
from rensa import RMinHash, RMinHashLSH

from service.domain.documents import Chunk
from service.text.anchors import find_anchors
from service.text.folding import fold, fold_width
from service.text.numerals import NUMERAL
from service.text.polarity import modality
from service.text.polarity_tables import ANTONYMS, EN_NEGATORS
from service.text.units import unit_of

SHINGLE = 5  # characters
PERMUTATIONS = 128
SEED = 20261201
BANDS = 32  # of four: two texts at the threshold miss each other once in 10^10
SIMILAR = 0.9  # share of common shingles from which on two texts are one

VERSION = (
    f"clusters-1(shingle={SHINGLE},permutations={PERMUTATIONS},seed={SEED},bands={BANDS},similar={SIMILAR:g})"
)

_VALUE = re.compile(r"`+([^`]+)`+|\b([A-Z][A-Z0-9_]+)\b")
_SPACE = re.compile(r"\s+")
# A number with the word behind it, which may be its unit; spelled and Chinese numbers, a sign or comparison before it.
_NUMBER = re.compile(
    rf"[-+<>=≤≥≈~±]*(?:\d[\d.,:/]*|{NUMERAL}|[百千万亿兆])+\s?(?:[a-zμωå°℃%‰$€£¥/·²³^]+|[^\W\d_a-z]{{1,4}})?"
    r"|\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty|hundred|thousand|million|billion"
    r"|first|second|third|\w+th|once|twice|thrice|half|double|triple|quarter|both|single|dozen)\b(?:[\s-](?:an?\s)?\w+)?",
    re.I,
)
_NEGATING = "不没未无非勿别莫毋否禁免缺"
_NEGATION = re.compile(
    rf"[^\W\d_a-z]{{0,2}}[{_NEGATING}][^\W\d_a-z]{{0,2}}|(?:{EN_NEGATORS.pattern})\s*\w*|n't\b"
)
_RATE = re.compile(r"每[^\W\d_a-z]{1,2}|\b(?:per|each|every|hourly|daily|weekly|monthly|yearly)\b(?:\s\w+)?")
_NOT_DIGIT = re.compile(r"\D+")
_NOT_NEGATING = re.compile(rf"[^{_NEGATING}]+")
_MANY = 16  # chunks compared by one shingle; beyond that all are looked at
_MIX = np.array([pow(0x9E3779B97F4A7C15, power, 1 << 64) for power in range(1, SHINGLE + 1)], dtype=np.uint64)
_WORD = re.compile(r"[a-zμωå°℃%‰$€£¥²³]+(?:/[a-z]+)?", re.I)
_BRACKETED = re.compile(
    r"[(（\[【]\s?([^()（）\[\]【】\s]{1,8})\s?[)）\]】]|(?:单位|\bunits?)\s*[:：]\s*([^\s,，;；|)）]+)", re.I
)


def clustered(documents: Sequence[Sequence[Chunk]]) -> list[list[Chunk]]:
    """The chunks with their clusters, in the same order. A chunk that nothing repeats has none."""
    by_identity: dict[str, list[Chunk]] = {}
    for chunk in _perhaps_repeated([chunk for own in documents for chunk in own]):
        whole = f"{chunk.search_prefix}\n{chunk.text}"
        # Of code, every character says something.
        said = _hash(_SPACE.sub(" ", whole)) if chunk.kind == "code" else identity(whole)
        by_identity.setdefault(said, []).append(chunk)
    names: dict[str, str] = {}
    for said, group in by_identity.items():
        if len(group) > 1:
            names |= _named(said, group)
    return [[replace(c, cluster=names.get(c.chunk_id, "")) for c in own] for own in documents]


def tally(documents: Sequence[Sequence[Chunk]]) -> dict[str, float]:
    """How many clusters there are and how many chunks are in one, named as in a manifest."""
    names = [chunk.cluster for own in documents for chunk in own if chunk.cluster]
    return {"clusters": float(len(set(names))), "chunksInClusters": float(len(names))}


def identity(text: str) -> str:
    """What may not differ within a cluster: numbers with their units, names, values (ON, `x`), negations with what they
    stand beside, opposites and limits; each in the order of the text."""
    text = _SPACE.sub(" ", text).strip()
    folded = fold(text)
    # Case tells mW from MW; of other scripts only the form is folded.
    cased = "".join(o if o.isascii() else f for o, f in zip(fold_width(text), folded, strict=True))
    parts: tuple[Iterable[str], ...] = (
        (_SPACE.sub("", found.group()) for found in _NUMBER.finditer(cased)),
        (_SPACE.sub("", found.group()) for found in _NEGATION.finditer(folded)),
        (_SPACE.sub("", found.group()) for found in _RATE.finditer(folded)),
        (first or second for first, second in _BRACKETED.findall(cased)),
        (word for word in _WORD.findall(cased) if unit_of(word) is not None),
        (first or second for first, second in _VALUE.findall(text)),
        (anchor.canonical for anchor in find_anchors(text)),
        sorted(modality(text)),
        (f"{place}{side}" for place, pair in enumerate(ANTONYMS) for side in (0, 1) if pair[side].search(folded)),
    )  # fmt: skip
    return _hash("\x1e".join("\x1f".join(part) for part in parts))


def _perhaps_repeated(chunks: Sequence[Chunk]) -> list[Chunk]:
    """All but chunks that certainly nothing repeats: an identity takes long to find out, and most chunks are alone.

    Digits and signs of negation are all part of an identity, in their order. Two sets that share SIMILAR of their
    members have one in common among the first few of each, in any order that is the same for both (prefix filter).
    """
    hashes = []
    places: dict[tuple[str, str, str, int], list[int]] = {}
    perhaps: set[int] = set()
    for place, chunk in enumerate(chunks):
        text = _text(chunk)
        kind, digits, negations = chunk.kind, _NOT_DIGIT.sub("", text), _NOT_NEGATING.sub("", text)
        hashes.append(own := _shingle_hashes(text))
        compared: set[int] = set()
        # One more than it takes, for two shingles of one hash.
        for first in own[: len(own) - ceil(len(own) * SIMILAR) + 2].tolist():
            key = ("code" if kind == "code" else "", digits, negations, first)
            others = places.setdefault(key, [])
            if len(others) == _MANY:
                perhaps |= {place, *others}
                continue
            for other in set(others) - compared:
                if _nearly_similar(own, hashes[other]):
                    perhaps |= {place, other}
            compared.update(others)
            others.append(place)
    return [chunks[place] for place in sorted(perhaps)]


def _shingle_hashes(text: str) -> NDArray[np.uint32]:
    """A number for each shingle, ascending, each once; what many texts share does not come first."""
    codes = np.frombuffer(text.ljust(SHINGLE, "\0").encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    windows = np.lib.stride_tricks.sliding_window_view(codes.astype(np.uint64), SHINGLE)
    return np.unique(((windows * _MIX).sum(axis=1, dtype=np.uint64) >> np.uint64(32)).astype(np.uint32))


def _nearly_similar(one: NDArray[np.uint32], other: NDArray[np.uint32]) -> bool:
    """Whether the exact share of common shingles may reach SIMILAR; a few of a hash do not decide."""
    shared = len(np.intersect1d(one, other, assume_unique=True))
    return shared / (len(one) + len(other) - shared) >= SIMILAR - 0.03


def _named(said: str, group: Sequence[Chunk]) -> dict[str, str]:
    """Cluster names of chunks of one identity. The first by text leads; who is like a leader follows the first such."""
    texts = sorted({_text(chunk) for chunk in group})
    leaders = _leaders(texts)
    sizes: dict[str, int] = {}
    for chunk in group:
        leader = leaders[_text(chunk)]
        sizes[leader] = sizes.get(leader, 0) + 1
    return {
        chunk.chunk_id: _hash(f"{said}\x1e{leader}")[:16]
        for chunk in group
        if sizes[leader := leaders[_text(chunk)]] > 1
    }


def _leaders(texts: Sequence[str]) -> dict[str, str]:
    if len(texts) == 1:
        return {texts[0]: texts[0]}
    shingles = [_shingles(text) for text in texts]
    index = RMinHashLSH(threshold=SIMILAR, num_perm=PERMUTATIONS, num_bands=BANDS)
    leaders: dict[str, str] = {}
    for place, text in enumerate(texts):
        sketch = RMinHash(num_perm=PERMUTATIONS, seed=SEED)
        sketch.update(sorted(shingles[place]))
        alike = next(
            (p for p in sorted(index.query(sketch)) if _shared(shingles[p], shingles[place]) >= SIMILAR), None
        )
        if alike is None:
            index.insert(place, sketch)
        leaders[text] = text if alike is None else texts[alike]
    return leaders


def _text(chunk: Chunk) -> str:
    """What is compared: what is searched of the chunk, folded, without white space."""
    return _SPACE.sub("", fold(f"{chunk.search_prefix}\n{chunk.text}"))


def _shingles(text: str) -> frozenset[str]:
    return frozenset(text[at : at + SHINGLE] for at in range(max(1, len(text) - SHINGLE + 1)))


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
