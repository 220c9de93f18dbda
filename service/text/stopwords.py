"""Function words and question words: they say how something is asked, never what about.

Generic words only. Negations (不, 没有, not, without) are kept out on purpose: they carry the polarity of a
question and a passage. Chinese entries are words as the segmenter cuts them, simplified and lower case.
"""

from __future__ import annotations

ZH_FUNCTION = frozenset(
    """
    的 地 得 了 着 过 吗 呢 吧 啊 呀 嘛 么 啦 哦 哪 之 其 该 此 这 那 这个 那个 这些 那些 这里 那里 这样 那样
    是 为 在 于 和 与 及 或 或者 以及 并 并且 而 而且 但 但是 则 就 也 都 还 又 再 才 很 更 最 太 较 比较 非常
    把 被 将 给 对 对于 关于 从 由 由于 向 往 到 按 按照 以 用 用于 让 使 使得 因 因为 因此 所以 如 如果 若 若是
    虽然 即 即使 当 时 时候 中 里 上 下 内 外 个 些 种 位 名 只是 等 等等 有 所 我 我们 你 你们 您 他 她 它 他们
    她们 它们 自己 大家 人家 谁的 要 会 能 能够 可 可以 应 应该 应当 需 需要 想 想要 请 请问 麻烦 帮 帮我 告诉
    一下 一个 一些 一种 已 已经 曾 曾经 正在 其中 其他 另外 此外 之间 之后 之前 以后 以前 那么 这么 通过 进行 然后 接着
    """.split()
)

ZH_QUESTION = frozenset(
    """
    什么 啥 甚么 谁 哪 哪个 哪些 哪里 哪儿 哪位 哪种 哪一 哪一个 哪年 几 几个 几时 多少 多大 多长 多久 多高 多远
    多 何 何时 何处 何地 何人 何种 为何 为什么 为啥 怎么 怎么样 怎样 怎 如何 咋 是否 是不是 能否 可否 能不能
    可不可以 会不会 有没有 有无 要不要 需不需要 吗 呢 请问 是什么 是多少 怎么办 怎么回事 干嘛 干什么 多少个 什么样
    """.split()
)

EN_FUNCTION = frozenset(
    """
    a an the this that these those there here it its itself i me my we us our you your he him his she her they
    them their one ones and or but nor so yet if then than because while although though as of at by for with
    about against between into through during before after above below to from up down in out on off over under
    again further once be am is are was were been being have has had having do does did doing done can could
    will would shall should may might must need ought also just only very too such same own other another each
    every both few more most some any all please tell give show s t re ve ll d m
    """.split()
)

EN_QUESTION = frozenset("what which who whom whose when where why how whether much many".split())

STOP_WORDS = ZH_FUNCTION | ZH_QUESTION | EN_FUNCTION | EN_QUESTION
