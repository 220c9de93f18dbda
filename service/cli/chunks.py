"""attest chunks"""

from __future__ import annotations

from typing import Any

import click

from service.access.policy import scope_of
from service.cli.shared import (
    acting_principal,
    as_json,
    asking,
    echo_json,
    needs,
    principal_options,
    services,
)
from service.domain.documents import Link
from service.offline.chunks import ChunkView, document_chunks
from service.settings import load_settings
from service.web.auth import holds


@needs("inspect")
@click.command("chunks", epilog="\b\nExample:\n  attest chunks handbook hr/pay.md --group hr")
@click.argument("corpus")
@click.argument("document_id")
@click.option("--version", "corpus_version", default="live", show_default=True, help="A corpusVersion.")
@principal_options
@as_json
def chunks_command(corpus: str, document_id: str, corpus_version: str, as_json: bool, **who: object) -> None:
    """What a document was cut into: each chunk with its span, its links and their state, and what nearly repeats it.

    A token without the role operator is not told where a link leads that is broken or leads to what it may not see.
    """
    caller = asking(who)
    acting = acting_principal(load_settings())
    generation, views = document_chunks(
        services().engine,
        scope_of(caller),
        corpus,
        corpus_version,
        document_id,
        every_target=acting is None or holds(acting, "operator"),
    )
    if as_json:
        echo_json({"generation": generation.name, "chunks": [_json(view) for view in views]})
        return
    click.echo(f"{generation.name}: {document_id}, {len(views)} {'chunk' if len(views) == 1 else 'chunks'}")
    for view in views:
        chunk = view.chunk
        place = " > ".join(chunk.heading_path) + (f", page {chunk.page}" if chunk.page else "")
        click.echo(
            f"{chunk.ordinal:>4}  {chunk.kind} [{chunk.span.start}:{chunk.span.end}]  {place}  {chunk.chunk_id}"
        )
        click.echo(f"      {' '.join(chunk.text.split())[:150]}")
        for link in view.links:
            click.echo(f"      link {link.state:<9} {_target(link)}".rstrip())
        for near in view.near:
            click.echo(f"      near duplicate of {near}")


def _target(link: Link) -> str:
    return link.target + (f"#{link.anchor}" if link.anchor else "")


def _json(view: ChunkView) -> dict[str, Any]:
    chunk = view.chunk
    return {
        "chunkId": chunk.chunk_id,
        "ordinal": chunk.ordinal,
        "kind": chunk.kind,
        "headingPath": list(chunk.heading_path),
        "page": chunk.page,
        "start": chunk.span.start,
        "end": chunk.span.end,
        "text": chunk.text,
        "links": [
            {"target": link.target, "version": link.version, "anchor": link.anchor, "state": link.state}
            for link in view.links
        ],
        "cluster": chunk.cluster or None,
        "nearDuplicates": list(view.near),
    }
