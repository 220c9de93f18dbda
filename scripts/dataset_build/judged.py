"""Retrieval sets with judgments: several documents may be relevant, none has a span. Their split is by question."""

from __future__ import annotations

import re
import tarfile
from collections import defaultdict
from html import unescape
from pathlib import Path

from dataset_build.model import DataSet, Document, Gold, Question

_CITED = re.compile(r"^\d+\t\d+\t\d+$", re.MULTILINE)  # CACM's lists of who cites whom


def cranfield(data: Path) -> DataSet:
    """Judgments number the queries 1 to 225 by their place in the file, not by their own number."""
    folder = data / "cranfield"
    documents = []
    for entry in re.findall(r"<doc>(.*?)</doc>", _read(folder / "cran.all.1400.xml"), re.DOTALL):
        number, title, text = (_field(entry, name) for name in ("docno", "title", "text"))
        if text:
            documents.append(Document(number, text, title=title))
    queries = re.findall(r"<title>(.*?)</title>", _read(folder / "cran.qry.xml"), re.DOTALL)
    asked = {str(n): " ".join(unescape(q).split()) for n, q in enumerate(queries, 1)}
    return _judged("cranfield", documents, asked, folder / "cranqrel.trec.txt")


def cacm(data: Path) -> DataSet:
    folder = data / "cacm"
    documents = []
    with tarfile.open(folder / "cacm.tar.gz") as archive:
        for member in archive.getmembers():
            file = archive.extractfile(member) if member.name.endswith(".html") else None
            if file is None:
                continue
            page = re.sub(r"<[^>]+>", "", file.read().decode("utf-8", "replace"))
            text = _CITED.sub("", unescape(page)).strip()
            documents.append(Document(Path(member.name).stem, text, title=text.partition("\n\n")[0]))
    topics = re.findall(
        r"<DOCNO>\s*(\d+)\s*</DOCNO>(.*?)</DOC>", _read(folder / "topics.cacm.txt"), re.DOTALL
    )
    asked = {number: " ".join(unescape(text).split()) for number, text in topics}
    return _judged("cacm", documents, asked, folder / "qrels.cacm.txt")


def miracl_zh(data: Path) -> DataSet:
    """Questions without their corpus: none can be answered, whatever other corpus they are asked of."""
    lines = _read(data / "miracl_zh/topics.miracl-v1.0-zh-dev.tsv").splitlines()
    pairs = [line.split("\t", 1) for line in lines if "\t" in line]
    questions = [Question(number, text, number, bucket="out-of-corpus") for number, text in pairs]
    return DataSet("miracl-zh", 1, (), tuple(questions))


def _judged(name: str, documents: list[Document], asked: dict[str, str], judgments: Path) -> DataSet:
    known = {document.document_id for document in documents}
    relevant: dict[str, list[str]] = defaultdict(list)
    for line in _read(judgments).splitlines():
        number, _, document, grade = line.split()
        if int(grade) > 0 and document in known:
            relevant[number].append(document)
    questions = [
        Question(f"{name}-{number}", text, f"{name}-{number}", tuple(map(Gold, relevant[number])))
        for number, text in asked.items()
        if relevant[number]
    ]
    return DataSet(name, 1, tuple(documents), tuple(questions))


def _field(entry: str, name: str) -> str:
    found = re.search(rf"<{name}>(.*?)</{name}>", entry, re.DOTALL)
    return unescape(found[1]).strip() if found else ""


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")
