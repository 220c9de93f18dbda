"""The operators' routes: generations of a corpus, the work on them as jobs, and claims that could not be decided.

An operator looks after every corpus, of whatever tenant, and is told ids of documents, never a word of one; claims only
those of documents that they may see themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

from flask import Response, g, jsonify
from flask_openapi.blueprint import APIBlueprint
from flask_openapi.models.tag import Tag

from service.domain.jobs import Job
from service.domain.ports import Engine
from service.errors import InvalidInput, NotFound
from service.offline.generations.gates import Force
from service.offline.overview import Row, one, overview
from service.offline.work import as_seen, jobs_of, request_cancel
from service.online.reviewing import LONGEST_LIST, list_reviews, mark_review
from service.profiles.corpus import rollback_window_h
from service.settings import Settings
from service.web import launch, models
from service.web import ops_models as shapes
from service.web.auth import TokenChecker, require
from service.web.door import ERRORS, SECURITY, guard, needs
from service.web.limits import Limits
from service.web.metrics import Metrics
from service.web.present_ops import documents_json, generation_json, job_json, manifest_json, review_json

ROLE = "operator"


def blueprint(
    engine: Callable[[], Engine], settings: Settings, tokens: TokenChecker, limits: Limits, metrics: Metrics
) -> APIBlueprint:
    """The `/v1/ops` routes. The engine is asked for with the first request, not before."""
    ops = APIBlueprint("ops", __name__, url_prefix="/v1/ops", abp_security=SECURITY, abp_responses=ERRORS)
    guard(ops, tokens, limits, metrics, with_parameters={"documents", "reviews"}, without_body={"cancel"})
    about: dict[str, Any] = {"tags": [Tag(name="operations")], "description": needs(ROLE)}

    @ops.before_request
    def caller_is_an_operator() -> None:
        require(g.principal, ROLE)

    @ops.get(
        "/corpora/<corpus>/generations",
        summary="Generations of a corpus",
        responses={200: shapes.GenerationsOut},
        **about,
    )
    def generations(path: shapes.CorpusPath) -> Response:
        _known(path.corpus)
        return jsonify(generations=[generation_json(row) for row in overview(engine(), path.corpus)])

    @ops.get(
        "/corpora/<corpus>/generations/<generation>",
        summary="A generation's manifest",
        responses={200: shapes.ManifestOut},
        **about,
    )
    def generation(path: shapes.GenerationPath) -> Response:
        return jsonify(manifest_json(_row(path)))

    @ops.get(
        "/corpora/<corpus>/generations/<generation>/documents",
        summary="Documents of a generation, by pages",
        responses={200: shapes.DocumentsOut},
        **about,
    )
    def documents(path: shapes.GenerationPath, query: shapes.DocumentsQuery) -> Response:
        return jsonify(documents_json(_row(path), query.after, query.size))

    @ops.post(
        "/corpora/<corpus>/jobs",
        summary="Start a job",
        responses={202: shapes.JobOut, 409: models.ErrorOut},
        **about,
    )
    def start(path: shapes.CorpusPath, body: shapes.JobBody) -> tuple[Response, int]:
        who = f"user:{g.principal.subject}"
        profile = engine().registry.corpus_profile(path.corpus)
        given = _arguments(body, rollback_window_h(profile, settings.rollback_window_hours))
        _require_generation(path.corpus, body.generation)
        job = launch.start(engine(), settings, path.corpus, body.kind, who, given)
        return jsonify(job_json(job)), 202

    @ops.get(
        "/corpora/<corpus>/jobs",
        summary="Jobs of a corpus, the newest last",
        responses={200: shapes.JobsOut},
        **about,
    )
    def jobs(path: shapes.CorpusPath) -> Response:
        _known(path.corpus)
        return jsonify(jobs=[job_json(job) for job in jobs_of(engine().jobs, path.corpus)])

    @ops.get("/jobs/<job_id>", summary="A job", responses={200: shapes.JobOut}, **about)
    def job(path: shapes.JobPath) -> Response:
        return jsonify(job_json(_seen(engine().jobs.get(path.job_id))))

    @ops.post("/jobs/<job_id>/cancel", summary="Ask a job to stop", responses={200: shapes.JobOut}, **about)
    def cancel(path: shapes.JobPath) -> Response:
        return jsonify(job_json(_seen(request_cancel(engine().jobs, path.job_id))))

    @ops.get(
        "/reviews", summary="Claims that could not be decided", responses={200: shapes.ReviewsOut}, **about
    )
    def reviews(query: shapes.ReviewsQuery) -> Response:
        found = list_reviews(engine(), g.principal, query.corpus, query.state)
        return jsonify(reviews=[review_json(review) for review in islice(found, LONGEST_LIST)])

    @ops.post(
        "/reviews/<review_id>/mark",
        summary="Mark such a claim",
        responses={200: shapes.ReviewOut, 409: models.ErrorOut},
        **about,
    )
    def mark(path: shapes.ReviewPath, body: shapes.MarkBody) -> Response:
        who = f"user:{g.principal.subject}"
        marked = mark_review(engine(), g.principal, path.review_id, body.verdict, body.note, who)
        return jsonify(review_json(marked))

    def _known(corpus: str) -> None:
        if engine().registry.corpus_profile(corpus) is None:
            raise NotFound

    def _require_generation(corpus: str, name: str | None) -> None:
        _known(corpus)
        if name is not None and one(engine(), corpus, name) is None:
            raise InvalidInput(
                f"This corpus has no generation of that name; /v1/ops/corpora/{corpus}/generations lists them."
            )

    def _row(path: shapes.GenerationPath) -> Row:
        row = one(engine(), path.corpus, path.generation)
        if row is None:
            raise NotFound
        return row

    return ops


def _seen(job: Job | None) -> Job:
    if job is None:
        raise NotFound
    return as_seen(job)


def _arguments(body: shapes.JobBody, usual_h: float) -> dict[str, Any]:
    """What the command would be given. Raises InvalidInput for a reason to force that says nothing."""
    if body.kind == "prune":
        window_h = usual_h if body.window_hours is None else body.window_hours
        return {
            "keep": 1 if body.keep is None else body.keep,
            "windowHours": window_h,
            "dryRun": body.dry_run is not False,
        }
    if body.kind == "repair":
        return {"dryRun": body.dry_run is not False}
    given: dict[str, Any] = {}
    if body.generation is not None:
        given["generation"] = body.generation
    if body.force is not None:
        given["force"] = Force(body.force).reason
    return given
