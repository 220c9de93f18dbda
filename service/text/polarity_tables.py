"""The words behind `polarity`: negators and their lookalikes, limits, permissions, antonyms. Folded text."""

from __future__ import annotations

import re
from typing import Literal

Modality = Literal[
    "at_most", "at_least", "only", "except", "must", "may", "forbidden", "unlimited", "optional"
]

# Words that hold a negation character and negate nothing, and choices (是不是). They are hidden first.
NEGATION_LOOKALIKES = re.compile(
    "|".join(
        (
            # V-not-V questions
            r"(?P<v>是|能|可|会|有|要|该|应|支|允|需|好|行|对|存|用)(?:不|没)(?P=v)",
            # 不 in words
            "不(?:同|仅|但|止|断|过|管|论|如|久|妨|料|禁|愧|惜|错|等|免|一定|得不|只|光|单|独|外乎|亦乐乎|好意思|约而同)",
            "(?:差|对|了|来|免|少|受|巴|恨|舍|忍|禁)不(?:多|起|得|及|住)",
            "不(?:超过|高于|大于|多于|晚于|迟于|少于|低于|小于|早于|足)",
            "(?:不|没)(?:得|能|可|会)不",
            "并不只|无不|莫不|无非|不无",
            # 没, 无, 非, 未, 别 in words
            "(?:淹|埋|沉|出|隐|吞|湮)没|没收|没落|没事",
            "无(?:限|线|论|疑|穷|数|非|所谓|锡|人机|障碍|缝|状态|符号|损|锁|服务器)",
            "非(?:常|洲|得|要|凡|遗|典)|(?:除|莫|是|绝|若|无|南|北|西|东)非",
            "未(?:来|婚|必|免|央|成年)|从未来",
            "(?:类|级|区|特|分|个|性|判|识|鉴|辨|告|差|派|国|组|有|有所)别|别(?:名|的|人|处|墅|称|扭|致|具)",
            "免(?:费|疫|税|密)",
            r"not only|not just|no (?:more|less|fewer|later|earlier|longer) than|no matter|no doubt|nothing but|not necessarily",
            r"whether or not|or not|no\. ?[0-9]|if not",
            "勿忘|切勿忘",
        )
    )
)

ZH_NEGATORS = re.compile(
    "并不|并未|并非|从不|从未|绝不|决不|毫不|毫无|尚未|还未|还没有|还没|未曾|未能|没能|没有|没法|无法|无需|无须|无权|不再"
    "|不能够|不能|不可以|不可|不会|不要|不用|不必|不需要|不需|不应该|不应当|不应|不该|不得|不准|不许|不允许|不宜|不是|不予"
    "|禁止|严禁|切勿|请勿|拒绝|避免|(?:^|(?<=[，。；,;、\\s请]))(?:勿|别|莫)|不|没|未|无|非"
)
EN_NEGATORS = re.compile(
    r"(?<![a-z])(?:must not|should not|shall not|will not|would not|may not|might not|need not|could not|can not|do not|does not"
    r"|did not|is not|are not|was not|were not|has not|have not|had not|cannot|can't|won't|don't|doesn't|didn't|isn't|aren't"
    r"|wasn't|weren't|hasn't|haven't|shouldn't|mustn't|couldn't|wouldn't|not|no longer|no|never|neither|nor|none|without"
    r"|unable to|fails? to|failed to|refus(?:e|es|ed) to|prohibit(?:s|ed)?|forbid(?:s|den)?|prevent(?:s|ed)?|lacks?)(?![a-z])"
)
# Between a negator and what it negates.
ZH_SKIPPED = re.compile(
    r"[\s]+|能够|可以|可能|应该|应当|需要|必须|允许|直接|自动|任何|一个|任意|完全|再次|继续|同时|单独|主动|进行|对|将|把|被"
    r"|会|能|可|要|应|需|再|得|去|来|有|是|为|在|也|都|还|就|使其|让|的|了|让其|于"
    r"|(?:be|been|being|have|has|had|yet|a|an|the|any|to|by|currently|automatically|directly|also|ever)(?![a-z])"
)

