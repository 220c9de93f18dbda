"""A follow-up made a question that stands by itself, from the question before it: by rules, or not at all.

What stays open is said, never guessed. Anchors of the follow-up (models, versions, codes, dates, numbers) stand in the
result as they were written; of the question before, only what the follow-up replaces is left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import rjieba

from service.text.analysis import content_terms
from service.text.anchors import Anchor, find_anchors
from service.text.folding import fold_width
from service.text.language import HAN, language

VERSION = "followup-1"

How = Literal["itself", "replaced", "added", "reference"]


@dataclass(frozen=True, slots=True)
class Resolved:
    """The standing question, and by which rule: as asked, with a part replaced or added, or a pronoun filled in."""

    question: str
    how: How


@dataclass(frozen=True, slots=True)
class Open:
    """What of the follow-up nothing before it settles, as written."""

    what: str


_TAIL = r"\s*[?？!！。.]*\s*$"
# 那 X300 呢？ 换成 X300 呢？ X300 呢？ what about X300? and for X300?
_ELLIPSIS = tuple(
    re.compile(form + _TAIL, re.IGNORECASE)
    for form in (
        r"^\s*(?:那么?|那要?是|如果是|要是|若是|换成|换做|改成|再看|还有)?[，,\s]*(?:换成|换做|改成|如果是|要是)?\s*(?P<what>[^，,。？?]{1,60}?)\s*呢",
        r"^\s*(?:那么?)?[，,\s]*(?:换成|换做|改成|如果是|要是)\s*(?P<what>[^，,。？?]{1,60}?)(?:的话)?(?:又?(?:是|会)?(?:怎样|怎么样|如何))?",
        r"^\s*(?:and |but |ok(?:ay)?,? |so )?(?:what|how) about (?:(?:for|in|on|with|of) )?(?P<what>[^?,]{1,60}?)",
        r"^\s*and (?:for|in|on|with|of) (?P<what>[^?,]{1,60}?)",
        r"^\s*(?:and )?(?:the )?same (?:question )?(?:for|with|on|in) (?P<what>[^?,]{1,60}?)",
        r"^\s*(?:and )?what if it (?:is|were|was) (?P<what>[^?,]{1,60}?)",
    )
)
_ZH_PRONOUN = re.compile(
    r"(?P<its>[它他她]们?的|其(?=[一-龥]{1,8}(?:是|有|为|多|怎|如|在|能|可|会|需|要|吗|呢|[?？]|$)))|[它他她]们?"
    r"|(?:这|那|该|此)(?:个|款|种|类|台|项|条|一?版)?(?:产品|型号|版本|命令|参数|选项|设备|机型|错误码?|制度|文档|功能|东西)|(?:前|后)者|上述"
    r"|(?:这|那)个(?=是|有|会|能|可以|怎|如何|多|吗|呢|的|[?？]|$)"
)
_EN_PRONOUN = re.compile(
    r"\b(?P<its>its|their)\b|\b(?:it|they|them)\b|\b(?:the (?:former|latter))\b"
    r"|\b(?:this|that|these|those) (?:one|product|model|version|command|option|parameter|device|error|policy|feature)s?\b"
    r"|\b(?:this|that|these|those)(?=\s*(?:[?]|$)| (?:is|are|was|were|do|does|mean|work|apply|applies|cost|take)\b)",
    re.IGNORECASE,
)
# "Is it possible to …", "how long does it take to …": nothing is referred to.
_EXPLETIVE = re.compile(
    r"\b(?:is|was|would) it (?:possible|necessary|allowed|required|safe|better|true|ok|okay)\b|\bit (?:is|was) (?:possible|necessary|allowed|required|true)\b"
    r"|\bdoes it take (?:to|for|until|before)\b|\bit takes? to\b|\b(?:what|which) time is it\b",
    re.IGNORECASE,
)
# "And when does it close?" asks for a time, it makes no condition.
_OPENING = re.compile(
    r"\s*(?:(?:and|but|so|ok|okay|then)\b[, ]*)*(?:when|where|which|while|so|that)\b(?! (?:it|they)\b)|\s*(?:and|but|so)\b",
    re.IGNORECASE,
)
# What comes before one of these may be what a pronoun after it refers to, in the same sentence.
_OWN_ANTECEDENT = re.compile(
    r"[，,；;]|如果|当|时|后|的话|\b(?:if|when|while|after|before|because|since|until|and|but|so|that|which|where)\b",
    re.IGNORECASE,
)
_TIME = frozenset({"date"})
_PLATFORM = re.compile(
    r"(?<![A-Za-z0-9])(?:linux|windows|mac ?os|unix|ubuntu|centos|debian|android|ios|docker|kubernetes|arm64|x86)(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_HAN_RUN = re.compile(f"[{HAN}]")
# Where a Chinese question leaves its topic.
_ZH_PREDICATE = re.compile(
    r"的|有|是|为|需要|需|要|能|可以|可|会|应该|应|最多|最少|至少|最长|最大|默认|支持|多少|多[久长大高重远宽快深]|几|什么|怎么|怎样|如何|何时|哪|谁|吗|在"
)
_ZH_LEAD = re.compile(r"^\s*(?:请问|想问一下|问一下|那么?)[，,\s]*")
_EN_SUBJECT = re.compile(
    r"^(?P<before>.*?\b(?:is|are|was|were|does|do|did|can|could|should|must|may|will|has|have)\s+)(?P<rest>.+?)(?P<tail>\s*[?.!]*\s*)$",
    re.IGNORECASE,
)
_DETERMINED = re.compile(r"^(?:the|a|an|our|my)\s+", re.IGNORECASE)
_EN_OF = re.compile(r"\b(?:of|for|on|in)\s+(?P<topic>(?:the |a |an )?[\w.-]+(?: [\w.-]+){0,2})\s*[?.!]*\s*$")
_YEAR = re.compile(r"(?:19|20)\d\d")
_MOST_TOPIC = 16  # characters


def resolve(text: str, standing: str | None) -> Resolved | Open:
    """`standing` is the question that the follow-up follows, itself resolved; None at the beginning."""
    what = _ellipsis(text)
    if what is not None:
        found = _replaced(what, standing) if standing else None
        return _keeping(text, found) or Open(what)
    if _is_bare(text) and standing:
        return _keeping(text, _replaced(_bare(text), standing)) or Open(_bare(text))
    pronoun = _pronoun(text)
    if pronoun is None:
        # 那怎么办呢？ says of nothing what is to be done with it.
        return Resolved(text, "itself") if content_terms(text) or not _LEANS.match(text) else Open(text)
    topic = _topic(standing) if standing else None
    if topic is None:
        return Open(pronoun.group())
    filled = _filled(text, pronoun, topic)
    return _keeping(text, Resolved(filled, "reference")) or Open(pronoun.group())


def _keeping(text: str, found: Resolved | None) -> Resolved | None:
    """Only what still has every anchor of the follow-up, as written."""
    if found is None or any(anchor.text not in found.question for anchor in find_anchors(text)):
        return None
    return found


def _ellipsis(text: str) -> str | None:
    """The part that the follow-up puts in place of another, where that is all it says."""
    for form in _ELLIPSIS:
        match = form.match(text)
        if match:
            what = match["what"].strip()
            # 那怎么办呢？ is a question of its own, if one that refers to nothing.
            return None if _asks(what) else what
    return None


_LEANS = re.compile(r"\s*(?:那|and\b|so\b|then\b)", re.IGNORECASE)
_QUESTION_WORD = re.compile(
    r"多少|几[个次天年月]|什么|怎么|怎样|如何|何时|哪|谁|为什么|吗|\b(?:what|how|when|where|which|who|why)\b",
    re.IGNORECASE,
)


def _asks(text: str) -> bool:
    return _QUESTION_WORD.search(text) is not None


def _bare(text: str) -> str:
    return re.sub(_TAIL, "", text).strip()


def _is_bare(text: str) -> bool:
    """Nothing but one anchor or platform, with at most a preposition: "X300?", "on Windows?"."""
    rest = re.sub(
        r"^(?:and\s+)?(?:(?:on|in|for|with|under|since)\s+)?|^那?^(?:在|从)|(?:上|下|中|的话|版本?)$",
        "",
        _bare(text),
        flags=re.IGNORECASE,
    )
    rest = rest.strip()
    anchors = find_anchors(rest)
    whole = len(anchors) == 1 and anchors[0].text.strip() == rest
    return bool(rest) and (whole or _PLATFORM.fullmatch(rest) is not None)


def _replaced(what: str, standing: str) -> Resolved | None:
    new = find_anchors(what)
    if len(new) == 1:
        return _anchor_for(what, new[0], standing)
    if new:
        return None
    platform = _PLATFORM.search(what)
    if platform:
        old = list(_PLATFORM.finditer(standing))
        if len(old) == 1:
            return _spliced(standing, old[0].start(), old[0].end(), platform.group())
        return _added(what, standing) if not old else None
    return _noun_for(what, standing)


def _anchor_for(what: str, new: Anchor, standing: str) -> Resolved | None:
    """The one anchor of its kind gives way; a date or a version may also be added where there was none."""
    old = [anchor for anchor in find_anchors(standing) if anchor.kind == new.kind]
    if len(old) == 1:
        if old[0].canonical == new.canonical:
            return None
        return _spliced(standing, old[0].start, old[0].end, new.text)
    if old:
        return None
    if new.kind == "number":
        codes = [anchor for anchor in find_anchors(standing) if anchor.kind == "error"]
        digits = [match for code in codes for match in re.finditer(r"\d+", code.text)]
        if len(codes) == len(digits) == 1:
            start = codes[0].start + digits[0].start()
            return _spliced(standing, start, start + len(digits[0].group()), new.text)
        if _YEAR.fullmatch(what):
            return _added(f"in {what}", standing)
    return _added(what, standing) if new.kind in (*_TIME, "version") else _noun_for(what, standing)


def _spliced(standing: str, start: int, end: int, new: str) -> Resolved:
    before, after = standing[:start], standing[end:]
    # Words that were parted stay parted.
    left = " " if before[-1:].isalnum() and before[-1:].isascii() and new[:1].isascii() else ""
    return Resolved(before + left + new + after, "replaced")


def _added(what: str, standing: str) -> Resolved:
    if _HAN_RUN.search(standing):
        return Resolved(f"{what} {standing}" if what[-1:].isascii() else f"{what}，{standing}", "added")
    body = re.sub(_TAIL, "", standing)
    joint = "" if re.match(r"(?:on|in|for|with|since|before|after)\b", what, re.IGNORECASE) else "for "
    return Resolved(f"{body} {joint}{what}?", "added")


def _noun_for(what: str, standing: str) -> Resolved | None:
    if _HAN_RUN.search(standing):
        return _zh_noun(what, standing)
    return _en_noun(what, standing)


def _zh_noun(what: str, standing: str) -> Resolved | None:
    """病假 for 年假: the one word that ends alike; else what the question is about, at its beginning."""
    if len(what) > _MOST_TOPIC:
        return None
    alike = [
        (start, end)
        for start, end, word in _words(standing)
        if len(word) > 1
        and len(what) > 1
        and _HAN_RUN.match(word[-1])
        and word[-1] == what[-1]
        and word != what
    ]
    if len(alike) == 1:
        return _spliced(standing, *alike[0], what)
    if alike:
        return None
    topic = _zh_topic(standing)
    return None if topic is None or what in standing else _spliced(standing, *topic, what)


def _words(text: str) -> list[tuple[int, int, str]]:
    words, at = [], 0
    for word in rjieba.cut(text):
        words.append((at, at + len(word), word))
        at += len(word)
    return words


def _zh_topic(standing: str) -> tuple[int, int] | None:
    """Where the topic of a Chinese question stands: from its beginning to its first predicate."""
    lead = _ZH_LEAD.match(standing)
    start = lead.end() if lead else 0
    predicate = _ZH_PREDICATE.search(standing, start)
    end = predicate.start() if predicate else start
    topic = standing[start:end].rstrip()
    if not 1 < len(topic) <= _MOST_TOPIC or any(char in topic for char in "，,。；;"):
        return None
    return start, start + len(topic)


def _en_noun(what: str, standing: str) -> Resolved | None:
    """Sick leave for annual leave: the phrase of as many words that ends alike; else the subject, where both are told
    with an article."""
    words = what.split()
    bare = _DETERMINED.sub("", what).split()
    if not bare or len(words) > 4:
        return None
    there = [(m.start(), m.end(), m.group()) for m in re.finditer(r"[\w.-]+", standing)]
    alike = [
        n for n, (_, _, word) in enumerate(there) if word.lower().rstrip("s") == bare[-1].lower().rstrip("s")
    ]
    if len(alike) == 1 and len(bare) > 1 and alike[0] + 1 >= len(bare):
        first, last = alike[0] + 1 - len(bare), alike[0]
        old = standing[there[first][0] : there[last][1]]
        if old.lower() == " ".join(bare).lower() or not old.replace(" ", "").replace("-", "").isalnum():
            return None
        return _spliced(standing, there[first][0], there[last][1], " ".join(bare))
    if alike:
        return None
    subject = _EN_SUBJECT.match(standing)
    if subject and _DETERMINED.match(what) and (article := _DETERMINED.match(subject["rest"])):
        start = subject.start("rest") + article.end()
        rest = standing[start : subject.end("rest")].split()
        # One noun, then at most one verb: further words could belong to either.
        if len(bare) == 1 and len(rest) in (1, 2):
            return _spliced(standing, start, start + len(rest[0]), bare[0])
    return None


def _pronoun(text: str) -> re.Match[str] | None:
    """The first pronoun that nothing in its own sentence explains."""
    shown = _EXPLETIVE.sub(lambda match: "\x00" * len(match.group()), text)
    pattern = _ZH_PRONOUN if language(text) == "zh" else _EN_PRONOUN
    match = pattern.search(shown)
    opening = _OPENING.match(shown)
    if match is None or _OWN_ANTECEDENT.search(shown, opening.end() if opening else 0, match.start()):
        return None
    return match


def _topic(standing: str) -> str | None:
    """What a pronoun after the question refers to: its one identifier, else what it is about, else unknown."""
    names = list(
        dict.fromkeys(
            a.text for a in find_anchors(standing) if a.kind not in ("date", "number", "quantity", "measure")
        )
    )
    names = [name for name in names if re.search("[A-Za-z]", fold_width(name))]
    if len(names) == 1:
        return names[0]
    if names:
        return None
    if _HAN_RUN.search(standing):
        place = _zh_topic(standing)
        return None if place is None else standing[slice(*place)]
    of = _EN_OF.search(standing)
    if of:
        return of["topic"]
    subject = _EN_SUBJECT.match(standing)
    if subject and (article := _DETERMINED.match(subject["rest"])):
        rest = subject["rest"][article.end() :].split()
        return f"{article.group()}{rest[0]}" if len(rest) in (1, 2) else None
    return None


def _filled(text: str, pronoun: re.Match[str], topic: str) -> str:
    start, end = pronoun.span()
    possessive = pronoun.groupdict().get("its")
    if _HAN_RUN.search(pronoun.group()):
        after = text[end : end + 1]
        glue = " " if topic[-1:].isascii() and (possessive or (after and not after.isspace())) else ""
        return text[:start] + topic + glue + ("的" if possessive else "") + text[end:]
    return text[:start] + topic + ("'s" if possessive else "") + text[end:]
