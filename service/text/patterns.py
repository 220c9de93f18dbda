"""The written forms of exact names, as one ordered table of regular expressions over width-folded text.

Earlier rows win where two overlap. A named group `name`, where present, is the part that is the anchor;
`code` holds what identifies it. Han characters may touch a name on both sides ("把tidb_gc_life_time设为"),
so boundaries are ASCII ones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from service.text.numerals import NUMERAL

IdentifierKind = Literal[
    "url",
    "path",
    "option",
    "regulation",
    "section",
    "error",
    "version",
    "identifier",
    "model",
    "label",
    "address",
]


@dataclass(frozen=True, slots=True)
class Pattern:
    """One written form. `needs` is a cheap test: without one of these substrings (and, where `digits`, an ASCII digit) in
    the line the form cannot occur."""

    kind: IdentifierKind
    form: str
    regex: re.Pattern[str]
    needs: tuple[str, ...] = ()
    digits: bool = False


_FILE_TYPES = (
    "md|markdown|txt|rst|toml|ya?ml|jsonl?|xml|conf|cnf|cfg|ini|properties|env|sh|bash|bat|ps1|py|ipynb|java|class|jar|war"
    "|go|rs|ts|tsx|jsx|css|html?|cpp|hpp|proto|sql|csv|tsv|parquet|log|out|gz|tgz|zip|tar|xz|bz2|7z|rpm|deb|exe|msi|dll"
    "|so|dylib|db|sqlite|pem|crt|cer|csr|key|pub|p12|jks|pdf|docx?|xlsx?|pptx?|png|jpe?g|gif|svg|mp4|lock|service"
    "|pid|sock|bak|tmp|onnx|bin|img|iso|tpl|j2|gradle|pom|asts?|lua|rb|php|vue|kt|scala|swift"
)
_NAME = r"[A-Za-z0-9_.@+{}$*-]"
# Bodies whose bare number is already a standard; those after them are read only with /T or a year.
_STANDARDS = (
    r"GB(?:/[TZ]|Z)?|GJB|JGJ|CJJ|JJ[GF]|ISO(?:/(?:IEC|TS|TR))?(?:[ -](?:IEC|TS|TR))?|IEC|IEEE|DIN(?: EN)?(?: ISO)?|ASTM|ANSI"
    r"|NFPA|JIS|RFC|ITU-T|ETSI|NIST SP|FIPS|PEP|JSR|EN ISO|BS EN|T/[A-Z]{2,8}|[A-Z]{2}/T|DB\d{2}(?:/T)?"
)
_STANDARDS_WITH_YEAR = r"EN|BS|UL|HJ|DL|YY|YD|JB|SH|SY|NB|HG|QB|TB|LY|NY|SJ|GA|WS|MH|JR|Q/[A-Z0-9]{2,8}"
_STANDARD_HINTS = ("GB", "JG", "CJ", "JJ", "ISO", "IE", "DIN", "AS", "AN", "NF", "JI", "RFC", "ITU", "ET", "NIS", "FIP",
                   "PEP", "JSR", "EN ", "BS ", "T/", "/T", "DB")  # fmt: skip
_CODE_WORD = r"(?:[Cc]odes?|CODE|[Nn]umber|NUMBER|[Nn]o\.?|NO\.?|#)"
_CODE_END = r"(?![A-Za-z0-9_%]|[.,]\d|-\d)"
_ORDINAL = rf"(?:\d{{1,4}}|{NUMERAL})"
_PRODUCT = r"(?:[A-Z][a-z]*[A-Z][A-Za-z]*|[a-z]+[A-Z][A-Za-z]*|Python|Java|Ubuntu|Debian|Windows|Android|Node\.js|Go|Rust|Spring|Redis|Kafka|Flink|Spark|Elasticsearch|Lucene|Arthas|Kubernetes|Docker|Nginx|Oracle|Linux|Perl|Ruby|Swift|Scala)"
_VERSION_TAIL = r"(?:[-.](?:rc|RC|beta|alpha|pre|GA|SNAPSHOT|RELEASE|Final|LTS|DMR|M|b|dev|nightly|patch|build|hotfix)[.-]?\d*)*"


def _p(kind: IdentifierKind, form: str, regex: str, *needs: str, digits: bool = True) -> Pattern:
    return Pattern(kind, form, re.compile(regex, re.MULTILINE), needs, digits)


PATTERNS: tuple[Pattern, ...] = (
    _p("url", "url", r"(?<![A-Za-z0-9])(?:https?|ftp|file|ssh|s3|gs|git|redis|mysql|tcp|ws|wss|spiffe|jdbc:[a-z0-9]+)://[^\s<>\"'`|\\^\u2e80-\uffff]*[A-Za-z0-9/_}=&#-]", "://", digits=False),
    _p("path", "windows", r"(?<![A-Za-z0-9])(?:[A-Za-z]:\\{1,2}|\\\\[A-Za-z0-9_.-]+\\)(?:[^\s\"'<>|,;:*?()`\u3000-\uffff]*[A-Za-z0-9_}%])?", "\\", digits=False),
    _p("path", "absolute", rf"(?<![A-Za-z0-9_/.\-~:<>)\]}}%*])~?/(?:{_NAME}+/)+{_NAME}*[A-Za-z0-9_}}*]/?(?![A-Za-z0-9_])", "/", digits=False),
    _p("path", "absolute", r"(?:^|(?<=[\s\"'`(\[]))~?/[A-Za-z][A-Za-z0-9_.@-]+[A-Za-z0-9](?![A-Za-z0-9_/])", "/", digits=False),
    _p("path", "relative", rf"(?<![A-Za-z0-9_./\\@-])\.{{0,2}}/?(?:{_NAME}+/)+[A-Za-z0-9_.@+-]+\.(?:{_FILE_TYPES})(?![A-Za-z0-9_/])", "/", digits=False),
    _p("path", "file", rf"(?<![A-Za-z0-9_./\\@-])[A-Za-z0-9_][A-Za-z0-9_.@+-]*\.(?:{_FILE_TYPES})(?![A-Za-z0-9_]|\.[A-Za-z0-9]|\()", ".", digits=False),
    _p("path", "relative", r"(?<![A-Za-z0-9_./\\@-])\.{1,2}/[A-Za-z0-9_.@+/-]*[A-Za-z0-9_](?![A-Za-z0-9_])", "./", digits=False),
    _p("option", "long", r"(?<![A-Za-z0-9_\-])--[A-Za-z][A-Za-z0-9]*(?:[-_.][A-Za-z0-9]+)*", "--", digits=False),
    _p("option", "jvm", r"(?<![A-Za-z0-9_\-])-(?:XX:[+-]?[A-Za-z0-9]+|X[a-z]{2,}(?::[a-z]+)?(?P<value>\d+[kKmMgG])?|D[A-Za-z][A-Za-z0-9_.-]*[A-Za-z0-9]|javaagent|agentlib)(?![A-Za-z0-9_])", "-", digits=False),
    _p("option", "short", r"(?:^|(?<=[\s`'\"(\[|,、\u4e00-\u9fff]))-[A-Za-z](?![A-Za-z0-9_\-.'])", "-", digits=False),
    _p("option", "word", r"(?:(?<=[`'\"])|(?<=[\u4e00-\u9fff] ))-[a-z][a-z0-9]+(?:[-_][a-z0-9]+)*(?![A-Za-z0-9_])", "-", digits=False),
    _p("regulation", "cve", r"(?<![A-Za-z0-9])CVE-\d{4}-\d{4,7}(?!\d)", "CVE"),
    _p("regulation", "standard", rf"(?<![A-Za-z0-9/_-])(?:{_STANDARDS})[ -]?(?:[A-Z] ?)?\d{{1,6}}(?:\.\d+)*[a-z]{{0,2}}(?:-\d{{1,3}}(?!\d))*(?: ?[-:—–] ?(?:19|20)\d{{2}})?(?![A-Za-z0-9_])"),
    _p("regulation", "standard", rf"(?<![A-Za-z0-9/_-])(?:{_STANDARDS_WITH_YEAR})[ -]?\d{{2,6}}(?:\.\d+|-\d{{1,3}}(?!\d))* ?[-:—–] ?(?:19|20)\d{{2}}(?![A-Za-z0-9_])", "-", ":", "—", "–"),
    _p("regulation", "document", r"[\u4e00-\u9fff]{2}[〔\[(【] ?(?:19|20)\d{2} ?[〕\])】] ?第? ?\d{1,5} ?号", "号"),
    _p("regulation", "article", rf"第 ?(?P<code>{_ORDINAL}) ?条(?:之(?P<sub>{NUMERAL}))?(?!记录|数据|消息|语句|命令|信息|评论|日志|线)", "条", digits=False),
    _p("regulation", "article", r"(?<![A-Za-z])(?:Article|Art\.) (?P<code>\d{1,4})(?![\d.]*[A-Za-z0-9])", "Art"),
    _p("regulation", "paragraph", r"§ ?(?P<code>\d+(?:\.\d+)*)", "§"),
    _p("regulation", "paragraph", r"(?<![A-Za-z])(?:[Ss]ection|[Cc]lause|[Ss]ec\.) (?P<code>\d+(?:\.\d+)+)(?![A-Za-z0-9])", "ec", "lause"),
    _p("regulation", "paragraph", r"(?:第 ?)?(?<![\d.])(?P<code>\d{1,2}(?:\.\d{1,2})+) ?[节条款](?!能|点|约|奏|目|件)", "节", "条", "款"),
    _p("section", "paragraph", r"(?<![A-Za-z])(?:Section|Clause) (?P<code>\d{1,3})(?![\d.]*[A-Za-z0-9])", "Section", "Clause"),
    _p("section", "chapter", r"(?<![A-Za-z])(?:Chapter|Appendix|Annex) (?P<code>\d{1,3}|[A-Z])(?![A-Za-z0-9])", "C", "A", digits=False),
    _p("section", "chapter", rf"第 ?(?P<code>{_ORDINAL}) ?(?P<level>[章节编款])(?!课|约|能|点)", "第", digits=False),
    _p("error", "sqlstate", r"SQLSTATE ?[:=\[(]? ?(?P<code>[0-9A-Z]{5})(?![A-Za-z0-9])", "SQLSTATE", digits=False),
    _p("error", "number", rf"(?<![A-Za-z])(?:[Ee]rror|ERROR|[Ee]rr|ERR|[Ee]rrno|ERRNO)(?:[ _]?{_CODE_WORD})? ?[:=(\[]? {{0,3}}(?P<code>\d{{3,6}}){_CODE_END}(?! ?(?:次|个|条|行|times|rows|ms|s\b))", "rr", "RR"),
    _p("error", "number", rf"(?<![A-Za-z])(?:[Ee]rror|ERROR|[Ee]xit|[Rr]eturn|[Ss]tatus|[Rr]esponse|HTTP status|[Ff]ault|[Aa]larm)[ _]?{_CODE_WORD} ?(?:is|was|of|[:=(\[])? {{0,3}}(?P<code>-?\d{{1,6}}){_CODE_END}", "ode", "ODE", "um", "UM", "o.", "O.", "#"),
    _p("error", "number", rf"(?<![A-Za-z])HTTP(?:/[123](?:\.\d)?)? (?P<code>[1-5]\d\d){_CODE_END}", "HTTP"),
    _p("error", "number", rf"(?:错误|出错|报错|异常|状态|返回|退出|响应|故障|告警|报警)(?:代码|码|编号|编码|号)(?:为|是|:|=)? {{0,3}}[`(\[\"']?(?P<code>-?\d{{1,6}}){_CODE_END}", "码", "号"),
    _p("error", "number", rf"(?:错误|报错)(?:为|是|:)? {{0,3}}[`(\[]?(?P<code>\d{{3,6}}){_CODE_END}(?! ?(?:次|个|条|行|天|秒|分|万|多))", "错"),
    _p("error", "number", r"(?<![A-Za-z0-9_.,-])(?P<code>\d{3,6}) ?(?:错误|报错|状态码|异常|error\b|Error\b)", "错", "异常", "状态码", "rror"),
    _p("error", "number", r"(?<=\[)[a-z]+:(?P<code>\d{3,6})(?=\])", "["),
    _p("error", "hex", r"(?<![A-Za-z0-9])0[xX][0-9A-Fa-f]{4,16}(?![A-Za-z0-9_])", "0x", "0X"),
    _p("error", "coded", r"(?<![A-Za-z0-9_-])(?:E|ERR|ORA|PLS|TNS|AADSTS|SQL)-?\d{3,6}[A-Z]?(?![A-Za-z0-9_]|-[A-Za-z0-9])"),
    _p("version", "v", rf"(?<![A-Za-z0-9_.])[vV]\d{{1,4}}(?:\.(?:\d+|[xX](?![A-Za-z])))*{_VERSION_TAIL}(?![A-Za-z0-9_])", "v", "V"),
    _p("address", "ip", r"(?<![\w.])(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}(?::\d{2,5}|/\d{1,2})?(?![\w]|\.\d)", "."),
    _p("address", "host", r"(?<![A-Za-z0-9_.])localhost(?::\d{2,5})(?!\d)", "localhost:"),
    _p("version", "numbers", rf"(?<![A-Za-z0-9_.,-])\d{{1,4}}(?:\.\d{{1,4}}){{2,3}}{_VERSION_TAIL}(?![A-Za-z0-9_]|\.\d)", "."),
    _p("version", "numbers", r"(?<![A-Za-z0-9_.])\d{1,3}(?:\.\d{1,3})?\.[xX](?![A-Za-z0-9_])", ".x", ".X"),
    _p("version", "numbers", rf"(?<![A-Za-z])(?:版本|[Vv]ersions?|[Vv]er\.)(?:号)? ?[:为是]? ?(?P<name>\d{{1,4}}(?:\.\d{{1,4}})*{_VERSION_TAIL})(?![A-Za-z0-9_%]|\.\d| ?(?:个|次|之|条))", "版本", "ersion", "er."),
    _p("version", "numbers", r"(?<![A-Za-z0-9_.,-])(?P<name>\d{1,3}\.\d{1,3})(?= ?(?:及(?:以上|之后|更高))?的? ?(?:版本|版(?![本\w])|LTS|GA|release))", "版", "LTS", "GA", "release"),
    _p("version", "numbers", rf"(?<![A-Za-z0-9_-]){_PRODUCT} (?P<name>\d{{1,2}}\.\d{{1,3}})(?![A-Za-z0-9_%]|\.\d| ?(?:%|倍|万|亿|[a-zA-Z]{{1,3}}\b(?<!or)(?<!and)(?<!is)(?<!on)(?<!in)))", "."),
)  # fmt: skip

# One Latin word that can be a designation: it holds a digit, a separator or an inner capital.
WORD = re.compile(
    r"(?<![A-Za-z0-9_])@{0,2}(?=[A-Za-z_]*(?:[0-9_.:-]|[a-z][A-Z]))[A-Za-z_][A-Za-z0-9_]*(?:(?:[.-]|::)[A-Za-z0-9_]+)*"
)
# 2N2222, 74HC595, 12700K, 3080Ti: digits first, so that a unit (500MB) must be ruled out by the caller.
DIGITS_FIRST = re.compile(
    r"(?<![A-Za-z0-9_.,:/-])\d{1,5}[A-Z][A-Za-z]{0,3}(?:\d{1,5}[A-Z]{0,2})?(?![A-Za-z0-9_])"
)
# "PPR 9087": capitals, one space, digits.
SPACED = re.compile(
    r"(?<![A-Za-z0-9_-])(?P<letters>[A-Z]{2,6}|[a-z]{2,5}) ?-? ?(?P<digits>\d{2,6}[A-Z]{0,3})(?![A-Za-z0-9_%]|[.,:/-]\d)"
)
# A kebab name is told from a compound adjective by its backticks, or by a noun for settings beside it.
QUOTED_KEBAB = re.compile(r"(?<=`)[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)+(?=`)")
KEBAB_SETTING = re.compile(
    r"(?<![A-Za-z0-9_.-])[a-z][a-z0-9]*(?:-[a-z0-9]+)+(?= ?(?:参数|配置项|选项|变量|字段|命令|parameter|setting|option|flag|variable)(?![A-Za-z]))"
)
CALL = re.compile(r"(?<![A-Za-z0-9_.-])(?P<name>[A-Za-z][A-Za-z0-9]{2,})(?=\(\))")
