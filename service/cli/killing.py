"""attest experiment kill-matrix · node-loss"""

from __future__ import annotations

import sys
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from service.bootstrap import build, online_path, silent
from service.cli.shared import as_json, echo_json, progress_bars
from service.evaluation.experiments import kill_matrix, kill_matrix_servers, node_loss
from service.evaluation.experiments.kill_matrix import Row
from service.evaluation.experiments.kill_matrix_points import POINTS, chosen
from service.evaluation.experiments.kill_matrix_world import Opened
from service.evaluation.experiments.own_stack import OwnStack, in_checkout
from service.onnx.embedder import OnnxEmbedder
from service.settings import environment_of, load_settings


@dataclass
class Worlds:
    """Opens worlds, each under a prefix and in a folder of its own that are erased afterwards. One model for all."""

    engine: str | None = None
    _embedder: OnnxEmbedder | None = None

    @contextmanager
    def open(self, **changes: Any) -> Iterator[Opened]:
        """`changes` to the settings; without a Redis among them, nothing is cached."""
        with TemporaryDirectory(prefix="attest-experiment-") as folder:
            named = {"engine": self.engine} if self.engine else {}
            own = {
                "prefix": f"experiment-{uuid.uuid4().hex[:8]}",
                "data_dir": Path(folder),
                "redis_url": None,
            }
            settings = load_settings(**{**named, **own, **changes})
            services = build(settings)
            if self._embedder is not None:
                services.__dict__["embedder"] = self._embedder
            self._embedder = services.embedder
            try:
                online = online_path(
                    settings, services.engine, services.embedder, services.embedder.count_tokens, silent
                )
                yield Opened(services.offline, online, environment_of(settings))
            finally:
                services.engine.erase()

    @contextmanager
    def on(self, stack: OwnStack, redis: bool) -> Iterator[Opened]:
        given = {"redis_url": stack.redis_url} if redis else {}
        with self.open(engine="elasticsearch", es_url=stack.es_url, **given) as opened:
            yield opened

    @contextmanager
    def replicated(self, stack: OwnStack, redis: bool) -> Iterator[Opened]:
        """A shard for each node, so that every node holds a part; one replica, so that none is lost with it."""
        with self.open(engine="elasticsearch", es_url=stack.es_url, es_shards=3, es_replicas=1) as opened:
            yield opened


@click.command(
    "kill-matrix", epilog="\b\nExample:\n  attest experiment kill-matrix --engine embedded --points 5"
)
@click.option("--engine", type=click.Choice(["embedded", "elasticsearch"]), help="ATTEST_ENGINE otherwise.")
@click.option(
    "--points", type=click.IntRange(1), help=f"How many of the {len(POINTS)} points; all when left out."
)
@click.option(
    "--servers",
    is_flag=True,
    help="Kill Elasticsearch at four points and Redis at one instead, on servers started for it; needs a checkout.",
)
@as_json
def kill_matrix_command(engine: str | None, points: int | None, servers: bool, as_json: bool) -> None:
    """`kill -9` of the builder at every step, then the same command again: what readers are told, what is left."""
    worlds = Worlds(engine)
    with progress_bars() as progress:
        if servers:
            rows = kill_matrix_servers.run(worlds.on, progress)
        else:
            rows = kill_matrix.run(worlds.open, chosen(POINTS, points), progress)
    _report("kill-matrix", rows, as_json)
    if not servers and not as_json:
        where = "" if in_checkout() else " in a checkout of the source, which this is not"
        click.echo(f"The servers are killed by --servers{where}.")


@click.command("node-loss", epilog="\b\nExample:\n  attest experiment node-loss")
@as_json
def node_loss_command(as_json: bool) -> None:
    """Three nodes, one replica: a node is killed in a build, in a switch, and while readers ask. Needs a checkout."""
    with progress_bars() as progress:
        rows = node_loss.run(Worlds().replicated, progress)
    _report("node-loss", rows, as_json)


def _report(name: str, rows: Sequence[Row], as_json: bool) -> None:
    holds = all(row.holds for row in rows)
    if as_json:
        echo_json({"experiment": name, "holds": holds, "points": [row.to_json() for row in rows]})
    else:
        for line in kill_matrix.table(rows):
            click.echo(line)
        click.echo(f"{name}: {sum(row.holds for row in rows)} of {len(rows)} hold")
    if not holds:
        sys.exit(1)
