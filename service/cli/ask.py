"""attest ask · search · inspect · source"""

from __future__ import annotations

import re
import uuid

import click

from service.cli.shared import as_json, asking, echo_json, needs, principal_options, services
from service.domain.answers import GroundedAnswer, Question, SearchResult
from service.errors import InvalidInput
from service.web.auth import holds
from service.web.present import answer_json, search_json, source_json

_SOURCE = re.compile(r"(?P<document>.+)@(?P<version>[0-9a-f.]+)(?:\[(?P<start>\d+):(?P<end>\d+)\])?")


@needs("reader")
@click.command(
    "ask",
    epilog="""\b
Example:
  attest ask "任务自动重试耗尽后怎么办？" --corpus lesson
  attest ask "What is the travel limit?" --corpus enterprise --group hr --json
  attest ask "watch 的 -x 最大值是多少？" --corpus arthas --conversation new
  attest ask "那 -n 呢？" --corpus arthas --conversation ID""",
)
@click.argument("text")
@click.option("--corpus", required=True)
@click.option("--version", "corpus_version", default="live", show_default=True, help="A corpusVersion.")
@click.option("--profile", help="Ranking profile.")
@click.option(
    "--conversation",
    help='"new" begins a conversation and prints its id; with that id TEXT may be a follow-up.',
)
@principal_options
@as_json
def ask_command(
    text: str,
    corpus: str,
    corpus_version: str,
    profile: str | None,
    conversation: str | None,
    as_json: bool,
    **who: object,
) -> None:
    """Ask TEXT: a proven answer with its sources, or why there is none. Exit code 0 for both."""
    question = Question(uuid.uuid4().hex, text, corpus, corpus_version, profile, conversation_id=conversation)
    answer = services().online.answer(question, asking(who))
    if as_json:
        echo_json(answer_json(answer))
    else:
        click.echo(render(answer))
        if conversation:
            click.echo(
                f"  asked: {answer.resolved_question or '-'}\n  conversation: {answer.conversation_id or '-'}"
            )


@needs("reader")
@click.command("search", epilog='\b\nExample:\n  attest search "trace 命令" --corpus arthas --size 5')
@click.argument("text")
@click.option("--corpus", required=True)
@click.option("--version", "corpus_version", default="live", show_default=True)
@click.option("--profile", help="Ranking profile.")
@click.option("--size", default=10, show_default=True, type=click.IntRange(1, 50))
@principal_options
@as_json
def search_command(
    text: str, corpus: str, corpus_version: str, profile: str | None, size: int, as_json: bool, **who: object
) -> None:
    """Ranked passages for TEXT, with the rank in each leg and every feature."""
    caller = asking(who)
    # Raw scores count hidden documents too, so they are shown as over HTTP: to those who may inspect.
    explain = holds(caller, "inspect")
    question = Question(uuid.uuid4().hex, text, corpus, corpus_version, profile, explain=explain)
    result = services().online.search(question, caller, size)
    if as_json:
        echo_json(search_json(result))
    else:
        click.echo(_render_search(result))


@needs("inspect")
@click.command("inspect", epilog="\b\nExample:\n  attest inspect 5f0c…  (a traceId from an answer)")
@click.argument("trace_id")
@principal_options
def inspect_command(trace_id: str, **who: object) -> None:
    """Print a request's trace: every stage, what came in and went out, ranks, scores, drops, time."""
    echo_json(services().online.read_trace(asking(who), trace_id))


@needs("reader")
@click.command("source", epilog='\b\nExample:\n  attest source "retry-policy@0c1d…[20:61]"')
@click.argument("reference")
@principal_options
@as_json
def source_command(reference: str, as_json: bool, **who: object) -> None:
    """Print archived text: DOC@VERSION or DOC@VERSION[START:END], code points."""
    found = _SOURCE.fullmatch(reference)
    if found is None:
        raise InvalidInput("A source is written DOC@VERSION or DOC@VERSION[START:END].")
    start, end = (int(found[name]) if found[name] else None for name in ("start", "end"))
    view = services().online.read_source(asking(who), found["document"], found["version"], start, end)
    if as_json:
        echo_json(source_json(view))
        return
    named = f"{view.title} — {view.document_id}" if view.title else view.document_id
    click.echo(f"{named}@{view.document_version[:12]} [{view.span.start}:{view.span.end}]")
    click.echo(f"{view.status}, sha256 {view.text_sha256[:16]}…\n" if view.text else view.status)
    if view.note:
        click.echo(f"{view.note}\n")
    click.echo(view.text)


def render(answer: GroundedAnswer) -> str:
    """An answer for the terminal: what was said and where it stands, or why nothing was said."""
    if answer.status == "no_answer":
        lines = [f"no answer: {answer.reason}" + (f" ({answer.fault})" if answer.fault else "")]
        if answer.gap is not None:
            lines.append(f"  missing: {answer.gap.missing}")
            if answer.gap.suggestion:
                lines.append(f"  you could: {answer.gap.suggestion}")
        return "\n".join(lines + _degraded(answer.degraded))
    lines = [str(answer.answer), ""]
    if answer.gap is not None:
        lines += [f"  note: {answer.gap.missing}", ""]
    titles = {source.source_id: source for source in answer.sources}
    for claim in answer.claims:
        for citation in claim.citations:
            source = titles[citation.source_id]
            path = " > ".join(filter(None, dict.fromkeys((source.title, *citation.heading_path))))
            path += f", page {citation.page}" if citation.page else ""
            lines.append(
                f"  [{citation.source_id}] {f'{path} — ' if path else ''}"
                f"{citation.document_id}@{citation.document_version[:12]} "
                f"[{citation.span.start}:{citation.span.end}] verified sha256 {citation.quote_sha256[:12]}…"
            )
            lines.append(f"       “{_one_line(citation.quote)}”")
    if answer.mode == "generated":
        lines.append("  written by a language model")
    return "\n".join(lines + _degraded(answer.degraded))


def _render_search(result: SearchResult) -> str:
    lines = [f"{result.retrieval.generation} · profile {result.profile} · engine {result.engine}"]
    for hit in result.hits:
        legs = " ".join(f"{leg}#{rank}" for leg, rank in sorted(hit.legs.items()))
        path = " > ".join(filter(None, dict.fromkeys((hit.title, *hit.heading_path))))
        path += f", page {hit.page}" if hit.page else ""
        lines.append(f"{hit.rank:>3}. {hit.score:8.4f}  {path}  [{legs}]  {hit.chunk_id}")
        lines.append(f"     {_one_line(hit.excerpt)[:150]}")
    return "\n".join(lines + _degraded(result.degraded))


def _degraded(parts: tuple[str, ...]) -> list[str]:
    return [f"  degraded: {', '.join(parts)}"] if parts else []


def _one_line(text: str) -> str:
    return " ".join(text.split())
