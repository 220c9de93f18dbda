"""A cell's number as its number format shows it: 12%, 1,200.00, ¥5. Dates are told in ISO form, as exactly as the
format tells them. What a format says that is not understood here (fractions, numerals in words) is passed over."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from functools import lru_cache

BUILT_IN = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00",
    14: "yyyy/m/d", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm", 19: "h:mm:ss", 20: "h:mm", 21: "h:mm:ss",
    22: "yyyy/m/d h:mm", 37: "#,##0;(#,##0)", 38: "#,##0;(#,##0)", 39: "#,##0.00;(#,##0.00)",
    40: "#,##0.00;(#,##0.00)", 41: '#,##0;-#,##0;"-"', 42: '#,##0;-#,##0;"-"', 43: '#,##0.00;-#,##0.00;"-"',
    44: '#,##0.00;-#,##0.00;"-"', 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0",
    # Of East Asian releases: dates with 年月日, times with 时分.
    27: "yyyy年m月", 28: "m月d日", 29: "m月d日", 30: "m-d-yy", 31: "yyyy年m月d日", 32: "h时mm分", 33: "h时mm分ss秒",
    34: "h时mm分", 35: "h时mm分ss秒", 36: "yyyy年m月", 50: "yyyy年m月", 51: "m月d日", 52: "yyyy年m月", 53: "m月d日",
    54: "m月d日", 55: "h时mm分", 56: "h时mm分ss秒", 57: "yyyy年m月", 58: "m月d日",
}  # fmt: skip
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|[\\!](?P<escaped>.)|_.|\*.|\[\$(?P<currency>[^\]\-]*)[^\]]*\]'
    r"|\[(?P<condition>[<>=]+-?[\d.]+)\]|\[(?P<elapsed>[hms]+)\]|\[(?P<bracket>[^\]]*)\]"
    r"|(?P<general>General|G/通用格式)|(?P<ampm>AM/PM|A/P|上午/下午)|(?P<exponent>E[+\-])|(?P<date>[ymdhsg]+)"
    r"|(?P<digit>[0#?])|(?P<other>.)",
    re.I | re.S,
)
_CONDITION = re.compile(r"([<>=]+)(-?[\d.]+)")
_LAST_DAY = 2_958_465  # 9999-12-31


@dataclass(frozen=True, slots=True)
class _Section:
    """One of a format's parts. `tokens` are (kind, text): digit, point, comma, percent, exponent, general, literal."""

    tokens: tuple[tuple[str, str], ...]
    condition: tuple[str, Decimal] | None
    date: str  # the letters of a date or time format, "" for numbers; "e" where time runs past a day
    odd: bool  # holds what is not understood


def general(number: float) -> str:
    """As in a cell without a format, with the fifteen digits a spreadsheet keeps; no ".0"."""
    if abs(number) < 1e15 and number == int(number):
        return str(int(number))
    return format(number, ".15g").replace("e", "E")


def shown(number: float, code: str, epoch_1904: bool = False) -> str:
    sections = _sections(code)
    if not sections or number != number or abs(number) == float("inf"):
        return general(number) if abs(number) < float("inf") else str(number)
    section, signed = _chosen(number, sections)
    if section.date:
        return _moment(number, section, epoch_1904) or general(number)
    if not section.tokens and len(sections) > 1:
        return ""
    if section.odd or section.tokens in ((), (("literal", "@"),)):
        return general(number)
    try:
        return _number(number, section, signed)
    except (InvalidOperation, OverflowError):
        return general(number)


def is_date(code: str) -> bool:
    sections = _sections(code)
    return bool(sections) and bool(sections[0].date)


@lru_cache(maxsize=4096)
def _sections(code: str) -> tuple[_Section, ...]:
    if not code or code.lower() in ("general", "@"):
        return ()
    sections: list[list[re.Match[str]]] = [[]]
    for found in _TOKEN.finditer(code[:1000]):
        if found["other"] == ";":
            sections.append([])
        else:
            sections[-1].append(found)
    return tuple(_section(tokens) for tokens in sections)


def _section(found: list[re.Match[str]]) -> _Section:
    tokens: list[tuple[str, str]] = []
    condition, letters, odd = None, "", False
    for one in found:
        kind = one.lastgroup
        text = one[kind] if kind else ""
        if kind in ("quoted", "escaped", "currency"):
            tokens.append(("literal", text))
        elif kind == "condition" and (parts := _CONDITION.fullmatch(text)):
            try:
                condition = (parts[1], Decimal(parts[2]))
            except InvalidOperation:
                odd = True
        elif kind == "elapsed":
            letters += "e" + text.lower()
        elif kind == "bracket":
            odd = odd or text.upper().startswith("DBNUM")
        elif kind == "date":
            letters += text.lower()
        elif kind in ("general", "exponent", "digit"):
            tokens.append((kind, text))
        elif kind == "other":
            odd = odd or (text == "/" and not letters)
            tokens.append(({".": "point", ",": "comma", "%": "percent"}.get(text, "literal"), text))
    return _Section(tuple(tokens), condition, letters.replace("g", ""), odd)


