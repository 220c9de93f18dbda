"""card.md of a trained model: what it learnt from, how the training went, how it ranks, what it cannot do."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

from cross_encoder_train.corpora import LEARNT

_TEMPLATE = Path(__file__).with_name("card.template.md")
COMPARISON = "comparison.md"
_ROWS = 12  # of the log's; all of it would be a hundred
_LICENCES = {
    "CC BY-SA 4.0": ("cmrc", "xquad-zh", "xquad-en", "xquad-zh-en", "xquad-en-zh", "squad2"),
    "CC BY-SA 3.0": ("drcd", "tidb-faq", "tidb-headings"),
    "Apache-2.0": ("arthas-zh-en", "arthas-en-zh"),
}


def write_card(home: Path, out: Path) -> None:
    """From the lists, the log and, once there is one, the comparison of a run."""
    counts = {name: _lines(home / "sets" / name / "lists.jsonl") for name in LEARNT}
    log = [json.loads(line) for line in (home / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    figures = home / COMPARISON
    told = figures.read_text(encoding="utf-8") if figures.exists() else "Not measured yet.\n"
    (out / "card.md").write_text(card(out.name, counts, log, told), encoding="utf-8")


def card(name: str, counts: Mapping[str, int], log: Sequence[Mapping[str, Any]], figures: str) -> str:
    licence = {own: licence for licence, names in _LICENCES.items() for own in names}
    every = max(1, len(log) // _ROWS)
    rows = [_mean(log[end - every : end]) for end in range(every, len(log) + 1, every)]
    return Template(_TEMPLATE.read_text(encoding="utf-8")).substitute(
        name=name,
        questions=sum(counts.values()),
        parallel=counts["xquad-zh-en"] + counts["xquad-en-zh"],
        sets="\n".join(f"| {own} | {count} | {licence[own]} |" for own, count in counts.items()),
        steps="\n".join(f"| {' | '.join(row)} |" for row in rows),
        figures=figures,
    )


def _mean(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    last = rows[-1]
    means = (sum(row[n] for row in rows) / len(rows) for n in ("loss", "goldFirst", "teacherGoldFirst"))
    return str(last["step"]), str(round(last["seconds"] / 60)), *(f"{mean:.3f}" for mean in means)


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())
