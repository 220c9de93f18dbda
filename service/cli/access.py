"""attest access grant · revoke · delete · show"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import click

from service.access.rules import read_access, to_json
from service.cli.shared import as_json, echo_json, services
from service.domain.documents import RegistryEntry
from service.errors import InvalidAccess, NotFound
from service.offline.rights import RightsChange, change_rights


@click.group("access", epilog="\b\nExample:\n  attest access revoke handbook hr/pay.md --subject group:eng")
def access_command() -> None:
    """Change who may see a document, or delete it. What returns is in force."""


@access_command.command("grant")
@click.argument("corpus")
@click.argument("document_id")
@click.option("--subject", "subjects", multiple=True, required=True, help='"group:eng", "user:alice" or "*".')
@as_json
def grant(corpus: str, document_id: str, subjects: tuple[str, ...], as_json: bool) -> None:
    """Let SUBJECTS see the document (and lift a denial of them)."""

    def change(entry: RegistryEntry) -> RegistryEntry:
        named = _subjects(entry, subjects)
        access = replace(entry.access, allow=entry.access.allow | named, deny=entry.access.deny - named)
        return replace(entry, access=access)

    _report(_apply(corpus, document_id, change), as_json)


@access_command.command("revoke")
@click.argument("corpus")
@click.argument("document_id")
@click.option("--subject", "subjects", multiple=True, required=True, help='"group:eng", "user:alice" or "*".')
@as_json
def revoke(corpus: str, document_id: str, subjects: tuple[str, ...], as_json: bool) -> None:
    """Take the document away from SUBJECTS: no longer allowed, and denied where others' rights would let them in."""

    def change(entry: RegistryEntry) -> RegistryEntry:
        named = _subjects(entry, subjects)
        access = replace(entry.access, allow=entry.access.allow - named, deny=entry.access.deny | named)
        return replace(entry, access=access)

    _report(_apply(corpus, document_id, change), as_json)


@access_command.command("delete")
@click.argument("corpus")
@click.argument("document_id")
@as_json
def delete(corpus: str, document_id: str, as_json: bool) -> None:
    """Withdraw the document: out of every generation; its archived versions can no longer be read."""
    _report(_apply(corpus, document_id, lambda entry: replace(entry, deleted=True)), as_json)


@access_command.command("show")
@click.argument("corpus")
@click.argument("document_id")
@as_json
def show(corpus: str, document_id: str, as_json: bool) -> None:
    """Print the registered rights of a document."""
    entry = services().engine.registry.get_many(corpus, [document_id]).get(document_id)
    if entry is None:
        raise NotFound
    if as_json:
        echo_json(_entry(entry))
    else:
        click.echo(_line(entry))


def _apply(corpus: str, document_id: str, change: object) -> RightsChange:
    offline = services().offline
    assert callable(change)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return change_rights(offline.engine, corpus, document_id, change, who=offline.who, now=now)


def _subjects(entry: RegistryEntry, subjects: tuple[str, ...]) -> frozenset[str]:
    if not subjects:
        raise InvalidAccess("Name at least one --subject.")
    return read_access({"allow": list(subjects)}, tenant=entry.access.tenant, where="--subject").allow


def _entry(entry: RegistryEntry) -> dict[str, object]:
    return {
        "corpus": entry.corpus,
        "documentId": entry.document_id,
        "version": entry.current_version,
        "access": to_json(entry.access),
        "deleted": entry.deleted,
        "sequence": entry.sequence,
    }


def _line(entry: RegistryEntry) -> str:
    access = entry.access
    return (
        f"{entry.document_id}: tenant {access.tenant}, labels {sorted(access.labels)}, allow {sorted(access.allow)}, "
        f"deny {sorted(access.deny)}" + (", deleted" if entry.deleted else "")
    )


def _report(change: RightsChange, as_json: bool) -> None:
    if as_json:
        echo_json(
            {
                "before": _entry(change.before),
                "after": _entry(change.after),
                "epoch": change.epoch,
                "chunks": change.chunks,
            }
        )
        return
    click.echo(_line(change.after))
    click.echo(f"in force; access epoch {change.epoch}, {change.chunks} chunks rewritten")