MODALITY: dict[Modality, re.Pattern[str]] = {
    "at_most": re.compile(
        r"最多|至多|不超过|不得超过|不能超过|不大于|不高于|不多于|不晚于|上限|以内|最大(?:值)?(?:为|是)|最长|最高(?:为|不)|顶多"
        r"|at most|up to|no more than|not more than|not exceed|maximum|no later than|upper limit|within"
    ),
    "at_least": re.compile(
        r"最少|至少|不少于|不低于|不小于|不早于|下限|起码|(?<!可)以上|最小(?:值)?(?:为|是)|最低(?:为|不)|最短"
        r"|at least|no less than|no fewer than|not less than|minimum|no earlier than|lower limit|or more"
    ),
    "only": re.compile(r"仅(?:限|支持|在|当|能|可|有|由|对|用)?|只(?:有|能|在|支持|对|允许|需|读|可|适用)|唯一|(?<![a-z])(?:only|solely|exclusively)(?![a-z])"),
    "except": re.compile(r"除(?:了|外|非|去)|以外|之外|例外|(?<![a-z])(?:except|unless|excluding|other than|apart from)(?![a-z])"),
    "must": re.compile(r"必须|务必|必需|一定要|应当|强制|必填|(?<![a-z])(?:must|shall|required|mandatory|has to|have to)(?![a-z])"),
    "may": re.compile(r"(?<!不)可以|允许|可选|可能|(?<![a-z])(?:may|can|might|optional|allowed|permitted)(?![a-z])"),
    "forbidden": re.compile(
        r"禁止|严禁|不得(?!不)|不准|不许|不允许|不可以|(?<![a-z])(?:must not|may not|shall not|prohibited|forbidden|not allowed|not permitted)(?![a-z])"
    ),
    "unlimited": re.compile(r"无限(?!公司|责任)|不限(?!于)|没有(?:上限|限制)|无上限|不设上限|(?<![a-z])(?:unlimited|no limit|without limit|indefinitely|infinite(?:ly)?)(?![a-z])"),
    "optional": re.compile(r"可选|选填|非必(?:填|须|需)|不强制|(?<![a-z])optional(?:ly)?(?![a-z])"),
}  # fmt: skip

OPPOSITE_MODALITY: tuple[tuple[Modality, Modality], ...] = (
    ("at_most", "at_least"),
    ("at_most", "unlimited"),
    ("must", "optional"),
    ("must", "forbidden"),
)

# "Is it", "does it", 吗, 是否, 能不能: both answers are open.
YES_NO_QUESTION = re.compile(
    r"吗|么[？?]?$|是否|能否|可否|会否|有无|是不是|(?P<v>是|能|可|会|有|要|该|应|需|支|允)(?:不|没)(?P=v)|要不要"
    r"|^\s*(?:is|are|was|were|do|does|did|can|could|will|would|should|has|have|had|may|must)(?:n't)?\s"
)


def _pair(one: str, other: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    def compiled(words: str) -> re.Pattern[str]:
        alternatives = (rf"(?<![a-z]){word}(?![a-z])" if word.isascii() else word for word in words.split())
        return re.compile("|".join(alternatives))

    return compiled(one), compiled(other)


ANTONYMS = tuple(
    _pair(one, other)
    for one, other in (
        ("启用 开启 打开 启动 enable enables enabled", "禁用 关闭 停用 停止 disable disables disabled"),
        ("增加 增大 上升 提高 升高 增长 increase increases increased", "减少 减小 下降 降低 缩减 decrease decreases decreased reduce reduces reduced"),
        ("大于 高于 多于 超过 greater above", "小于 低于 少于 不足 less below"),
        ("之前 以前 before", "之后 以后 after"),
        ("允许 准许 allow allows allowed permit permitted", "禁止 严禁 拒绝 deny denies denied forbid forbidden prohibited"),
        ("成功 succeed succeeds succeeded success", "失败 fail fails failed failure"),
        ("包含 包括 include includes included including", "不含 排除 exclude excludes excluded excluding"),
        ("必填 必选 required mandatory", "可选 选填 optional"),
        ("有效 valid", "无效 失效 invalid"),
        ("同步 synchronous synchronously", "异步 asynchronous asynchronously"),
        ("升序 ascending", "降序 descending"),
        ("合法 legal", "非法 违法 illegal"),
        ("公开 public", "保密 private confidential"),
        ("盈利 profit", "亏损 loss"),
        ("true", "false"),
    )
)  # fmt: skip
