"""Index and query terms: the same words for the same meaning on every engine, whatever its own analysers do.

A term holds no white space, so terms go into whitespace-analysed fields. Any change of what `analyse` returns, or of
what is analysed of a chunk (offline/generations/indexing.py), needs a new ANALYZER_VERSION: it is part of
corpusVersion, and old generations keep the terms they have.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import rjieba

from service.text.anchors import Anchor, anchor_terms, find_anchors, is_hard
from service.text.folding import fold, fold_width
from service.text.language import HAN, HANGUL, KANA, language
from service.text.stopwords import STOP_WORDS, ZH_FUNCTION, ZH_QUESTION

ANALYZER_VERSION = "attest-3"

LONGEST_TERM = 200

_CJK = f"{HAN}{KANA}{HANGUL}"
_CJK_RUN = re.compile(f"[{_CJK}]+")
# A run of CJK, a number (thousands and decimals inside), or a word of any other script.
_PIECE = re.compile(
    rf"(?P<cjk>[{_CJK}]+)|(?P<number>[0-9]+(?:[.,][0-9]+)*)(?![^\W_{_CJK}])|(?P<word>[^\W_{_CJK}]+(?:'[a-z]+)?)"
)
_THOUSANDS = re.compile(r",(?=[0-9]{3}(?:[,.]|$))")
_SURROGATE = re.compile("[\ud800-\udfff]")
_CODE = re.compile(r"`[^`\n]+`")
_NAME_MARKS = re.compile(r"[0-9][^\W0-9_]|[^\W0-9_][0-9]|[_./\\:§%]|^-")

ANCHOR_WEIGHT = 3.0
NUMBER_WEIGHT = 1.5


def analyse(text: str) -> list[str]:
    """Index terms of `text` in order, repeats included; none has white space, none exceeds 200 characters.

    Chinese gives the segmenter's words and the bigrams of each run of Han; Latin words are lower-cased and
    lose their plural; an anchor gives its canonical term and variants, and then the terms of its parts.
    """
    return list(_terms(text, find_anchors(text)))


def content_terms(text: str) -> list[str]:
    """What a question is about: its terms, each once, without function and question words; maybe none.

    A name that must match exactly gives only itself, not its parts: the shared letters of PPR-9999 say nothing.
    A function word that is written as a name is one: IF(), `in`, FOR in 支持 SELECT FOR UPDATE 吗.
    """
    return list(dict.fromkeys(_query_terms(text, find_anchors(text))))


def query_terms(text: str) -> list[str]:
    """What to look for: the content terms, or all terms of a question that has none."""
    return content_terms(text) or list(dict.fromkeys(analyse(text)))


def term_weight(term: str) -> float:
    """How specific a term is, from its form alone (no index statistics, which hidden documents would move).

    Names 3.0; numbers 1.5; CJK 0.4, 1.0, 1.6, 2.0 for 1, 2, 3 and more characters; Latin words 0.6 to 2.0 by length.
    """
    if term.replace(".", "").isdecimal():
        return NUMBER_WEIGHT
    if _NAME_MARKS.search(term):
        return ANCHOR_WEIGHT
    if _CJK_RUN.match(term):
        return (0.4, 1.0, 1.6, 2.0)[min(len(term), 4) - 1]
    return min(2.0, 0.4 + 0.15 * len(term))


def coverage(question_terms: Iterable[str], passage_terms: Iterable[str]) -> float:
    """Weighted share, 0 to 1, of the question's distinct terms that the passage holds; 0 without terms."""
    wanted = dict.fromkeys(question_terms)
    total = sum(map(term_weight, wanted))
    if total == 0:
        return 0.0
    held = set(passage_terms)
    return sum(term_weight(term) for term in wanted if term in held) / total


def stem(word: str) -> str:
    """The S-stemmer: plural endings only, so that it never joins words of different meaning.

    Harman, "How effective is suffixing?", JASIS 42(1), 1991, table 1. Words of three letters or fewer stay.
    """
    if len(word) <= 3 or not word.endswith("s"):
        return word
    if word.endswith("ies") and not word.endswith(("eies", "aies")):
        return word[:-3] + "y"
    if word.endswith("es") and not word.endswith(("aes", "ees", "oes")):
        return word[:-1]
    if not word.endswith(("us", "ss")):
        return word[:-1]
    return word


