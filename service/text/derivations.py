"""What a question asks to be calculated: the rule, the things whose values go in, the unit wanted.

Only what is asked for in so many words. Sides are named as the question names them; their values are for the evidence
to give, also where the question brings a number along.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from service.text.arithmetic import Rule
from service.text.folding import fold_width
from service.text.units import unit_of


@dataclass(frozen=True, slots=True)
class Asked:
    """`unit` is a canonical name, or "" where the question leaves it open. `signed`: first minus second, as asked;
    otherwise the greater minus the smaller. Days between two things are a difference where these are no dates."""

    rule: Rule
    sides: tuple[str, ...]
    unit: str = ""
    signed: bool = False


_SIDE = "[^，。！？,?!;；]{1,60}?"
_A, _B = f"(?P<a>{_SIDE})", f"(?P<b>{_SIDE})"
_AND = r"\s*(?:以及|和|与|跟|同|及)\s*"
_MUCH = r"(?:是|为|有|等于|达|要|需要?)?\s*(?:多少|几)\s*(?P<unit>[^，。！？,?!\s的]{0,6}?)"
_MORE = "(?:多|少|长|短|大|小|高|低|快|慢|早|晚|贵|便宜|重|轻|远|近)"
_ER = (
    "(?:more|less|fewer|longer|shorter|larger|bigger|greater|smaller|higher|lower|faster|slower|later|earlier"
    "|heavier|lighter|older|younger)"
)
_UNIT = r"(?P<unit>[a-z°µμ%/²³]+(?: [a-z]+)?)"
_UNITS = r"how (?:much|many (?P<unit>[a-z]+))"
_END = r"\s*[?？。!！.]*\s*$"

# Rule, whether signed, form. The first form that fits decides.
_FORMS: tuple[tuple[Rule, bool, str], ...] = (
    ("days", False, rf"(?:从\s*)?{_A}(?:{_AND}|\s*[到至]\s*){_B}\s*之?间?(?:一?共)?(?:相[隔差距]|间隔|隔了?|差了?|经过了?|有)\s*(?:多少|几)\s*天"),
    ("days", False, rf"how many days (?:are (?:there )?|lie |passed |elapsed )?between {_A} and {_B}"),
    ("days", False, rf"how many days (?:are there |is it |passed |elapsed )?from {_A} (?:to|until) {_B}"),
    ("sum", False, rf"{_A}(?:{_AND}|\s*加上?\s*|、){_B}\s*的?(?:一共|总共|合计|共计|总计|加起来|加在一起|相加|之和|总和){_MUCH}"),
    ("sum", False, rf"how (?:much|many (?P<about>[^?]*?)) (?:are |is |do |does )?{_A} (?:and|plus) {_B} (?:add up to|come to|amount to|make|together|in total|combined|altogether)(?: together| in total)?"),
    ("sum", False, rf"(?:what is |calculate |compute )?the (?:sum|total) of {_A} and {_B}(?: in {_UNIT})?"),
    ("ratio", False, rf"how many times (?:longer|larger|bigger|greater|higher|faster|heavier|older) (?:is|are) {_A} than {_B}"),
    ("difference", True, rf"{_A}\s*比\s*{_B}\s*{_MORE}{_MUCH}"),
    ("difference", False, rf"{_A}{_AND}{_B}\s*(?:之间)?(?:的差(?:值|距)?|相差|差了?|之差){_MUCH}"),
    ("difference", True, rf"{_UNITS} {_ER} (?:is|are|was|were) {_A} (?:than|compared to|compared with) {_B}"),
    ("difference", True, rf"by {_UNITS} (?:is|are) {_A} {_ER} than {_B}"),
    ("difference", False, rf"by {_UNITS} do {_A} and {_B} differ"),
    ("difference", False, rf"(?:what|how (?:large|big)) is the difference in (?P<about>[^?]+?) between {_A} and {_B}"),
    ("difference", False, rf"what is the difference between {_A} and {_B} in {_UNIT}"),
    ("ratio", False, rf"{_A}\s*(?:是|为|相当于)\s*{_B}\s*的?\s*(?:多少|几)倍"),
    ("ratio", False, rf"how many times (?P<b>{_SIDE}) is (?P<a>{_SIDE})"),
    ("ratio", False, rf"what is the ratio (?:of|between) {_A} (?:to|and) {_B}"),
    ("product", False, rf"{_A}\s*(?:乘以?|×|\*)\s*{_B}\s*{_MUCH}"),
    ("product", False, rf"{_A}{_AND}{_B}\s*的?(?:乘积|之积){_MUCH}"),
    ("product", False, rf"(?:what|how much) (?:is|are) (?:the product of {_A} and {_B})"),
    ("product", False, rf"(?:what|how much) (?:is|are) {_A} (?:times|multiplied by) {_B}"),
    ("conversion", False, rf"请?(?:把|将)?\s*{_A}\s*(?:换算|折算|折合|转换)(?:成|为|到)?\s*是?(?:多少)?\s*(?P<unit>[^，。！？,?!\s]{{1,8}}?)\s*(?:是多少|等于多少)?"),
    ("conversion", False, rf"(?:please )?(?:convert|express) {_A} (?:into|to|in) {_UNIT}"),
)  # fmt: skip
_COMPILED = tuple((rule, signed, re.compile(form + _END, re.IGNORECASE)) for rule, signed, form in _FORMS)
_LEAD = re.compile(r"^\s*(?:请问|那么|那|请)?[，,\s]*|^\s*(?:so|and|please)[,\s]+", re.IGNORECASE)
_ARTICLE = re.compile(r"^(?:the|a|an)\s+", re.IGNORECASE)


def asked_derivation(question: str) -> Asked | None:
    """The calculation that the question asks for, or None. What is no known unit (几个人) leaves the unit open."""
    text = _LEAD.sub("", fold_width(question).strip(), count=1)
    for rule, signed, form in _COMPILED:
        found = form.match(text)
        if found is None:
            continue
        parts = found.groupdict()
        sides = tuple(_ARTICLE.sub("", parts[name].strip()) for name in "ab" if parts.get(name))
        if not all(sides) or len(set(sides)) < len(sides):
            continue
        unit = unit_of(parts.get("unit") or "") or unit_of((parts.get("about") or "").split(" ")[0])
        if rule == "conversion" and unit is None:
            continue
        name = unit.name if unit and rule not in ("ratio", "days") else ""
        return Asked(rule, sides, name, signed)
    return None
