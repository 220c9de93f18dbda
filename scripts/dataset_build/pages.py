"""Documentation as question sets: TiDB's questions, arthas across its two languages, manual pages by description."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path

from dataset_build.model import DataSet, Document, Gold, Question, name_of

_HEADING = re.compile(r"^(#{1,6})[ \t]+(.+?)[ \t]*#*$", re.MULTILINE)
_FENCE = re.compile(r"^(```|~~~).*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)


def tidb_faq(data: Path) -> DataSet:
    """Question headings; the documents are the bodies of all such sections, without the heading."""
    entries = _faq(data)
    documents = {name_of(e["gold_section_text"]): e["gold_section_text"] for e in entries}
    questions = [
        Question(e["id"], e["query"], e["doc_path"], (Gold(name_of(e["gold_section_text"])),))
        for e in entries
    ]
    return DataSet("tidb-faq", 1, tuple(Document(n, t) for n, t in documents.items()), tuple(questions))


def tidb_docs(data: Path) -> DataSet:
    """The same questions over all pages. The headings that are the questions are taken out of the pages: else the very
    words that are asked would stand above the answer."""
    root = data / "tidb_docs_cn"
    asked: dict[str, list[dict[str, str]]] = {}
    for entry in _faq(data):
        asked.setdefault(entry["doc_path"], []).append(entry)
    documents, questions = [], []
    for file in sorted(root.rglob("*.md")):
        path = file.relative_to(root).as_posix()
        if path.startswith("."):
            continue
        text = file.read_text(encoding="utf-8-sig")
        for entry in asked.get(path, ()):
            text = re.sub(rf"^#+ +{re.escape(entry['query'])}[ \t]*\n", "", text, count=1, flags=re.MULTILINE)
        documents.append(Document(path, text, markdown=True))
        for entry in asked.get(path, ()):
            start = text.find(entry["gold_section_text"])
            if start >= 0:
                gold = Gold(path, start, start + len(entry["gold_section_text"]))
                questions.append(Question(entry["id"], entry["query"], path, (gold,)))
    return DataSet("tidb-docs", 1, tuple(documents), tuple(questions))


def _faq(data: Path) -> list[dict[str, str]]:
    lines = (data / "faq_pairs/tidb_cn.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def arthas_zh_en(data: Path) -> DataSet:
    """Headings of Chinese pages as questions, gold the same section of the English page."""
    return _arthas(data, "arthas-zh-en", asked="doc", shown="en/doc")


def arthas_en_zh(data: Path) -> DataSet:
    """Headings of English pages as questions, gold the same section of the Chinese page."""
    return _arthas(data, "arthas-en-zh", asked="en/doc", shown="doc")


def _arthas(data: Path, name: str, *, asked: str, shown: str) -> DataSet:
    """Pages are taken whose headings agree in number and level; a question names the page and the section."""
    root = data / "arthas_docs/site/docs"
    documents, questions = [], []
    for file in sorted((root / shown).glob("*.md")):
        text = file.read_text(encoding="utf-8-sig")
        documents.append(Document(file.name, text, markdown=True))
        other = root / asked / file.name
        if not other.is_file():
            continue
        here, there = sections(text), sections(other.read_text(encoding="utf-8-sig"))
        if [level for level, *_ in here] != [level for level, *_ in there] or not there:
            continue
        page = there[0][1]
        pairs = list(zip(there, here, strict=True))[1:]
        for number, ((_, heading, *_), (_, own, start, end)) in enumerate(pairs, 1):
            # The same words in both languages would be found as they stand.
            if heading != own and text[start:end].strip():
                gold = (Gold(file.name, start, end),)
                questions.append(Question(f"{file.stem}-{number}", f"{page}: {heading}", file.name, gold))
    return DataSet(name, 1, tuple(documents), tuple(questions))


def sections(text: str) -> list[tuple[int, str, int, int]]:
    """(level, heading, start, end) of each body up to the next heading of any level; fenced code holds none."""
    plain = _FENCE.sub(lambda found: " " * len(found[0]), text)
    found = list(_HEADING.finditer(plain))
    ends = [*(f.start() for f in found[1:]), len(text)]
    return [(len(f[1]), f[2], f.end(), end) for f, end in zip(found, ends, strict=False)]


def manpages_zh(data: Path) -> DataSet:
    """Commands by what they do: the question is the description in a page's NAME section, which the page then lacks."""
    root = data / "debian/manpages-zh/usr/share/man/zh_CN"
    documents, questions = [], []
    for file in sorted(root.glob("man[18]/*.gz")):
        name = file.name.removesuffix(".gz")
        sections = dict(_roff_sections(gzip.decompress(file.read_bytes()).decode("utf-8", "replace")))
        heading = next((h for h in sections if h.split()[:1] in (["NAME"], ["名称"], ["名字"])), None)
        if heading is None:
            continue
        said = re.split(r"\s+[-–—]+\s+", " ".join(sections.pop(heading).split()), maxsplit=1)
        body = "\n\n".join(f"{h}\n{t}" for h, t in sections.items() if t.strip())
        if len(body) < 80:
            continue
        command, _, section = name.rpartition(".")
        documents.append(Document(name, body, title=f"{command}({section})"))
        wanted = said[-1].strip(" .。") if len(said) == 2 else ""
        described = len(re.findall(r"[\u4e00-\u9fff]", wanted)) >= 4 and command.lower() not in wanted.lower()
        if described and command != "intro":
            questions.append(Question(name, f"用哪个命令可以{wanted}？", name, (Gold(name),)))
    return DataSet("manpages-zh", 1, tuple(documents), tuple(questions))


def _roff_sections(source: str) -> Iterator[tuple[str, str]]:
    """(heading, text) of each section, without the markup; what a macro does to the look is of no interest."""
    heading, lines = "", []
    for raw in source.splitlines():
        line = raw.replace("\\-", "-").replace("\\(em", "—").replace("\\(en", "–")
        line = re.sub(r"\\f(?:\[\w*\]|\(..|.)|\\[,/&|^]|\\s[+-]?\d", "", line)
        line = re.sub(r"\\\((?:l|r)q|\\\*\((?:l|r)q", '"', line).replace("\\e", "\\").replace("\\ ", " ")
        if line.startswith((".SH", ".Sh")):
            if heading:
                yield heading, "\n".join(lines).strip()
            heading, lines = line[3:].strip().strip('"'), []
        elif line.startswith(".Nd"):
            lines.append(" - " + line[3:].strip())
        elif found := re.match(r"^\.(?:[BI]|BR|RB|BI|IB|IR|RI|SM|SB|SS|Nm|Fl|Ar|TP)[ \t]+(.+)$", line):
            lines.append(" ".join(_words(found[1])))
        elif not line.startswith((".", "'")):
            lines.append(line)
    if heading:
        yield heading, "\n".join(lines).strip()


def _words(arguments: str) -> list[str]:
    return [quoted or bare for quoted, bare in re.findall(r'"([^"]*)"|(\S+)', arguments)]
