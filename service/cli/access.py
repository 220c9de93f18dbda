"""attest access grant · revoke · delete · restore · show · log · resume"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import click

from service.access.rules import read_access, to_json
from service.cli.shared import as_json, echo_json, needs, services
from service.domain.documents import RegistryChange, RegistryEntry, Standing
from service.errors import InvalidAccess, NotFound
from service.offline.rights import RightsChange, change_rights, finish, history, pending


@needs("operator")
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

    _report(_apply(corpus, document_id, change, "grant"), as_json)


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

    _report(_apply(corpus, document_id, change, "revoke"), as_json)


@access_command.command("delete")
@click.argument("corpus")
@click.argument("document_id")
@as_json
def delete(corpus: str, document_id: str, as_json: bool) -> None:
    """Withdraw the document: out of every generation; its archived versions can no longer be read."""
    _report(_apply(corpus, document_id, lambda entry: replace(entry, deleted=True), "delete"), as_json)


@access_command.command("restore")
@click.argument("corpus")
@click.argument("document_id")
@as_json
def restore(corpus: str, document_id: str, as_json: bool) -> None:
    """Take a deletion back. The document is found again once it has gone through a build and a publish."""
    _report(_apply(corpus, document_id, lambda entry: replace(entry, deleted=False), "restore"), as_json)
    if not as_json:
        click.echo(f"Its chunks went with the deletion; found again after: attest build {corpus} --publish")


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


@access_command.command("log")
@click.argument("corpus")
@click.argument("document_id", required=False)
@as_json
def log(corpus: str, document_id: str | None, as_json: bool) -> None:
    """Print who changed a document's rights, version or existence, when, and how it stood before and after.

    Of all documents of the corpus when none is named; oldest first.
    """
    changes = history(services().engine, corpus, document_id)
    if document_id is not None and not changes:
        raise NotFound
    if as_json:
        echo_json([_change(change) for change in changes])
        return
    for change in changes:
        click.echo(
            f"{change.at} {change.who} {change.action} {change.document_id} (change {change.sequence})"
        )
        if change.before is not None:
            click.echo(f"    before: {_standing(change.before)}")
        click.echo(f"    after:  {_standing(change.after)}")


@access_command.command("resume")
@click.argument("corpus")
@as_json
def resume(corpus: str, as_json: bool) -> None:
    """Finish changes whose spread to the chunks stopped half way. Safe to run at any time.

    Such changes hold already: nothing leaves that the registry forbids. What is newly allowed is found again once
    this has returned.
    """
    engine = services().engine
    done = [finish(engine, entry) for entry in list(pending(engine, corpus))]
    if as_json:
        echo_json([{"documentId": entry.document_id, "chunks": chunks} for entry, chunks, _ in done])
        return
    for entry, chunks, _ in done:
        click.echo(f"{entry.document_id}: {chunks} chunks brought in line")
    click.echo(f"{len(done)} changes finished" if done else "nothing is pending")


def _apply(
    corpus: str, document_id: str, change: Callable[[RegistryEntry], RegistryEntry], action: str
) -> RightsChange:
    offline = services().offline
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return change_rights(offline.engine, corpus, document_id, change, action=action, who=offline.who, now=now)


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
        "spreadPending": entry.spread_pending,
    }


def _change(change: RegistryChange) -> dict[str, object]:
    return {
        "documentId": change.document_id,
        "sequence": change.sequence,
        "action": change.action,
        "who": change.who,
        "at": change.at,
        "before": None if change.before is None else _standing_json(change.before),
        "after": _standing_json(change.after),
    }


def _standing_json(standing: Standing) -> dict[str, object]:
    return {"version": standing.version, "access": to_json(standing.access), "deleted": standing.deleted}


def _line(entry: RegistryEntry) -> str:
    pending = ", spread pending" if entry.spread_pending else ""
    return f"{entry.document_id}: {_standing(entry.standing)}{pending}"


def _standing(standing: Standing) -> str:
    access = standing.access
    return (
        f"tenant {access.tenant}, labels {sorted(access.labels)}, allow {sorted(access.allow)}, "
        f"deny {sorted(access.deny)}, version {standing.version[:12]}"
        + (", deleted" if standing.deleted else "")
    )


def _report(change: RightsChange, as_json: bool) -> None:
    """Exit code 1 when the change holds, but its spread is still to be finished."""
    if as_json:
        echo_json(
            {
                "before": _entry(change.before),
                "after": _entry(change.after),
                "epoch": change.epoch,
                "chunks": change.chunks,
                "unfinished": change.unfinished,
            }
        )
    else:
        click.echo(_line(change.after))
        click.echo(f"in force; access epoch {change.epoch}, {change.chunks} chunks rewritten")
    if change.unfinished is not None:
        click.echo(
            f"The change holds, but not every chunk carries it yet ({change.unfinished}); "
            f"run `attest access resume {change.after.corpus}`.",
            err=True,
        )
        sys.exit(1)
