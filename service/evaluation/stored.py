"""A run kept as a file: everything that made it, its figures, and each case's values, so that two can be compared.

Holds caseIds and numbers; no question, no answer and no text of a document.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from service.errors import InvalidInput
from service.evaluation.cases import CaseSet
from service.evaluation.runs import CaseResult, figures, measures_of
from service.evaluation.splits import RULE
from service.evaluation.statistics import Difference, paired

FORMAT = 1


def to_json(
    results: Sequence[CaseResult], case_set: CaseSet, corpus: str, embedder: str, seconds: float
) -> dict[str, Any]:
    """The run as JSON. Raises InvalidInput where the cases did not all speak of one generation: a build that went
    live meanwhile makes two runs of one."""
    answers = [result.answer for result in results]
    generations = sorted({a.retrieval.generation for a in answers})
    if len(generations) != 1:
        raise InvalidInput(f"The run speaks of {len(generations)} generations: {', '.join(generations)}.")
    return {
        "format": FORMAT,
        "made": {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": round(seconds, 1),
            "corpus": corpus,
            "generation": generations[0],
            "corpusVersion": answers[0].retrieval.corpus_version,
            "engine": answers[0].engine,
            "embedder": embedder,
            "profile": answers[0].profile,
            "code": _code(),
            "caseSet": case_set.name,
            "caseSetVersion": case_set.version,
            "caseSetSha256": case_set.sha256,
            "split": case_set.split,
            "splitRule": RULE if case_set.split else None,
            "asked": len(results),
        },
        "figures": {name: asdict(bucket) for name, bucket in figures(results).items()},
        "cases": {result.case.case_id: _case(result) for result in results},
    }


def write(run: dict[str, Any], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(run, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def read(path: Path) -> dict[str, Any]:
    """Raises InvalidInput for anything but a stored run of this format."""
    try:
        run = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        run = None
    if not isinstance(run, dict) or run.get("format") != FORMAT:
        raise InvalidInput(f"{path.name} is no stored run of format {FORMAT}.")
    return run


def compare(first: dict[str, Any], second: dict[str, Any]) -> dict[str, dict[str, Difference]]:
    """Bucket → measure → the second run's difference from the first, over the same cases.

    Raises InvalidInput where the two did not ask the same cases of the same version: their means do not compare.
    """
    for field in ("caseSet", "caseSetVersion", "caseSetSha256", "split"):
        here, there = first["made"][field], second["made"][field]
        if here != there:
            raise InvalidInput(f"The runs are of different cases: {field} is {here} here and {there} there.")
    if first["cases"].keys() != second["cases"].keys():
        raise InvalidInput("The runs asked different cases of the set; ask the same of both.")
    buckets: dict[str, list[str]] = {}
    for name, case in first["cases"].items():
        buckets.setdefault(case["bucket"], []).append(name)
    if len(buckets) == 1:
        buckets.clear()
    buckets = {"all": list(first["cases"])} | {b: own for b, own in buckets.items() if b != "all"}
    return {bucket: _differences(first["cases"], second["cases"], names) for bucket, names in buckets.items()}


def _differences(
    first: dict[str, Any], second: dict[str, Any], names: Sequence[str]
) -> dict[str, Difference]:
    measures = dict.fromkeys(measure for name in names for measure in first[name]["values"])
    told = {}
    for measure in measures:
        of = [n for n in names if measure in first[n]["values"] and measure in second[n]["values"]]
        if of:
            values = [[run[n]["values"][measure] for n in of] for run in (first, second)]
            told[measure] = paired(*values)
    return told


def _case(result: CaseResult) -> dict[str, Any]:
    return {
        "bucket": result.case.bucket,
        "status": result.answer.status,
        "reason": result.answer.reason,
        "degraded": list(result.answer.degraded),
        "ms": round(result.seconds * 1000, 1),
        "values": {name: round(value, 6) for name, value in measures_of(result).items()},
    }


def _code() -> str:
    """The commit of the checkout the code runs from, marked where it was changed; else the installed version."""
    folder = Path(__file__).parent

    def git(*arguments: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=10, check=True
        )
        return done.stdout.strip()

    try:
        git(
            "ls-files", "--error-unmatch", Path(__file__).name
        )  # an installation may lie in somebody's repository
        commit = git("rev-parse", "HEAD")
        return f"{commit}+changes" if git("status", "--porcelain", "--", str(folder.parent)) else commit
    except (OSError, subprocess.SubprocessError):
        pass
    try:
        return version("attest")
    except PackageNotFoundError:
        return "unknown"
