"""Numbers as Word writes them in front of list items and headings: 1, iv, b, 十二, 贰, 甲, ③."""

from __future__ import annotations

_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"),
          (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_HAN, _LEGAL = "〇一二三四五六七八九", "零壹贰叁肆伍陆柒捌玖"
_HAN_UNITS, _LEGAL_UNITS = ("", "十", "百", "千"), ("", "拾", "佰", "仟")
_STEMS, _BRANCHES = "甲乙丙丁戊己庚辛壬癸", "子丑寅卯辰巳午未申酉戌亥"
_HIGHEST = 9999  # beyond that every form falls back to digits


def counted(number: int, form: str) -> str:
    """`form` is a numFmt of WordprocessingML; one that is not known here counts in digits."""
    if form == "none":
        return ""
    if form == "decimalZero":
        return f"{number:02d}"
    if form == "decimalFullWidth":
        return "".join(chr(ord(digit) + 0xFEE0) for digit in str(number))
    if not 0 < number <= _HIGHEST:
        return str(number)
    if form in ("lowerRoman", "upperRoman"):
        roman = _roman(number)
        return roman.upper() if form == "upperRoman" else roman
    if form in ("lowerLetter", "upperLetter"):
        # After z come aa, bb, cc.
        letter = chr(ord("a") + (number - 1) % 26) * min((number - 1) // 26 + 1, 30)
        return letter.upper() if form == "upperLetter" else letter
    if form == "ordinal":
        return str(number) + _ordinal(number)
    if form in ("ideographDigital", "japaneseDigitalTenThousand", "taiwaneseDigital", "koreanDigital"):
        return "".join(_HAN[int(digit)] for digit in str(number))
    if form in _COUNTING:
        return _han(number, _HAN, _HAN_UNITS)
    if form in ("chineseLegalSimplified", "ideographLegalTraditional"):
        return _han(number, _LEGAL, _LEGAL_UNITS)
    return _enclosed(number, form) or _cycled(number, form) or str(number)


_COUNTING = {
    "chineseCounting", "chineseCountingThousand", "taiwaneseCounting", "taiwaneseCountingThousand", "japaneseCounting",
}  # fmt: skip


def _roman(number: int) -> str:
    text = ""
    for value, letters in _ROMAN:
        text += letters * (number // value)
        number %= value
    return text


def _ordinal(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def _han(number: int, digits: str, units: tuple[str, ...]) -> str:
    zero = "零"
    text, pending = "", False
    for place, digit in enumerate(str(number)):
        power = len(str(number)) - 1 - place
        if digit == "0":
            pending = bool(text)
            continue
        text += (zero if pending else "") + digits[int(digit)] + units[power]
        pending = False
    # Ten to nineteen are told without the one in front.
    return text[1:] if 10 <= number < 20 and units is _HAN_UNITS else text


def _enclosed(number: int, form: str) -> str:
    if number > 20:
        return ""
    first = {"decimalEnclosedCircle": "①", "decimalEnclosedCircleChinese": "①", "decimalEnclosedParen": "⑴",
             "decimalEnclosedFullstop": "⒈"}  # fmt: skip
    if form == "ideographEnclosedCircle" and number <= 10:
        return chr(ord("㊀") + number - 1)
    return chr(ord(first[form]) + number - 1) if form in first else ""


def _cycled(number: int, form: str) -> str:
    cycle = {"ideographTraditional": _STEMS, "ideographZodiac": _BRANCHES}.get(form)
    return cycle[(number - 1) % len(cycle)] if cycle else ""
