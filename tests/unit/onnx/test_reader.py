"""The shipped reader: where a passage answers and that another does not, over the embedder that it was trained on."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.bootstrap import EMBEDDERS, READERS
from service.domain.documents import Span
from service.domain.reading import Reading
from service.errors import Misconfigured
from service.onnx.manifest import ManifestError
from service.onnx.reader import OnnxReader

FOLDER = READERS / "e5-reader"
RETRIES = "系统每天备份一次。同一任务最多自动重试三次，每次间隔三十秒。日志保留一年。"
WARRANTY = (
    "The library closes at five. The warranty lasts 24 months from the date of purchase. Parts are free."
)
LEAVE = "员工每年有十天带薪年假，须提前一周申请。"
# Processors with other integer instructions round an int8 model otherwise.
TOLERANCE = 0.3
GOLDEN = {
    ("任务最多重试几次？", RETRIES): 3.23,
    ("任务最多重试几次？", LEAVE): -3.21,
    ("How long is the warranty?", WARRANTY): 0.60,
    ("How long is the warranty?", RETRIES): -3.77,
    ("谁发明了电话？", LEAVE): -4.09,
}


@pytest.fixture(scope="module")
def reader() -> OnnxReader:
    return OnnxReader(FOLDER, EMBEDDERS, threads=1)


def part(passage: str, piece: str) -> Span:
    start = passage.index(piece)
    return Span(start, start + len(piece))


def test_the_logits_are_those_of_the_day_it_was_exported(reader: OnnxReader) -> None:
    found = {pair: reader.read(*pair).answers for pair in GOLDEN}
    assert found == pytest.approx(GOLDEN, abs=TOLERANCE)


@pytest.mark.parametrize(
    ("question", "passage", "answer", "others"),
    [
        (
            "任务最多重试几次？",
            RETRIES,
            "同一任务最多自动重试三次，",
            ["系统每天备份一次。", "日志保留一年。"],
        ),
        (
            "How long is the warranty?",
            WARRANTY,
            "The warranty lasts 24 months from the date of purchase.",
            ["The library closes at five.", "Parts are free."],
        ),
        ("Ｈｏｗ　ｌｏｎｇ　ｉｓ　ｔｈｅ　ｗａｒｒａｎｔｙ？", WARRANTY, "24 months", ["Parts are free."]),
    ],
)
def test_the_place_that_answers_gets_most(
    reader: OnnxReader, question: str, passage: str, answer: str, others: list[str]
) -> None:
    reading = reader.read(question, passage)
    best = reading.within(part(passage, answer))
    assert best - 3 > max(reading.within(part(passage, other)) for other in others)


def test_a_long_passage_is_read_in_windows(reader: OnnxReader) -> None:
    answer = "保修期为 37 个月。"
    passage = "请按说明使用并妥善保管设备。" * 30 + answer
    reading = reader.read("保修期是多少个月？", passage)
    assert reading.within(part(passage, answer)) > 0 > reading.within(Span(0, 300))
    assert reading.answers > 0
    # What lies behind the last window is not read, and not guessed.
    beyond = "请按说明使用并妥善保管设备。" * 200 + answer
    assert reader.read("保修期是多少个月？", beyond).within(part(beyond, answer)) == -20.0


def test_what_was_read_is_remembered(reader: OnnxReader) -> None:
    assert reader.read("任务最多重试几次？", RETRIES) is reader.read("任务最多重试几次？", RETRIES)


@given(question=st.text(max_size=400), passage=st.text(max_size=120))
@settings(max_examples=40, deadline=None)
def test_every_text_can_be_read(reader: OnnxReader, question: str, passage: str) -> None:
    _holds(reader.read(question, passage), passage)


@pytest.mark.parametrize("question", ["", "🙂?" * 400, "𠮷" * 900, "保修" * 500])
def test_a_question_never_takes_the_room_of_the_passage(reader: OnnxReader, question: str) -> None:
    reading = reader.read(question, "🙂保修期为３７个月")
    _holds(reading, "🙂保修期为３７个月")
    assert len(reading.places) > 3


def _holds(reading: Reading, passage: str) -> None:
    assert len(reading.places) == len(reading.begins) == len(reading.ends)
    assert (reading.places >= 0).all() and (reading.places <= len(passage)).all()
    assert abs(reading.answers) < 50
    assert -100 < reading.within(Span(0, max(1, len(passage)))) < 100


# ── folders that do not hold ──────────────────────────────────────────────────────────────────────────


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FOLDER, tmp_path / "e5-reader"))


def change(folder: Path, old: str, new: str) -> None:
    path = folder / "manifest.toml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('kind = "reader"', 'kind = "cross-encoder"', "`kind`"),
        ("max_question = 300", "max_question = 0", "`max_question` must be a positive whole number"),
        ("[below]", "[under]", r"`\[below\]` must give the strings embedder, model, rows"),
        ('"model.onnx" =', '"other.onnx" =', r"`\[files\]` must give the sha256 of model.onnx"),
    ],
)
def test_a_manifest_that_does_not_hold_is_told(copied: Path, old: str, new: str, told: str) -> None:
    change(copied, old, new)
    with pytest.raises(ManifestError, match=told):
        OnnxReader(copied, EMBEDDERS)


def test_another_file_than_the_manifest_names_is_refused(copied: Path) -> None:
    with (copied / "model.onnx").open("ab") as file:
        file.write(b"x")
    with pytest.raises(ManifestError, match=r"model\.onnx"):
        OnnxReader(copied, EMBEDDERS)


def test_another_embedder_below_is_refused(copied: Path, tmp_path: Path) -> None:
    shipped = hashlib.sha256((EMBEDDERS / "multilingual-e5-small" / "model.onnx").read_bytes()).hexdigest()
    change(copied, shipped, "0" * 64)
    with pytest.raises(Misconfigured, match="reads on from another multilingual-e5-small"):
        OnnxReader(copied, EMBEDDERS)
    with pytest.raises(Misconfigured, match="reads on from another"):
        OnnxReader(FOLDER, tmp_path)


def test_rows_that_the_graph_has_not_are_told(copied: Path) -> None:
    change(copied, "/b/encoder/layer.5/", "/b/encoder/layer.99/")
    with pytest.raises(Misconfigured, match="cannot be read"):
        OnnxReader(copied, EMBEDDERS)
