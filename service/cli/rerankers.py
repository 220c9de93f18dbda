"""attest rerankers: list · check"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from service.bootstrap import data_folder
from service.cli.shared import as_json, echo_json, needs
from service.online.rerank.cross_encoder import CrossEncoderReranker
from service.online.rerank.registry import load_reranker, read_catalogue
from service.onnx.manifest import CROSS_ENCODER
from service.settings import load_settings


@needs("operator")
@click.group(
    "rerankers", epilog="\b\nExample:\n  attest rerankers list\n  attest rerankers check my-models/mine"
)
def rerankers_command() -> None:
    """Reranker folders: which there are, and whether one does what it should."""


@rerankers_command.command("list", epilog="\b\nExample:\n  attest rerankers list")
@as_json
def list_command(as_json: bool) -> None:
    """List the folders under ATTEST_RERANK_MODELS_DIR, and every fault of those that cannot be used."""
    catalogue = read_catalogue(load_settings().rerank_models_dir or data_folder("rerank_models"))
    if as_json:
        plugins = {
            p.name: {"version": p.version, "kind": p.kind, "licence": p.licence}
            for p in catalogue.plugins.values()
        }
        echo_json({"rerankers": plugins, "faults": catalogue.faults})
        return
    for plugin in catalogue.plugins.values():
        click.echo(f"{plugin.name:<24} {plugin.version:<8} {plugin.kind:<18} {plugin.licence}")
    for name, faults in catalogue.faults.items():
        click.echo(f"{name:<24} cannot be used:")
        click.echo("".join(f"  - {fault}\n" for fault in faults), nl=False)


@rerankers_command.command(
    "check",
    epilog="""\b
Example:
  attest rerankers check my-models/mine --write-golden   # once, where the model was exported
  attest rerankers check my-models/mine                  # after that, anywhere""",
)
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--write-golden", is_flag=True, help="Write golden.json from what the model says now, then check."
)
def check_command(folder: Path, write_golden: bool) -> None:
    """Check a reranker's FOLDER: manifest, hashes, graph, golden scores, and that a score depends on its own pair
    alone. Rerankers with weights are asked with all of them 1. Exit code 1 when something is wrong."""
    from service.evaluation import rerankers

    folder = folder.resolve()
    catalogue = read_catalogue(folder.parent)
    faults = list(catalogue.faults.get(folder.name, ()))
    plugin = catalogue.plugins.get(folder.name)
    if plugin is not None:
        threads = load_settings().onnx_threads
        reranker = rerankers.unit_reranker(
            lambda weights: load_reranker(
                folder.name, folder.parent, weights, lambda own: CrossEncoderReranker(own, threads)
            )
        )
        if write_golden:
            rerankers.write_golden(reranker, folder)
        faults += rerankers.golden_faults(reranker, folder)
        faults += rerankers.contract_faults(reranker, slow=plugin.kind == CROSS_ENCODER)
        click.echo(f"{reranker.identity}: {rerankers.milliseconds_a_window(reranker):.1f} ms a window")
    for fault in faults:
        click.echo(f"  - {fault}", err=True)
    if faults:
        sys.exit(1)
    click.echo("ok: manifest, hashes, graph, golden scores; the same alone, in company and in any order")
