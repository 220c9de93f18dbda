"""What one Latin word with digits, separators or inner capitals designates: a model, an identifier, a label.

A *model* or an *identifier* names one thing and must match exactly. A *label* also looks like that, but the
same thing has other common names (GPT-4, UTF-8, MP3, Python3, COVID-19), so it is sought and not required.
"""

from __future__ import annotations

import re
from typing import Literal

WordKind = Literal["model", "identifier", "label"]

# Designations that name a general thing, in canonical form: people write them in words as well.
_GENERIC = frozenset(
    """
    2d 3d 4d 2k 4k 8k 2g 3g 4g 5g 6g 2fa a3 a4 a5 b2b b2c c2c o2o p2p h5 h264 h265 mp3 mp4 h2o co2 pm25 i18n l10n
    k8s k12 x86 x64 utf8 utf16 utf32 ipv4 ipv6 md5 base64 int8 int16 int32 int64 fp16 fp32 float32 float64 q1 q2 q3
    q4 h1 h2 covid19 html5 css3 es6 web3 b1 b2 vitaminb12 t1 t2 s1 s2 s3 ec2 oauth2 http2 http3 win10 win11
    """.split()
)
# Compounds made of words: a hyphen in English prose, not a name.
_PROSE = frozenset(
    """
    a about after all an and as at back based before by day do down driven end ever first for free friendly from
    full go half half hand high high-level how if in into it its known less level like long low made multi new non not of
    off on once one only open or out over own per point post pre pro quality rate real right run scale self semi
    set short side so state step style term the then three through time to top two type under up upon use user
    well while wide with year years old century world time
    """.split()
)
_BRANDS = frozenset("macOS tvOS watchOS iPadOS iOS".split())
_TOP_LEVEL_DOMAINS = frozenset("com org net io cn edu gov dev".split())
# Function words glued by a missing space after a full stop ("done.the") are not a dotted name.
_NOT_SEGMENTS = _PROSE | frozenset(
    "this that we you he she they is are was were but when also there these".split()
)

_LOWER_CAMEL = re.compile(r"[a-z]{2,}\d*(?:[A-Z][A-Za-z0-9]*)+")
_UPPER_CAMEL = re.compile(r"[A-Z][a-z]+(?:[A-Z]+[a-z0-9]+)+[A-Z]*")
_HUMP = re.compile(r"[A-Z][a-z0-9]+|[A-Z]+(?![a-z])")
_LETTERS = re.compile(r"[A-Za-z]+")
_YEAR = re.compile(r"(?:19|20)\d\d")
_ACRONYM = re.compile(r"(?:[A-Za-z]{1,2}\.)+[A-Za-z]{0,2}")


def canonical_word(word: str) -> str:
    """Lower case without hyphens and spaces: PPR-9087, ppr-9087, PPR9087 and PPR 9087 are all `ppr9087`."""
    return word.lower().replace("-", "").replace(" ", "")


def word_kind(word: str) -> WordKind | None:
    """The kind of a word of ASCII letters, digits and `_ . - :`, starting with a letter or underscore."""
    if canonical_word(word) in _GENERIC:
        return "label"
    if "_" in word.strip("_") or (word.startswith("__") and len(word) > 4) or "::" in word:
        return "identifier"
    if "." in word:
        return _dotted(word)
    if "-" in word:
        return _hyphenated(word)
    return _solid(word)


def _dotted(word: str) -> WordKind | None:
    segments = word.split(".")
    if _ACRONYM.fullmatch(word) or any(segment.lower() in _NOT_SEGMENTS for segment in segments):
        return None
    if segments[-1].lower() in _TOP_LEVEL_DOMAINS or segments[-1] == "js":
        return "label"
    if segments[-1].isdigit():
        # Python3.11, tidb6.5: a name with its version.
        return "label"
    if len(segments) >= 3:
        return "identifier"
    first, second = segments
    if min(len(first), len(second)) < 2 or (second[0].isupper() and _solid(second) is None):
        return None
    plain_lower = first[0].islower() and second[0].islower()
    return "identifier" if plain_lower or _solid(second) == "identifier" else None


def _hyphenated(word: str) -> WordKind | None:
    segments = word.split("-")
    if not any(char.isdigit() for char in word):
        named = len(segments) >= 3 and word.islower() and not any(part in _PROSE for part in segments)
        return "identifier" if named else None
    wordy = [part for part in segments if part.isalpha() and len(part) >= 4 and not part.isupper()]
    if wordy or (word.islower() and sum(part.isalpha() for part in segments) >= 2):
        return "identifier" if len(segments) >= 3 and word.islower() else "label"
    return _coded(word)


def _solid(word: str) -> WordKind | None:
    if any(char.isdigit() for char in word):
        if _LOWER_CAMEL.fullmatch(word) and len(_HUMP.findall(word)) >= 1 and word[:2].islower():
            return "identifier"
        return _coded(word)
    if word in _BRANDS:
        return "label"
    if _LOWER_CAMEL.fullmatch(word) and len(word) >= 5:
        return "identifier"
    if _UPPER_CAMEL.fullmatch(word):
        humps = len(_HUMP.findall(word))
        return "identifier" if humps >= 3 or word.endswith(("Exception", "Error")) else "label"
    return None


def _coded(word: str) -> WordKind:
    """Letters with digits. One digit after three or more letters is a product with its major version (GPT-4)."""
    runs = _LETTERS.findall(word)
    letters = sum(map(len, runs))
    digits = sum(char.isdigit() for char in word)
    if digits == 1:
        return "model" if letters <= 2 and word[0].isupper() else "label"
    if len(runs) >= 2:
        return "model"
    year = _YEAR.search(word) is not None and digits == 4
    if any(char.isupper() for char in word):
        capitalised_word = letters >= 4 and not runs[0].isupper()
        return "label" if capitalised_word or (year and letters >= 3) else "model"
    return "model" if letters <= 3 and digits >= (3 if letters > 1 else 2) and not year else "label"
