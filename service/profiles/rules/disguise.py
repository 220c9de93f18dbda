"""Takes a request's disguise off: what a reader would read in it, for the rules to match.

Takes: folded text. Returns: text for matching only. Offsets are not kept, and nothing is searched with it.
Called by: `profiles/rules/__init__.py`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

# Letters drawn like Latin ones (Cyrillic, Greek), and the other apostrophes.
_LOOKALIKES = str.maketrans("аеіорсухјѕԁһαοι’ʼ`´", "aeiopcyxjsdhaoi''''")

# Not drawn, or drawn over a letter: zero-width and directional marks, soft hyphens, accents, variation selectors.
_UNSEEN = {"Cf", "Mn", "Me"}

_HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_BETWEEN = "[ .*_|/\u00b7~-]"
_SPACED_LETTERS = re.compile(rf"(?<![a-z])[a-z](?:{_BETWEEN}[a-z]){{2,}}(?![a-z])")
# Only where a character stands alone: spaces between Chinese words are left.
_SPACED_HAN = re.compile(
    rf"(?<=[{_HAN}])(?<![{_HAN}]{{2}}){_BETWEEN}(?=[{_HAN}])|(?<=[{_HAN}]){_BETWEEN}(?=[{_HAN}](?![{_HAN}]))"
)
_SCRIPT_CHANGE = re.compile(rf"(?<=[{_HAN}])(?=[a-z])|(?<=[a-z])(?=[{_HAN}])")
_SENTENCE_END = re.compile(r"(?<=[!?。])|(?<=\.)(?=\s)")
_WHITE = re.compile(r"\s+")


def undisguised(folded: str, words: re.Pattern[str] | None = None) -> str:
    """Without what cannot be seen, look-alikes as what they look like, spaced-out words joined.

    A space stands between Chinese and Latin, so that a word ends where its script does. Where the gaps between words
    are no wider than those in them, the run is parted again into `words`.
    """
    text = folded
    if not text.isascii():
        decomposed = unicodedata.normalize("NFKD", text)
        text = "".join(c for c in decomposed if unicodedata.category(c) not in _UNSEEN).lower()
        text = _SPACED_HAN.sub("", text.translate(_LOOKALIKES))
        text = _SCRIPT_CHANGE.sub(" ", text)
    return _SPACED_LETTERS.sub(lambda run: _parted(run.group()[::2], words), text)


def _parted(letters: str, words: re.Pattern[str] | None) -> str:
    if words is None or words.fullmatch(letters):
        return letters
    return _WHITE.sub(" ", words.sub(r" \g<0> ", letters)).strip()


def sentences(text: str) -> Iterator[str]:
    """Sentence by sentence, so that what excuses one does not excuse the next. White space is one space or one
    line break: a new line may begin a demand, and may stand in the middle of one."""
    for part in _SENTENCE_END.split(text):
        sentence = _WHITE.sub(lambda white: "\n" if "\n" in white.group() else " ", part.strip())
        if sentence:
            yield sentence
