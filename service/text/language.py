"""The language of a piece of text, told by its scripts. Enough to choose rules; not a language identifier."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Literal

Language = Literal["zh", "en", "other"]

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff〇"
KANA = "\u3041-\u30ff\uff66-\uff9d"
HANGUL = "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"

_HAN = re.compile(f"[{HAN}]")
_KANA = re.compile(f"[{KANA}]")
_HANGUL = re.compile(f"[{HANGUL}]")
_LATIN = re.compile("[A-Za-z\u00c0-\u024f\uff21-\uff3a\uff41-\uff5a]")
_LATIN_WORD = re.compile(f"(?<!{_LATIN.pattern}){_LATIN.pattern}")  # the first letter of each
_LETTER = re.compile(r"[^\W\d_]")
_COUNTED = {
    "letter": _LETTER,
    "han": _HAN,
    "latin": _LATIN,
    "kana": _KANA,
    "hangul": _HANGUL,
    "latin word": _LATIN_WORD,
}
_WINDOW = 1 << 16  # characters
_NOT_SAID = re.compile(r"\]\([^)\n]*\)|[a-z]+://\S+|`[^`\n]*`")

# A Chinese word is about 1.6 characters in running text; words are compared with words.
_HAN_PER_WORD = 1.6
# Chinese technical prose is full of English names, so Chinese needs only this share of the words.
_ZH_WORD_SHARE = 0.25
# Japanese prose is about half kana; a tenth is more than names in Chinese text ever reach.
_KANA_SHARE = 0.1


def script_share(text: str) -> dict[str, float]:
    """Share of the letters of `text` in each script: han, latin, kana, hangul, other. All 0.0 without letters."""
    return _shares(_counted([text]))


def language(text: str) -> Language:
    """'zh' where Chinese words make up at least a quarter of the Chinese and Latin words, else 'en'.

    'other' without letters, and where kana, Hangul or another script outweighs both.
    """
    return language_of([text])


def language_of(texts: Iterable[str]) -> Language:
    """`language` of texts that no word runs across, as if they were one; they are not held at once."""
    counts = _counted(texts)
    share = _shares(counts)
    if share["kana"] > _KANA_SHARE * (share["han"] + share["kana"]):
        return "other"
    if share["han"] + share["latin"] <= share["hangul"] + share["other"]:
        return "other"
    han = counts["han"] / _HAN_PER_WORD
    return "zh" if han >= _ZH_WORD_SHARE * (han + counts["latin word"]) else "en"


def _shares(counts: Counter[str]) -> dict[str, float]:
    found = {script: counts[script] for script in ("han", "latin", "kana", "hangul")}
    total = max(counts["letter"], sum(found.values()))
    if total == 0:
        return dict.fromkeys((*found, "other"), 0.0)
    found["other"] = total - sum(found.values())
    return {script: count / total for script, count in found.items()}


def _counted(texts: Iterable[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for text in texts:
        # By windows: a match of every letter of a long text takes twenty times its memory.
        for start in range(0, len(text), _WINDOW):
            for name, pattern in _COUNTED.items():
                counts[name] += len(pattern.findall(text, start, start + _WINDOW))
    return counts


def prose_words(text: str) -> int:
    """Chinese and Latin words that are said, not those of addresses, link targets and code spans."""
    return round(sum(_words(_NOT_SAID.sub(" ", text))))


def _words(text: str) -> tuple[float, int]:
    return len(_HAN.findall(text)) / _HAN_PER_WORD, len(_LATIN_WORD.findall(text))
