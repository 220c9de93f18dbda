"""What operators see as JSON: generations and jobs, over HTTP and from `--json` the same. Pure."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from service.domain.jobs import Job
from service.domain.reviews import Review
from service.offline.overview import Row


def generation_json(row: Row) -> dict[str, Any]:
    """One line of the table."""
    manifest = row.manifest
    failed = [gate["name"] for gate in manifest.gates if not gate["passed"]]
    return {
        "generation": manifest.generation,
        "corpus": manifest.corpus,
        "corpusVersion": manifest.corpus_version,
        "state": manifest.state,
        "documents": len(manifest.documents),
        "chunks": manifest.chunks,
        "sizeBytes": row.size,
        "aliases": list(row.aliases),
        "profile": str(manifest.corpus_profile.get("profile") or ""),
        "processors": asdict(manifest.processors),
        "gates": {
            "passed": len(manifest.gates) - len(failed),
            "failed": failed,
            "forced": [gate["name"] for gate in manifest.gates if gate.get("forced")],
        },
        "createdAt": manifest.created_at,
        "updatedAt": manifest.updated_at,
        "updatedBy": manifest.updated_by,
        "replaced": manifest.replaced,
        "reason": manifest.reason,
    }


def manifest_json(row: Row) -> dict[str, Any]:
    """The whole manifest but its documents, which are many."""
    manifest = row.manifest
    return {
        **generation_json(row),
        "dimension": manifest.dimension,
        "vectorIndex": manifest.vector_index,
        "corpusProfile": manifest.corpus_profile,
        "timings": manifest.timings,
        "checks": manifest.checks,
        "gateResults": manifest.gates,
        "history": manifest.history,
    }


def documents_json(row: Row, after: str, size: int) -> dict[str, Any]:
    """A page of the documents, by documentId; `next` is the `after` of the page that follows, if one does."""
    manifest = row.manifest
    left = sorted(name for name in manifest.documents if name > after)
    page = left[:size]
    return {
        "documents": [
            {
                "documentId": name,
                "documentVersion": manifest.documents[name],
                "chunks": manifest.chunks_per_document.get(name, 0),
            }
            for name in page
        ],
        "next": page[-1] if len(left) > size else None,
    }


def job_json(job: Job) -> dict[str, Any]:
    """A job as `as_seen` tells it."""
    return {
        "jobId": job.job_id,
        "corpus": job.corpus,
        "kind": job.kind,
        "state": job.state,
        "who": job.who,
        "arguments": job.arguments,
        "createdAt": job.created_at,
        "updatedAt": job.updated_at,
        "step": job.step,
        "done": job.done,
        "total": job.total,
        "cancel": job.cancel,
        "result": job.result,
        "reason": job.reason,
        "log": list(job.log),
    }


def review_json(review: Review) -> dict[str, Any]:
    """A review for those who may read it; the text of its sources is at `/v1/sources`."""
    return {
        "reviewId": review.review_id,
        "at": review.at,
        "corpus": review.corpus,
        "corpusVersion": review.corpus_version,
        "generation": review.generation,
        "traceId": review.trace_id,
        "claim": review.undecided.claim,
        "reason": review.undecided.reason,
        "citations": [
            {
                "documentId": cited.document_id,
                "documentVersion": cited.document_version,
                "startOffset": cited.span.start,
                "endOffset": cited.span.end,
            }
            for cited in review.undecided.citations
        ],
        "state": review.state,
        "markedBy": review.marked_by,
        "markedAt": review.marked_at,
        "note": review.note,
    }
