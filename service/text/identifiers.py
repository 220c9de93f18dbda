"""Exact names in text: model numbers, error codes, options, identifiers, versions, paths, regulation numbers.

Spans refer to the given text; matching is done on its width-folded form, which has the same offsets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from service.text.clauses import clauses
from service.text.designations import canonical_word, word_kind
from service.text.folding import fold_width
from service.text.numerals import numeral_value
from service.text.patterns import (
    CALL,
    DIGITS_FIRST,
    KEBAB_SETTING,
    PATTERNS,
    QUOTED_KEBAB,
    SPACED,
    WORD,
    IdentifierKind,
    Pattern,
)
from service.text.units import SPELLINGS, unit_of

# Names longer than this are generated strings (tokens, hashes, data URLs), which nobody asks for by hand.
LONGEST_NAME = 120

_UNIT_AFTER = re.compile(
    r"\s?(?:%|％|多|余|几|"
    + "|".join(
        re.escape(spelling)
        for spelling in sorted(SPELLINGS, key=len, reverse=True)
        if len(spelling) > 1 or spelling > "\x7f"
    )
    + r")(?![A-Za-z])"
)
_NAMING = re.compile("[A-Za-z0-9§第错]")
_DIGIT = re.compile("[0-9]")
_NOT_ALNUM = re.compile(r"[^a-z0-9.]+")
_DASHED_YEAR = re.compile(r" ?[-:—–] ?((?:19|20)\d{2})$")
_VOWEL = re.compile("[aeiouy]")
_YEAR = re.compile(r"(?:19|20)\d\d")

# Words in capitals that stand before a number without naming a model: SQL, headings, quantities.
_NOT_SERIES = frozenset(
    """
    LIMIT OFFSET INTERVAL SELECT VALUES WHERE AND OR NOT IN IS TOP NO TO BY AS AT OF ON THE FOR FROM WITH TABLE SET
    MAX MIN SUM AVG COUNT SIZE PAGE LINE STEP PART PORT TCP UDP HTTP HTTPS SSH ID PID CPU RAM GPU QPS TPS RPS IOPS SSD
    HDD SLA RTO RPO TTL GMT UTC AD BC BCE CE AM PM USD CNY RMB EUR GBP JPY HKD OK TAB FIG NOTE TODO STAR DIV KEY
    ROW ROWS COL UP ALL ANY ADD ERROR ERR WARN INFO DEBUG FATAL LEVEL PHASE STAGE TIER RANK NULL TRUE FALSE LTE AGE
    IBAN TEL FAX VAT ZIP ISBN ISSN DOI http tcp udp ssh rpc sql fps kbps vs px ms kb mb gb tb hz khz mhz ghz th st nd rd
    rpm qps tps ttl pp bps gbps mbps db dns pct cm mm km kg ml kw kv hp lb ft
    """.split()
)


@dataclass(frozen=True, slots=True)
class Identifier:
    """An exact name at [start, end). `canonical` is its index term; `variants` are weaker terms for it."""

    kind: IdentifierKind
    start: int
    end: int
    canonical: str
    variants: tuple[str, ...] = ()


def find_identifiers(text: str) -> list[Identifier]:
    """All exact names of `text` in order, never overlapping. Earlier rows of the pattern table win."""
    return identifiers_in(fold_width(text))


def identifiers_in(folded: str) -> list[Identifier]:
    """`find_identifiers` of text that is width-folded already."""
    taken = bytearray(len(folded))
    kept: list[Identifier] = []
    patterns = [
        pattern
        for pattern in PATTERNS
        if not pattern.needs or any(needed in folded for needed in pattern.needs)
    ]
    for start, end in clauses(folded):
        if not _NAMING.search(folded, start, end):
            continue
        for found in _candidates(folded, start, end, patterns):
            if not any(taken[found.start : found.end]):
                taken[found.start : found.end] = b"\x01" * (found.end - found.start)
                kept.append(found)
    return sorted(kept, key=lambda found: found.start)


def _candidates(text: str, start: int, end: int, patterns: Sequence[Pattern]) -> Iterator[Identifier]:
    digits = _DIGIT.search(text, start, end) is not None
    for pattern in patterns:
        if (pattern.digits and not digits) or not _possible(pattern, text, start, end):
            continue
        for match in pattern.regex.finditer(text, start, end):
            if match.end() - match.start() <= LONGEST_NAME:
                yield _from_pattern(pattern, match)
    if text.find("-", start, end) >= 0:
        for regex in (QUOTED_KEBAB, KEBAB_SETTING):
            for match in regex.finditer(text, start, end):
                yield Identifier("identifier", match.start(), match.end(), canonical_word(match.group()))
    yield from _words(text, start, end)
    for match in CALL.finditer(text, start, end) if text.find("()", start, end) >= 0 else ():
        yield Identifier("identifier", *match.span("name"), match.group("name").lower())
    if digits:
        yield from _digits_first(text, start, end)
        yield from _spaced(text, start, end)


def _possible(pattern: Pattern, text: str, start: int, end: int) -> bool:
    for needed in pattern.needs:
        if text.find(needed, start, end) >= 0:
            return True
    return not pattern.needs


def _from_pattern(pattern: Pattern, match: re.Match[str]) -> Identifier:
    groups = match.groupdict()
    start, end = match.span("name") if groups.get("name") else match.span()
    canonical, variants = _canonical(pattern, match.string[start:end], groups)
    return Identifier(pattern.kind, start, end, canonical, variants)


def _canonical(pattern: Pattern, name: str, groups: dict[str, str | None]) -> tuple[str, tuple[str, ...]]:
    """Index term and weaker terms of one match; `groups` are the pattern's named groups."""
    lower = name.lower()
    code = groups.get("code") or ""
    match pattern.kind, pattern.form:
        case "url", _:
            return lower.rstrip("/"), ()
        case "path", _:
            path = re.sub(r"\\+", r"\\", lower).removeprefix("./").rstrip("/\\") or lower
            last = re.split(r"[\\/]", path)[-1]
            return path, ((last,) if last != path and "." in last.strip(".") else ())
        case "option", "short":
            # -P and -p are different options of the same command.
            return name, ()
        case "option", "jvm":
            option = lower.lstrip("-")
            bare = option.removesuffix((groups.get("value") or "").lower()).removeprefix("xx:").lstrip("+-")
            return option, ((bare,) if bare != option else ())
        case "option", _:
            return canonical_word(lower.lstrip("-")), ()
        case "regulation", "standard":
            dated = _DASHED_YEAR.search(lower)
            number = _NOT_ALNUM.sub("", lower[: dated.start()] if dated else lower)
            return (number + dated.group(1), (number,)) if dated else (number, ())
        case "regulation", "article":
            sub = groups.get("sub")
            return f"第{_ordinal(code)}条" + (f"之{_ordinal(sub)}" if sub else ""), ()
        case "regulation" | "section", "paragraph":
            return f"§{code}", ()
        case "section", "chapter":
            return f"第{_ordinal(code)}{groups.get('level') or '章'}", ()
        case "regulation", "document":
            return re.sub(r"[〔【(]", "[", re.sub(r"[〕】)]", "]", lower)).replace(" ", "").replace(
                "]第", "]"
            ), ()
        case "error", "sqlstate":
            return f"sqlstate{code.lower()}", (code.lower(),)
        case "error", "number":
            return f"error{code}", ((code,) if len(code) >= 3 else ())
        case "version", _:
            number = lower.removeprefix("v")
            return (number if "." in number else f"v{number}"), ()
    return canonical_word(lower), ()