def _chosen(number: float, sections: tuple[_Section, ...]) -> tuple[_Section, bool]:
    """The part that applies, and whether a minus is still to be written."""
    if any(section.condition for section in sections):
        for section in sections:
            if section.condition is None or _holds(number, section.condition):
                return section, number < 0
        return sections[-1], number < 0
    if number < 0 and len(sections) > 1:
        return sections[1], False
    if number == 0 and len(sections) > 2:
        return sections[2], False
    return sections[0], number < 0


def _holds(number: float, condition: tuple[str, Decimal]) -> bool:
    sign, bound = condition
    value = Decimal(str(number))
    return {">": value > bound, "<": value < bound, ">=": value >= bound, "<=": value <= bound,
            "=": value == bound, "<>": value != bound}.get(sign, False)  # fmt: skip


def _number(number: float, section: _Section, signed: bool) -> str:
    kinds = [kind for kind, _ in section.tokens]
    if "general" in kinds:
        text = "".join(general(abs(number)) if k == "general" else t for k, t in section.tokens)
    elif "digit" not in kinds:
        text = "".join(t for _, t in section.tokens)
    elif "exponent" in kinds:
        decimals = _after_point(kinds[: kinds.index("exponent")])
        text = re.sub(r"E([+-])(\d)$", r"E\g<1>0\2", f"{abs(number):.{decimals}E}")
    else:
        text = _digits(number, section.tokens, kinds)
    return ("-" if signed and re.search("[1-9]", text) else "") + text.strip()


def _after_point(kinds: list[str]) -> int:
    return kinds[kinds.index("point") :].count("digit") if "point" in kinds else 0


def _digits(number: float, tokens: tuple[tuple[str, str], ...], kinds: list[str]) -> str:
    point = kinds.index("point") if "point" in kinds else len(kinds)
    places = [at for at, kind in enumerate(kinds) if kind == "digit"]
    whole = [at for at in places if at < point]
    last = whole[-1] if whole else -1
    commas = [at for at, kind in enumerate(kinds) if kind == "comma"]
    # Commas behind the last digit scale by a thousand each, those between digits group.
    end = places[-1]
    thousands = sum(1 for at in commas if at > end or last < at < point)
    grouped = any(whole and whole[0] < at < last for at in commas)
    decimals = len(places) - len(whole)
    value = abs(Decimal(format(number, ".15g"))) * 100 ** kinds.count("percent") / 1000**thousands
    digits = format(value.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP), "f")
    left, _, right = digits.partition(".")
    left = left.lstrip("0")
    out: list[str] = []
    optional = True  # zeros that a "#" does not show, from the right
    for at in range(len(tokens) - 1, -1, -1):
        kind, text = tokens[at]
        if kind == "digit" and at > point:
            digit, right = right[-1:], right[:-1]
            optional = optional and digit == "0" and text != "0"
            out.append("" if optional else digit)
        elif kind == "digit":
            taken = left if at == whole[0] else left[-1:]
            left = left[: len(left) - len(taken)]
            out.append(taken or ("0" if text == "0" else ""))
        elif kind == "point":
            out.append("." if not optional or decimals == 0 else "")
        elif kind != "comma":
            out.append(text)
    text = "".join(reversed(out))
    return _grouped(text) if grouped else text


def _grouped(text: str) -> str:
    found = re.search(r"\d+", text)
    return f"{text[: found.start()]}{int(found[0]):,}{text[found.end() :]}" if found else text


def _moment(number: float, section: _Section, epoch_1904: bool) -> str:
    letters = section.date
    seconds = round(abs(number) * 86400)
    if "e" in letters:
        hours, rest = divmod(seconds, 3600)
        return f"{'-' if number < 0 else ''}{hours}:{rest // 60:02d}:{rest % 60:02d}"
    if not 0 <= number < _LAST_DAY + 1:
        return ""
    clock = any(letter in letters for letter in "hs")
    day = "y" in letters or "d" in letters or not clock
    # 1900 was no leap year; spreadsheets count its 29 February all the same.
    epoch = datetime(1904, 1, 1) if epoch_1904 else datetime(1899, 12, 31 if number < 60 else 30)
    try:
        moment = epoch + timedelta(seconds=round(number * 86400))
    except OverflowError:
        return ""
    time = f"{moment:%H:%M:%S}" if moment.second or letters.count("s") else f"{moment:%H:%M}"
    if not day:
        return time
    date = moment.date().isoformat()
    if not clock and "d" not in letters and "y" in letters:
        date = date[:7] if "m" in letters else date[:4]
    return f"{date} {time}" if clock else date
