"""The words behind `support`: what turns a clause round, what makes a condition. Folded text."""

from __future__ import annotations

import re

# Function words without which a sentence says another thing.
TELLING_EN = frozenset(
    "can will would if when until before after all any each every some both other own same too off out against than"
    " between more most few once".split()
)
TELLING_ZH = frozenset(
    "最 更 很 太 非常 上 下 内 外 中 里 之间 之前 之后 以前 以后 等 其他 因为 如果 若".split()
)

# What turns a clause round, each under a name that its spellings share. Negations are told by what they negate.
TURNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("only", re.compile(r"仅仅?|只(?:有|能|在|支持|对|允许|需|可|适用|会|是)|唯一"
                        r"|\b(?:(?<!read[- ])only|solely|exclusively)\b")),
    ("not only", re.compile(r"不[仅只但光单]|\b(?:not|cannot) (?:only|just|merely|solely)\b")),
    ("read-only", re.compile(r"只读|\bread[- ]only\b")),
    ("except", re.compile(r"除(?:了|外|非|去)|以外|之外|例外|\b(?:except|unless|excluding|other than|apart from)\b")),
    ("at most", re.compile(r"最多|至多|不(?:得|能)?超过|不大于|不高于|不多于|不晚于|上限|以内|最大|最长|最高"
                           r"|\b(?:at most|up to|(?:no|not) (?:more|greater|later) than|maximum|within)\b")),
    ("at least", re.compile(r"最少|至少|不(?:得|能)?少于|不低于|不小于|不早于|下限|起码|最小|最低|最短"
                            r"|\b(?:at least|(?:no|not) (?:less|fewer|earlier) than|minimum)\b")),
    ("less", re.compile(r"以下|(?<!不)(?:小于|低于|少于|早于)|\b(?:less than|fewer than|below|under)\b")),
    ("more", re.compile(r"(?<!可)以上|(?<!不)(?:大于|高于|多于|超过|晚于)|\b(?:more than|greater than|above|over)\b")),
    ("must", re.compile(r"必须|务必|必需|强制|需要|\b(?:must|shall|required|mandatory|need(?:s|ed)?)\b")),
    ("should", re.compile(r"应当|应该|应(?![用对答])|\b(?:should|ought)\b")),
    ("may", re.compile(r"可以|可能|也许|或许|\b(?:may|might|could|possibly|perhaps)\b")),
    ("roughly", re.compile(r"大约|大概|左右|约(?=\s?[\d一二三四五六七八九十百])|通常|一般|往往|有时"
                           r"|\b(?:about|approximately|roughly|around|usually|generally|often|sometimes|typically"
                           r"|almost|nearly)\b")),
)  # fmt: skip

CONDITION = re.compile(
    r"^\s*(?:如果|若|倘若|假如|当|只有|除非|仅当|一旦|只要|对于?.{1,30}(?:而言|来说)"
    r"|在.{1,40}(?:时候?|下|(?:前|后)(?:的版本)?|版本|中|内|里|上|期间)\s*(?:[(（][^()（）]*[)）]\s*)?$)"
    r"|(?:时|的情况下|的话|的前提下)\s*$|除非|前提是|仅当"
    r"|^\s*(?:if|when|whenever|unless|only if|provided|once|until|before|after|while|except|as long as|in case|for)\b"
)
# Without what it leaves out, a clause says more: "except on Mondays". Not so where something is added: 除了 A，还有 B.
EXCEPTION = re.compile(
    r"^\s*(?:除(?:了|去|开)|除.{1,30}外\s*$|(?:except|excluding|other than|apart from|with the exception of)\b)"
)
ADDING = re.compile(r"还|也|亦|又|更|同时|此外|\b(?:also|too|as well|besides)\b")
# What follows limits what was said before it: "but only …".
RESERVATION = re.compile(r"^\s*(?:但是?|不过|然而|例外|除外|(?:but|however|although|though)\b)")
# Where an English sentence goes on with a condition that no comma parts off.
ENGLISH_JOINT = re.compile(
    r"(?<=[a-z0-9)\"'])\s+(?=(?:if|unless|only if|provided that|except|when|whenever|until|as long as)\s)"
)
