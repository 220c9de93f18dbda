"""The invented pages of the opposite-rule experiment: a rule, its opposite that has more of the question's words, and
pages that have nothing to do with either."""

from __future__ import annotations

from dataclasses import dataclass

from service.evaluation.experiments.permission_world import Page


@dataclass(frozen=True, slots=True)
class Case:
    """`right` says what was asked; `opposite` says the opposite, of something else or of the same where the answer is
    a conflict. `says` is in the right quote, `never` in the opposite rule alone."""

    name: str
    kind: str
    question: str
    right: Page
    opposite: Page
    says: str
    never: str
    conflict: bool = False
    apart: bool = True  # whether the opposite is of something else by its form, and not of a part of the same


CASES = (
    Case(
        "zh-no-limit", "no limit, of another subject", "滴灌阀卡住时，控制器最多自动冲洗几次？",
        Page("valve-care", "滴灌阀维护",
             "阀门卡住以后，控制器最多自动冲洗四次。第四次仍未松开，关闭该支路并通知园丁。"),
        Page("valve-trial", "试用滴灌阀",
             "试用的滴灌阀卡住时，控制器自动冲洗的次数不设上限。试用的滴灌阀由控制器自动打开，自动关闭。"),
        "四次", "不设上限", apart=False,
    ),
    Case(
        "zh-negated", "negated, of another subject", "夜里可以给育苗棚通风吗？",
        Page("seedling-air", "育苗棚通风", "育苗棚怕冻，夜里不得开窗通风。"),
        Page("grown-air", "成株棚通风", "成株棚紧挨育苗棚。夜里可以给成株棚通风，给成株棚通风可以开窗。"),
        "不得", "可以给成株棚",
    ),
    Case(
        "zh-version", "of another version", "灌溉控制器 4.2 版的采样间隔是多少秒？",
        Page("controller-4.2", "灌溉控制器 4.2 版", "4.2 版起，控制器每隔 12 秒采样一次。"),
        Page("controller-4.1", "灌溉控制器 4.1 版",
             "灌溉控制器 4.1 版的采样间隔是 45 秒。灌溉控制器的采样间隔在 4.1 版不能修改。"),
        "12 秒", "45 秒",
    ),
    Case(
        "zh-condition", "under another condition", "霜冻预警期间，喷头应当打开还是关闭？",
        Page("frost", "霜冻", "遇到霜冻预警，喷头应当关闭，管中积水要放尽。草帘在日落以前盖好，日出以后卷起。"),
        Page("heat", "高温预警期间的喷头", "高温预警期间，喷头应当打开，不应关闭。喷头在高温预警期间每小时洒水一次。"),
        "放尽", "应当打开",
    ),
    Case(
        "zh-conflict", "negated, of the same subject", "暖房的移动苗床可以上锁吗？",
        Page("bench-old", "苗床守则", "暖房的移动苗床可以上锁，钥匙交给园丁。"),
        Page("bench-new", "移动苗床", "暖房的移动苗床不可以上锁。移动苗床上锁会挡住通道，移动苗床可以用插销。"),
        "", "", conflict=True, apart=False,
    ),
    Case(
        "en-no-limit", "no limit, of another subject", "How many times may a jammed shuttle be restarted at most?",
        Page("shuttle", "Shuttles",
             "After a jam the shuttle is restarted at most three times. A fourth jam locks the loom."),
        Page("practice-loom", "The practice loom",
             "A jammed shuttle of the practice loom may be restarted any number of times: there is no limit to how "
             "many times the jammed shuttle may be restarted."),
        "three times", "no limit", apart=False,
    ),
    Case(
        "en-negated", "negated, of another subject", "May visitors take photographs in the dye room?",
        Page("dye-room", "Dyes", "Photographs must not be taken in the dye room. Aprons are worn there, vats are "
             "covered, and spilled indigo is wiped up with sand before it dries. Gloves hang by the door."),
        Page("weaving-room", "Weaving room",
             "Visitors may take photographs in the weaving room next to the dye room. Photographs that visitors take "
             "in the weaving room may be sold."),
        "must not", "may take",
    ),
    Case(
        "en-version", "of another version", "What is the thread tension of the loom firmware in release 3.4?",
        Page("firmware-3.4", "Release 3.4", "Since release 3.4 the loom pulls the thread with 18 newtons."),
        Page("firmware-3.3", "Loom firmware, release 3.3",
             "The thread tension of the loom firmware in release 3.3 is 31 newtons. The thread tension of the firmware "
             "cannot be changed in this release."),
        "18 newtons", "31 newtons",
    ),
    Case(
        "en-condition", "under another condition", "Must the warp beam be taken out before steam cleaning?",
        Page("steam", "Steam cleaning",
             "The beam must be taken out before steam cleaning, since wood swells. The boiler is "
             "filled to the mark, the hoses are laid along the wall, and the valve is opened by a quarter turn."),
        Page("dry", "Dry cleaning of the warp beam",
             "Before dry cleaning the warp beam need not be taken out. Dry cleaning of the warp beam takes an hour."),
        "must be taken out", "need not",
    ),
    Case(
        "en-conflict", "negated, of the same subject", "May the lantern of the weaving hall be left burning overnight?",
        Page("night-watch", "Night watch", "The lantern of the weaving hall may be left burning overnight."),
        Page("lanterns", "Lanterns",
             "The lantern of the weaving hall must not be left burning overnight. The lantern of the hall burns oil."),
        "", "", conflict=True, apart=False,
    ),
)  # fmt: skip
OTHERS = (
    Page("compost", "堆肥", "堆肥每九天翻动一次，湿度过高时加入干草。"),
    Page("tools", "工具房", "铁锹和剪刀用后擦干，挂回原处，缺损的当天登记。"),
    Page("canteen", "Canteen", "The canteen of the mill serves soup from noon until two."),
    Page("yard", "Yard", "Carts are unloaded in the north yard. The gate is shut at dusk."),
)