def _terms(text: str, anchors: list[Anchor]) -> Iterator[str]:
    folded = _SURROGATE.sub(" ", fold(text))
    position = 0
    for anchor in anchors:
        yield from _plain_terms(folded[position : anchor.start])
        yield from _short(anchor_terms(anchor))
        parts = list(_plain_terms(folded[anchor.start : anchor.end]))
        yield from (part for part in parts if part not in anchor_terms(anchor))
        position = anchor.end
    yield from _plain_terms(folded[position:])


def _plain_terms(folded: str) -> Iterator[str]:
    for piece in _PIECE.finditer(folded):
        if piece.lastgroup == "cjk":
            yield from _cjk_terms(piece.group())
        else:
            yield from _short((_plain(piece),))


def _plain(piece: re.Match[str]) -> str:
    if piece.lastgroup == "number":
        number = _THOUSANDS.sub("", piece.group())
        return number.rstrip("0").rstrip(".") if number.count(".") == 1 else number
    return stem(piece.group().removesuffix("'s").replace("'", ""))


def _cjk_terms(run: str) -> Iterator[str]:
    """Words and bigrams of one run. A word of two characters is a bigram already; a lone one must carry meaning."""
    if len(run) == 1:
        yield run
        return
    for word in rjieba.cut(run):
        if len(word) > 2 or (len(word) == 1 and word not in STOP_WORDS):
            yield word[:LONGEST_TERM]
    for index in range(len(run) - 1):
        yield run[index : index + 2]


def _query_terms(text: str, anchors: list[Anchor]) -> Iterator[str]:
    folded = _SURROGATE.sub(" ", fold(text))
    names = _names(text, folded)
    position = 0
    for anchor in anchors:
        yield from _content_terms(folded, position, anchor.start, names)
        yield from _short(anchor_terms(anchor)[:1])
        if not is_hard(anchor):
            yield from _content_terms(folded, anchor.start, anchor.end, names)
        position = anchor.end
    yield from _content_terms(folded, position, len(folded), names)


def _content_terms(folded: str, start: int, end: int, names: frozenset[int]) -> Iterator[str]:
    for piece in _PIECE.finditer(folded, start, end):
        if piece.lastgroup == "cjk":
            yield from _cjk_content(piece.group())
        elif piece.group() not in STOP_WORDS or piece.start() in names:
            yield from _short((_plain(piece),))


def _names(text: str, folded: str) -> frozenset[int]:
    """Where Latin words begin that are written as names: called, in code, or in capitals among Chinese (in English
    they may be emphasis, and texts say United States for US)."""
    written = fold_width(text)
    code = [found.span() for found in _CODE.finditer(written)]
    chinese = language(text) == "zh"
    return frozenset(
        piece.start()
        for piece in _PIECE.finditer(folded)
        if piece.lastgroup == "word"
        and (
            written.startswith("()", piece.end())
            or (chinese and len(piece.group()) > 1 and written[piece.start() : piece.end()].isupper())
            or any(start < piece.start() < end for start, end in code)
        )
    )


def _cjk_content(run: str) -> Iterator[str]:
    """Terms of the stretches between stop words: a bigram across 多少 would be looked for and never found."""
    stretch = ""
    words = rjieba.cut(run)
    for word in (*words, ""):
        if word and word not in ZH_FUNCTION and word not in ZH_QUESTION:
            stretch += word
            continue
        if stretch and (len(stretch) > 1 or stretch in words):
            yield from _cjk_terms(stretch)
        stretch = ""


def _short(terms: Iterable[str]) -> Iterator[str]:
    """Terms without white space and of bounded length; a longer one keeps its beginning."""
    for term in terms:
        solid = "".join(term.split())[:LONGEST_TERM]
        if solid:
            yield solid
