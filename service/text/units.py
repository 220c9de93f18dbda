"""Units of measure, Chinese and English, as one table: spelling → unit, unit → dimension and scale.

Scales: SI brochure (9th ed., 2019) and IEC 80000-13 for data (KB 10³, KiB 2¹⁰). Currencies are never
converted into each other, calendar months never into days.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Unit:
    """`name` is the canonical spelling; a value in it times `scale` is the value in `base`."""

    name: str
    dimension: str
    base: str
    scale: Decimal


# dimension | base | canonical name | scale to base | other spellings (matched with case)
_TABLE = """
time|s|s|1|秒 秒钟 sec secs second seconds S
time|s|ms|0.001|毫秒 msec millisecond milliseconds MS
time|s|us|0.000001|µs μs 微秒 microsecond microseconds
time|s|ns|0.000000001|纳秒 nanosecond nanoseconds
time|s|min|60|分钟 mins minute minutes
time|s|h|3600|小时 个小时 钟头 个钟头 hr hrs hour hours H
time|s|d|86400|天 日 day days 个自然日 自然日
time|s|week|604800|周 星期 个星期 礼拜 个礼拜 weeks wk wks
workday|工作日|工作日|1|个工作日 workday workdays
calendar|month|month|1|个月 月 months 个自然月
calendar|month|quarter|3|个季度 季度 quarters
calendar|month|year|12|年 years yr yrs 周年 个年头 载
era|年代|年代|1|
length|m|km|1000|公里 千米 kilometer kilometers kilometre kilometres KM
length|m|m|1|米 meter meters metre metres
length|m|cm|0.01|厘米 公分 centimeter centimeters centimetre centimetres CM
length|m|mm|0.001|毫米 millimeter millimeters millimetre millimetres MM
length|m|µm|0.000001|μm um 微米 micron microns
length|m|nm|0.000000001|纳米 nanometer nanometers
length|m|inch|0.0254|英寸 吋 inches
length|m|ft|0.3048|英尺 foot feet
length|m|yard|0.9144|yards yd 码
length|m|mile|1609.344|英里 miles
length|m|nmi|1852|海里 nautical_miles
mass|kg|t|1000|吨 公吨 tonne tonnes ton tons
mass|kg|kg|1|千克 公斤 kilogram kilograms kilo kilos KG Kg
mass|kg|g|0.001|克 gram grams
mass|kg|mg|0.000001|毫克 milligram milligrams
mass|kg|µg|0.000000001|μg 微克 microgram micrograms
mass|kg|斤|0.5|市斤
mass|kg|lb|0.45359237|磅 pound_mass lbs
area|m²|m²|1|㎡ m2 平方米 平米 square_meters square_metres sqm
area|m²|km²|1000000|平方公里 平方千米 km2 square_kilometers square_kilometres
area|m²|ha|10000|公顷 hectare hectares
area|m²|亩|666.6666666666666667|
area|m²|acre|4046.8564224|英亩 acres
volume|L|L|1|升 公升 litre litres liter liters l
volume|L|mL|0.001|毫升 ml millilitre millilitres milliliter milliliters ML
volume|L|m³|1000|立方米 m3 cubic_meters cubic_metres
speed|km/h|km/h|1|公里/小时 千米/小时 kmh kph 公里每小时
speed|m/s|m/s|1|米/秒 米每秒
temperature|°C|°C|1|℃ 摄氏度 C° degrees_Celsius
temperature-f|°F|°F|1|℉ 华氏度 degrees_Fahrenheit
temperature-k|kelvin|kelvin|1|kelvins 开尔文
angle|°|°|1|度 degree degrees
voltage|V|V|1|伏 伏特 volt volts
voltage|V|kV|1000|千伏 KV kilovolt kilovolts
voltage|V|mV|0.001|毫伏
current|A|A|1|安 安培 amp amps ampere amperes
current|A|mA|0.001|毫安
charge|Ah|Ah|1|安时
charge|Ah|mAh|0.001|毫安时
power|W|W|1|瓦 瓦特 watt watts
power|W|kW|1000|千瓦 KW Kw kw kilowatt kilowatts
power|W|MW|1000000|兆瓦 megawatt megawatts
power|W|GW|1000000000|吉瓦 gigawatt gigawatts
power|W|mW|0.001|毫瓦
power|W|hp|745.69987158|马力 horsepower
energy|Wh|kWh|1000|千瓦时 KWh kwh 度电
energy|Wh|Wh|1|瓦时
energy|Wh|MWh|1000000|兆瓦时
energy-j|J|J|1|焦耳 joule joules
energy-j|J|kJ|1000|千焦 KJ
energy-j|J|kcal|4184|千卡 大卡
resistance|Ω|Ω|1|欧姆 ohm ohms
resistance|Ω|kΩ|1000|千欧
frequency|Hz|Hz|1|赫兹 hertz HZ
frequency|Hz|kHz|1000|千赫 KHz
frequency|Hz|MHz|1000000|兆赫 megahertz
frequency|Hz|GHz|1000000000|吉赫 gigahertz
pressure|Pa|Pa|1|帕 帕斯卡 pascal pascals
pressure|Pa|kPa|1000|千帕 KPa
pressure|Pa|MPa|1000000|兆帕
pressure|Pa|bar|100000|巴 bars Bar
pressure|Pa|psi|6894.757293168|
force|N|N|1|牛顿 newton newtons
force|N|kN|1000|千牛
torque|N·m|N·m|1|N.m Nm 牛米 牛·米
sound|dB|dB|1|分贝 decibel decibels
rotation|rpm|rpm|1|转/分 r/min 转每分钟
data|B|B|1|字节 byte bytes Byte Bytes
data|B|KB|1000|kB Kb kilobyte kilobytes
data|B|MB|1000000|兆字节 兆 megabyte megabytes
data|B|GB|1000000000|吉字节 gigabyte gigabytes
data|B|TB|1000000000000|太字节 terabyte terabytes
data|B|PB|1000000000000000|petabyte petabytes
data-iec|B|KiB|1024|kib
data-iec|B|MiB|1048576|mib
data-iec|B|GiB|1073741824|gib
data-iec|B|TiB|1099511627776|tib
data-iec|B|PiB|1125899906842624|
bits|bit|bit|1|bits 比特 位元
rate|bit/s|kbps|1000|Kbps kb/s
rate|bit/s|Mbps|1000000|mbps Mb/s 兆比特每秒
rate|bit/s|Gbps|1000000000|gbps Gb/s
byte-rate|B/s|KB/s|1000|
byte-rate|B/s|MB/s|1000000|
byte-rate|B/s|GB/s|1000000000|
ratio|%|%|1|percent per_cent pct 个百分比
ratio|%|‰|0.1|per_mille
ratio-point|pp|pp|1|个百分点 百分点 percentage_points percentage_point
currency-cny|CNY|元|1|块钱 圆 人民币 元人民币 RMB CNY yuan
currency-usd|USD|USD|1|美元 美金 US_dollars US_dollar dollars dollar
currency-usd|USD|cent|0.01|美分 cents
currency-eur|EUR|EUR|1|欧元 euro euros
currency-gbp|GBP|GBP|1|英镑 pounds pound
currency-jpy|JPY|JPY|1|日元 日圆 yen
currency-hkd|HKD|HKD|1|港元 港币
currency-twd|TWD|TWD|1|新台币 台币
pixel|px|px|1|像素 pixels pixel
"""

# Count words. Each is a dimension of its own: 3 次 is not 3 台. 个 counts anything countable that is not an
# event or a multiple, so it agrees with the others where `numbers.entails` says so.
_COUNT = """
次|times time 回 遍 趟
倍|fold 倍数
个|items item pcs
条|
项|
台|
人|people persons person 名
位|
块|
号|
世纪|centuries
份|copies copy
行|rows row lines line
列|columns column
核|cores core vCPU vCPUs
页|pages page
章|chapters
节|
款|
字|words word 个字 字数
字符|characters character chars 个字符
点|points o'clock
分|
级|levels level
层|layers layer floors
种|kinds kind types
类|
组|groups group
套|sets set
件|pieces piece
张|
本|
篇|
家|
间|
座|
栋|
辆|
艘|
架|
支|
部|
颗|
根|
岁|years_old year_old 周岁
届|
期|
轮|rounds round
场|
户|households
所|
门|
把|
副本|replicas replica
节点|nodes node
线程|threads thread
笔|
批|batches batch
k|
步|steps step
""".strip()

_GENERIC = "个"
# What 个 cannot stand for: events, multiples, ages, scores, hours of the day.
_NOT_GENERIC = frozenset({"次", "倍", "岁", "点", "分", "字", "字符", "页", "级"})

# Written straight before the number.
PREFIXES = {"¥": "元", "￥": "元", "RMB": "元", "CNY": "元", "$": "USD", "US$": "USD", "USD": "USD",
            "HK$": "HKD", "NT$": "TWD", "€": "EUR", "EUR": "EUR", "£": "GBP", "GBP": "GBP", "JP¥": "JPY"}  # fmt: skip

# Only glued to the digits: elsewhere they are ordinary letters (-Xmx512M, 16G of memory, 3x faster).
# A lone k stays what it is: 64K may be bytes or thousands.
GLUED = {"k": "k", "K": "k", "M": "MB", "G": "GB", "T": "TB", "x": "倍", "×": "倍"}

SCALES = {"十": 10, "百": 100, "千": 10**3, "万": 10**4, "萬": 10**4, "十万": 10**5, "百万": 10**6, "千万": 10**7,
          "亿": 10**8, "億": 10**8, "十亿": 10**9, "百亿": 10**10, "千亿": 10**11, "万亿": 10**12,
          "hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12,
          "mn": 10**6, "bn": 10**9}  # fmt: skip


def _build() -> tuple[dict[str, Unit], dict[str, Unit]]:
    by_name: dict[str, Unit] = {}
    by_spelling: dict[str, Unit] = {}

    def add(unit: Unit, spellings: str) -> None:
        by_name[unit.name] = unit
        for spelling in (unit.name, *(word.replace("_", " ") for word in spellings.split())):
            if by_spelling.setdefault(spelling, unit) is not unit:
                raise ValueError(f"unit spelling {spelling!r} is listed twice")

    for line in _TABLE.strip().splitlines():
        dimension, base, name, scale, spellings = line.split("|")
        add(Unit(name, dimension, base, Decimal(scale)), spellings)
    for line in _COUNT.splitlines():
        name, spellings = line.split("|")
        add(Unit(name, f"count-{name}", name, Decimal(1)), spellings)
    return by_name, by_spelling


UNITS, SPELLINGS = _build()


def unit_of(spelling: str) -> Unit | None:
    """The unit of a spelling as it stands in text, or None. English words match in any case."""
    found = SPELLINGS.get(spelling)
    if found is None and len(spelling) > 3:
        found = SPELLINGS.get(spelling.lower())
    return found


def agree(left: Unit, right: Unit) -> bool:
    """Whether values in the two units can be compared at all."""
    if left.dimension == right.dimension:
        return True
    if left.dimension.startswith("count-") and right.dimension.startswith("count-"):
        names = {left.name, right.name}
        return _GENERIC in names and not names & _NOT_GENERIC
    return False
