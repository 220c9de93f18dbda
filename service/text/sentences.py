"""Sentences as spans: what a citation may quote whole.

sentencex (Wikimedia) does the splitting. It is given one block and one language at a time and never sees list
markers: numbering makes it return several sentences unsplit, and Chinese rules end a sentence at "Dr.".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sentencex import get_sentence_boundaries

from service.text.language import language

LONGEST_SENTENCE = 400
# Above this a Chinese semicolon ends a sentence; shorter ones are one statement in parts.
LONG_FOR_SEMICOLON = 160

# A line no shorter than this, in display columns, was wrapped by an editor and goes on in the next one.
_WRAPPED_COLUMNS = 50

_MARKER = re.compile(
    r"\s*(?:[>*+\-•·●○▪◦–—]\s+|#{1,6}\s+|\d{1,3}(?:\.\d{1,3})*[.、)）]\s*(?!\d)|\d{1,3}(?:\.\d{1,3})+\s+"
    r"|[(（](?:\d{1,3}|[a-zA-Z]|[一二三四五六七八九十]{1,3})[)）]\s*|[a-zA-Z][)）.]\s+|[a-zA-Z][)）](?=[\u4e00-\u9fff])"
    r"|[一二三四五六七八九十]{1,3}[、.)）]\s*|[①-⑳]\s*)+"
)
_TABLE_LINE = re.compile(r"\s*\|.*|.*\S\s*\|\s*\S.*\|.*|.*\t.*\t.*")
_FENCE_OR_RULE = re.compile(r"\s*(?:```|~~~|[-=*_]{3,}\s*$)")
_ENDS_STATEMENT = re.compile(r"[。！？!?.…:：;；][\"'”’」』）)\]】》]*\s*$")
_SURROGATE = re.compile("[\ud800-\udfff]")
_WIDE_CHARACTER = re.compile("[\u2e80-\uffef\U00020000-\U0003ffff]")

_OPENERS = "“‘「『（(【《[〈"
_CLOSERS = "”’」』）)】》]〉"
_ENDERS = "。！？!?…"
_ENUMERATOR_ONLY = re.compile(
    r"[\s(（]*(?:\d{1,3}(?:\.\d{1,3})*|[a-zA-Z]|[一二三四五六七八九十]{1,3})[.、)）:：]?\s*"
)
_BREAKS = (re.compile("[；;]"), re.compile("[，,、：:]"), re.compile(r"\s"))
_PIECE = 20_000  # code points given to sentencex at once
_PIECE_END = re.compile(r"[。！？]|[.!?](?= )|\n")


def sentences(text: str) -> list[tuple[int, int]]:
    """[start, end) of each sentence in order, never overlapping, without white space at the ends.

    Every character that is not white space is in exactly one of them. Lines of lists, tables and headings end
    a sentence; lines wrapped within a paragraph do not. None is longer than 400 characters.
    """
    spans = (
        piece
        for start, end in _blocks(text)
        for sentence in _block_sentences(text, start, end)
        for piece in _bounded(text, *sentence)
    )
    return [trimmed for span in spans if (trimmed := _trim(text, *span)) is not None]


def _trim(text: str, start: int, end: int) -> tuple[int, int] | None:
    piece = text[start:end]
    solid = piece.strip()
    if not solid:
        return None
    first = start + len(piece) - len(piece.lstrip())
    return first, first + len(solid)


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Stretches within which a line end is only white space."""
    start = position = 0
    previous = ""
    for line in text.splitlines(keepends=True):
        if previous and not _continues(previous, line):
            yield start, position
            start = position
        position += len(line)
        previous = line
    if position > start:
        yield start, position


def _continues(line: str, following: str) -> bool:
    """Whether the sentence of `line` runs on in the line after it."""
    if not line.strip() or not following.strip() or _ENDS_STATEMENT.search(line):
        return False
    for part in (line, following):
        if _TABLE_LINE.match(part) or _FENCE_OR_RULE.match(part):
            return False
    if _MARKER.match(following):
        return False
    columns = len(line.strip()) + len(_WIDE_CHARACTER.findall(line))
    return columns >= _WRAPPED_COLUMNS


def _block_sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Sentences of one block; its marker, and enumerators that came out alone, stay with what follows."""
    block = text[start:end]
    marker = _MARKER.match(block)
    body = marker.end() if marker and block[marker.end() :].strip() else 0
    pending = start
    for first, last in _split(block[body:]):
        if _ENUMERATOR_ONLY.fullmatch(block[body + first : body + last]) and body + last < len(
            block.rstrip()
        ):
            continue
        yield pending, start + body + last
        pending = start + body + last
    if pending < end:
        yield pending, end


def _split(body: str) -> Iterator[tuple[int, int]]:
    """sentencex on the block, and what it left unsplit split again at full stops outside quotes."""
    spelled = _SURROGATE.sub("\ufffd", body)
    position = 0
    for last in _boundaries(spelled):
        while last < len(spelled) and spelled[last] in _ENDERS + _CLOSERS:
            last += 1
        for cut in _inner_stops(spelled, position, last):
            yield position, cut
            position = cut
        if last > position:
            yield position, last
            position = last
    if position < len(body):
        yield position, len(body)


def _boundaries(text: str) -> Iterator[int]:
    """Where sentencex sees a sentence end. Its time grows with the square of a text's length, so a very long one is
    given to it in pieces, each up to a full stop, a line end or a space."""
    spoken = "zh" if language(text) == "zh" else "en"
    start = 0
    while start < len(text):
        end = min(len(text), start + _PIECE)
        if end < len(text):
            stops = [m.end() for m in _PIECE_END.finditer(text, start + _PIECE // 2, end)]
            end = stops[-1] if stops else max(text.rfind(" ", start + _PIECE // 2, end) + 1, 0) or end
        for boundary in get_sentence_boundaries(spoken, text[start:end]):
            yield start + int(boundary["end_index"])
        start = end


def _inner_stops(text: str, start: int, end: int) -> Iterator[int]:
    """Ends of sentences inside [start, end): after 。！？ and their closing quotes, not within open ones."""
    depth = 0
    index = start
    while index < end:
        char = text[index]
        if char in _OPENERS:
            depth += 1
        elif char in _CLOSERS:
            depth = max(0, depth - 1)
        elif char in "。！？" and depth == 0:
            while index + 1 < end and text[index + 1] in _ENDERS + _CLOSERS:
                index += 1
            if text[index + 1 : end].strip():
                yield index + 1
        index += 1


def _bounded(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A long sentence cut at semicolons, a longer one at commas, spaces, or in the last resort anywhere."""
    if end - start <= LONG_FOR_SEMICOLON:
        yield start, end
        return
    position = start
    for match in re.finditer("；", text[start:end]):
        cut = start + match.end()
        if text[cut:end].strip():
            yield from _within_limit(text, position, cut)
            position = cut
    yield from _within_limit(text, position, end)


def _within_limit(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > LONGEST_SENTENCE:
        cut = _last_break(text, start, start + LONGEST_SENTENCE)
        yield start, cut
        start = cut
    if end > start:
        yield start, end


def _last_break(text: str, start: int, limit: int) -> int:
    """The last good place to cut in the second half of [start, limit)."""
    middle = start + (limit - start) // 2
    for marks in _BREAKS:
        found = [match.end() for match in marks.finditer(text, middle, limit)]
        if found:
            return found[-1]
    return limit