def _ordinal(written: str) -> str:
    if written.isdecimal():
        return str(int(written))
    value = numeral_value(written)
    return written.lower() if value is None else str(value)


def _words(text: str, start: int, end: int) -> Iterator[Identifier]:
    for match in WORD.finditer(text, start, end):
        word = match.group().rstrip("_" if not match.group().startswith("__") else "")
        if len(word) > LONGEST_NAME:
            continue
        yield from _word(word, match.start())


def _word(word: str, start: int) -> Iterator[Identifier]:
    """The designation at `start`; of words glued by a full stop ("X200.The"), those of the parts."""
    bare = word.lstrip("@")
    kind = word_kind(bare)
    if kind is not None:
        yield Identifier(kind, start, start + len(word), canonical_word(bare), _tails(bare, kind))
    elif "." in bare:
        offset = start + len(word) - len(bare)
        for part in bare.split("."):
            if len(part) > 1 and part[0].isalpha():
                yield from _word(part, offset)
            offset += len(part) + 1


def _tails(word: str, kind: str) -> tuple[str, ...]:
    """A qualified name is also known by its last segments, where those are compound names themselves."""
    if kind != "identifier" or ("." not in word and "::" not in word):
        return ()
    segments = re.split(r"\.|::", word)
    tails = (".".join(segments[first:]) for first in range(1, len(segments)))
    return tuple(canonical_word(tail) for tail in tails if re.search(r"[_-]|[a-z][A-Z]", tail.split(".")[-1]))


def _digits_first(text: str, start: int, end: int) -> Iterator[Identifier]:
    for match in DIGITS_FIRST.finditer(text, start, end):
        word = match.group()
        suffix = word.lstrip("0123456789")
        digits = len(word) - len(suffix)
        mixed = any(char.isdigit() for char in suffix)
        if mixed or (
            digits >= 3
            and len(suffix) <= 2
            and unit_of(suffix) is None
            and suffix not in ("K", "M", "G", "T")
        ):
            yield Identifier("model", match.start(), match.end(), canonical_word(word))


def _spaced(text: str, start: int, end: int) -> Iterator[Identifier]:
    """ "PPR 9087" is PPR-9087. In lower case only with letters that cannot be a word (no vowel) and three digits.

    Not a model: words that announce a number (LIMIT 10), a number with a unit after it (CPU 16 核), a year.
    """
    for match in SPACED.finditer(text, start, end):
        letters, digits = match.group("letters"), match.group("digits")
        if letters in _NOT_SERIES or _YEAR.fullmatch(digits) or unit_of(letters) is not None:
            continue
        if letters.islower() and (len(digits) < 3 or _VOWEL.search(letters)):
            continue
        if _UNIT_AFTER.match(text, match.end()):
            continue
        yield Identifier("model", match.start(), match.end(), canonical_word(match.group()))
