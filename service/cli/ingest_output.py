"""What `attest ingest` tells of what it did, as text and as JSON."""

from __future__ import annotations

import unicodedata
from typing import Any

import click

from service.cli.shared import peak_memory_mib
from service.offline.ingest.jsonl import JSONL
from service.offline.ingest.report import IngestReport


def report_to_json(corpus: str, report: IngestReport) -> dict[str, Any]:
    return {
        "corpus": corpus,
        "added": report.added,
        "updated": report.updated,
        "returned": report.returned,
        "unchanged": len(report.unchanged),
        "refused": [{"source": source, "reason": reason} for source, reason in report.refused],
        "unfinished": [{"documentId": name, "reason": reason} for name, reason in report.unfinished],
        "gone": report.gone,
        "deleted": report.deleted,
        "stopped": report.stopped or None,
        "sameContent": [{"documentId": new, "as": other} for new, other in report.same],
        "renamed": [{"documentId": new, "from": old} for new, old in report.renamed],
        "encodings": dict(report.encodings),
        "otherEncodings": [
            {"documentId": name, "encoding": encoding, "confidence": confidence}
            for name, encoding, confidence in report.other_encodings
        ],
        "warnings": [{"documentId": name, "warning": warning} for name, warning in report.warnings],
        "otherKinds": dict(report.survey.other_kinds.most_common()),
        "hidden": report.survey.hidden,
    }


def print_report(corpus: str, report: IngestReport, seconds: float) -> None:
    more = {"returned": report.returned, "deleted": report.deleted}
    counts = "".join(f"{len(ids)} {what}, " for what, ids in more.items() if ids)
    click.echo(
        f"{corpus}: {len(report.added)} added, {len(report.updated)} updated, {len(report.unchanged)} unchanged, "
        f"{counts}{len(report.refused)} refused in {seconds:.1f} s, peak memory {peak_memory_mib():.0f} MiB"
    )
    renamed_from = {old for _, old in report.renamed}
    for new, old in report.renamed:
        still = "" if old in report.deleted else f"; {old} is still in the corpus"
        _say(f"{new}: renamed from {old}{still}")
    for new, other in report.same:
        _say(f"{new}: same content as {other}")
    for name, encoding, confidence in report.other_encodings:
        _say(f"{name}: read as {encoding} (confidence {confidence:g})")
    for name, warning in report.warnings:
        _say(f"{name}: {warning}")
    passed_over = report.survey.other_kinds
    if passed_over:
        kinds = ", ".join(f"{kind} {count}" for kind, count in passed_over.most_common(8))
        more_kinds = ", …" if len(passed_over) > 8 else ""
        what = _number(passed_over.total(), "file of another kind was", "files of other kinds were")
        _say(f"{what} passed over: {kinds}{more_kinds}")
    if not passed_over.keys().isdisjoint(JSONL):
        _say(
            f"a JSONL of documents must be named by itself: attest ingest FOLDER/corpus.jsonl --corpus {corpus}"
        )
    if report.survey.hidden:
        what = _number(report.survey.hidden, "hidden file or folder was", "hidden files and folders were")
        _say(f"{what} passed over")
    _print_gone(report, renamed_from)
    for source, reason in report.refused:
        _say(f"refused {source}: {reason}", err=True)
    for document_id, reason in report.unfinished:
        _say(
            f"{document_id}: its new rights hold, but not every chunk carries them yet ({reason}); "
            f"run `attest access resume {corpus}`",
            err=True,
        )


def _print_gone(report: IngestReport, renamed_from: set[str]) -> None:
    if report.stopped:
        _say(report.stopped, err=True)
    for name in report.deleted:
        if name not in renamed_from:
            _say(f"deleted {name}: its file is gone")
    left = len(report.gone) - len(report.deleted)
    if left and not report.stopped:
        what = _number(
            left,
            "document is still in the corpus though its file is gone",
            "documents are still in the corpus though their files are gone",
        )
        _say(f"{what}; --delete-missing deletes {'it' if left == 1 else 'them'}")


def _number(count: int, one: str, more: str) -> str:
    return f"{count} {one if count == 1 else more}"


def _say(line: str, *, err: bool = False) -> None:
    """A line of the report. Names come from files: what would move the cursor or turn the line is spelt out."""
    hidden = ("Cc", "Cf", "Cs", "Zl", "Zp")
    click.echo(
        "  "
        + "".join(
            c.encode("unicode_escape").decode() if unicodedata.category(c) in hidden else c for c in line
        ),
        err=err,
    )
