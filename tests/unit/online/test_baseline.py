"""The baseline of a cosine: by languages, and the stricter one where hardly anything is said."""

from __future__ import annotations

import pytest

from service.profiles.ranking import Cosine
from service.text.language import prose_words

COSINE = Cosine(
    prose_words=8, baseline={"zh>zh": 0.86, "zh>en": 0.78, "en>zh": 0.76, "en>en": 0.82, "other": 0.8}
)


@pytest.mark.parametrize(
    ("question", "document", "words", "baseline"),
    [
        ("zh", "zh", 100, 0.86),
        ("zh", "en", 8, 0.78),
        ("zh", "en", 7, 0.86),
        ("en", "zh", 0, 0.82),
        ("zh", "zh", 0, 0.86),
        ("en", "fr", 100, 0.8),
        ("en", "fr", 0, 0.82),
        ("fr", "en", 0, 0.8),
    ],
)
def test_fragments_in_another_language_get_the_stricter_baseline(
    question: str, document: str, words: int, baseline: float
) -> None:
    assert COSINE.baseline_for(question, document, words) == baseline


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("Since 3.0.5.", 1),
        ("The account is locked for 15 minutes.", 6),
        ("[`jfr` online tutorial](https://example.org/a/very/long/path?x=1)", 2),
        ("see https://example.org/one/two/three now", 2),
        ("`some code is not said` but this is", 3),
        ("![insert fast example](/media/ttl/insert-fast.png)", 3),
        ("第三次仍失败时消息进入隔离队列", 9),
        ("| 8192 | 64 |", 0),
    ],
)
def test_words_of_prose(text: str, words: int) -> None:
    assert prose_words(text) == words
