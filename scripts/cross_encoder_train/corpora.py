"""What is learnt from: train splits of sets whose licence lets a model be shipped, and headings of documentation."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from dataset_build import pages, paragraphs, writing
from dataset_build.model import DataSet, Document, Gold, Question, name_of
from service.evaluation.splits import split_of

PREFIX = "train"
SECTION = (60, 2000)  # code points of a section that its heading can stand for
_MARKUP = re.compile(r"<[^>]+>|`")
_SAYS_SOMETHING = re.compile(r"[\u4e00-\u9fff]{4,}|[A-Za-z]{3,}.*[\u4e00-\u9fff]{2,}")


def tidb_headings(data: Path) -> DataSet:
    """Headings of TiDB's pages as questions, gold the section's body. Only pages of the train split."""
    root = data / "tidb_docs_cn"
    documents, questions = {}, {}
    for file in sorted(root.rglob("*.md")):
        path = file.relative_to(root).as_posix()
        if path.startswith(".") or split_of(path) != "train":
            continue
        text = file.read_text(encoding="utf-8-sig")
        for _, written, start, end in pages.sections(text):
            heading, body = _MARKUP.sub("", written).strip(), text[start:end].strip()
            if SECTION[0] <= len(body) <= SECTION[1] and _SAYS_SOMETHING.search(heading):
                name = name_of(body)
                documents[name] = Document(name, body)
                # Of many sections with one heading ("See also") none is what is asked for.
                questions[heading] = (
                    None
                    if heading in questions
                    else Question(f"{path}#{start}", heading, path, (Gold(name),))
                )
    kept = tuple(question for question in questions.values() if question)
    return DataSet("tidb-headings", 1, tuple(documents.values()), kept)


# CC BY-SA 3.0 (DRCD, TiDB), CC BY-SA 4.0 (CMRC, XQuAD, SQuAD 2.0), Apache-2.0 (arthas). Not here: sets without a
# licence (CJRC), for evaluation only (RGB), of the GPL (manual pages), of unclear terms (Cranfield, CACM).
LEARNT: Mapping[str, Callable[[Path], DataSet]] = {
    "cmrc": paragraphs.cmrc,
    "drcd": paragraphs.drcd,
    "xquad-zh": paragraphs.xquad_zh,
    "xquad-en": paragraphs.xquad_en,
    "xquad-zh-en": paragraphs.xquad_zh_en,
    "xquad-en-zh": paragraphs.xquad_en_zh,
    "squad2": paragraphs.squad2,
    "tidb-faq": pages.tidb_faq,
    "tidb-headings": tidb_headings,
    "arthas-zh-en": pages.arthas_zh_en,
    "arthas-en-zh": pages.arthas_en_zh,
}


def train_part(data_set: DataSet, most: int) -> DataSet:
    """Its answerable questions of the train split, at most so many, and the documents that hold their gold: a negative
    is never a document of another split."""
    questions = [q for q in writing.by_split(data_set)["train"] if q.gold][:most]
    needed = {gold.document_id for question in questions for gold in question.gold}
    documents = tuple(d for d in data_set.documents if d.document_id in needed)
    return replace(data_set, documents=documents, questions=tuple(questions))


def write_corpora(data: Path, home: Path, most: int) -> None:
    """corpus.jsonl and cases.train.jsonl of each set, and its index in an embedded engine of its own; what is there
    already is left."""
    for name, make in LEARNT.items():
        folder = home / "sets" / name
        if not (folder / "done").exists():
            part = train_part(pinned(make(data)), most)
            writing.write(part, folder, None, None)
            index(home / "index", folder / "corpus.jsonl", name)
            (folder / "done").touch()
            print(f"{name}: {len(part.questions)} questions, {len(part.documents)} documents", flush=True)


def pinned(data_set: DataSet) -> DataSet:
    """The set, if it is the one that splits.json pins; one that is only learnt from is not pinned."""
    known = writing.pinned()
    if data_set.name in known and known[data_set.name] != writing.fingerprint(data_set):
        raise ValueError(f"{data_set.name} is not the set that scripts/dataset_build/splits.json pins")
    return data_set


def index(folder: Path, corpus: Path, name: str) -> None:
    """The corpus in an embedded engine in that folder, whatever engine the caller's service uses."""
    own = {
        k: v
        for k, v in os.environ.items()
        if not k.startswith("ATTEST_") and k not in ("ES_URL", "REDIS_URL")
    }
    own |= {"ATTEST_ENGINE": "embedded", "ATTEST_DATA_DIR": str(folder), "ATTEST_PREFIX": PREFIX}
    for arguments in (("ingest", str(corpus), "--corpus", name), ("build", name, "--publish")):
        command = [sys.executable, "-m", "service.cli", *arguments]
        done = subprocess.run(command, check=False, env=own, capture_output=True, text=True)
        if done.returncode != 0:
            raise ValueError(f"{name} could not be indexed:\n{done.stderr}")
