"""Pairs of a question and a part of a passage, as a cross-encoder reads them: in service, and when one is trained."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from tokenizers import Encoding, Tokenizer

from service.onnx.windows import Span, plan

_HEAD = 0.5  # most of a window that title and headings may take; the text itself is what is judged


@dataclass(frozen=True, slots=True)
class Passage:
    """`head` (title, headings, a table's header) is read with every window of `text`."""

    head: str
    text: str


@dataclass(frozen=True, slots=True)
class Pairs:
    """The pairs of one passage, and the span of its text that each reads. `complete`: none of it is left out."""

    encodings: tuple[Encoding, ...]
    spans: tuple[Span, ...]
    complete: bool


@dataclass(frozen=True, slots=True)
class Pairing:
    """Cuts passages into windows that fit. Limits in tokens: `max_tokens` of a pair, `window_tokens` of head and text;
    at most `windows` of a passage."""

    tokenizer: Tokenizer
    max_tokens: int
    window_tokens: int
    windows: int

    def question(self, query: str) -> tuple[str, bool]:
        """The question, cut only when it takes more than half of the model's room, and whether it was."""
        encoded = self.tokenizer.encode(query, add_special_tokens=False)
        room = self.max_tokens // 2
        if len(encoded.ids) <= room:
            return query, False
        return query[: encoded.offsets[room - 1][1]], True

    def pairs(self, question: str, passage: Passage, terms: Collection[str]) -> Pairs:
        """`question` as `question()` gave it; its analysed `terms` choose among the windows of a long passage."""
        taken = len(self.tokenizer.encode(question, "").ids)
        room = min(self.window_tokens, self.max_tokens - taken)
        head, complete = self._head(passage.head, int(room * _HEAD))
        left = room - self._length(f"{head}\n" if head else "")
        offsets = self.tokenizer.encode(passage.text, add_special_tokens=False).offsets
        planned = plan(passage.text, offsets, left, self.windows, terms)
        encodings, spans = [], []
        for span in planned.spans or ((0, len(passage.text)),):
            pair, end = self._fitted(question, head, passage.text, span, taken + room)
            complete = complete and end == span[1]
            encodings.append(pair)
            spans.append((span[0], end))
        return Pairs(tuple(encodings), tuple(spans), complete and planned.complete)

    def _head(self, head: str, room: int) -> tuple[str, bool]:
        offsets = self.tokenizer.encode(head, add_special_tokens=False).offsets
        if len(offsets) <= room:
            return head, True
        return head[: offsets[room - 1][1]], False

    def _fitted(self, question: str, head: str, text: str, span: Span, limit: int) -> tuple[Encoding, int]:
        """The pair of one window, and where its text ends. A window's text may tokenize to a few tokens more than it
        was cut from, since what stood around it decided too; then it ends earlier."""
        start, end = span
        while True:
            pair = self.tokenizer.encode(question, read_as(head, text[start:end]))
            if len(pair.ids) <= limit or end - start <= 1:
                return pair, end
            end = max(start + 1, end - (len(pair.ids) - limit))

    def _length(self, text: str) -> int:
        return len(self.tokenizer.encode(text, add_special_tokens=False).ids)


def read_as(head: str, text: str) -> str:
    """A window as one text."""
    return f"{head}\n{text}" if head else text
