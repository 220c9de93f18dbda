"""Asking Elasticsearch how it is, and waiting until it is well.

Only `_cluster/health` and `_nodes` are asked: the published jars have no `GET /`.
"""

import base64
import json
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .elasticsearch_node import Node
from .errors import StackError
from .progress import Waiting

ANSWER_SECONDS = 5.0
START_SECONDS = 180.0
_POLL_SECONDS = 0.25
_TAIL_LINES = 20
# A proxy from the environment must not stand between us and a local server.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass(frozen=True)
class Health:
    """Answer of `_cluster/health`: green, yellow or red, and how many nodes the asked node sees."""

    status: str
    nodes: int

    def is_well(self, expected_nodes: int) -> bool:
        """All nodes there and every primary shard too; yellow is well, as replicas may have no second node."""
        return self.status in ("green", "yellow") and self.nodes == expected_nodes


def get(url: str, path: str, timeout: float = ANSWER_SECONDS) -> Any:
    """JSON at `path` of the server at `url` (user and password in it are sent). Raises OSError or ValueError."""
    parts = urllib.parse.urlsplit(url)
    bare = urllib.parse.urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    request = urllib.request.Request(bare.rstrip("/") + path)
    if parts.username is not None:
        pair = f"{urllib.parse.unquote(parts.username)}:{urllib.parse.unquote(parts.password or '')}"
        request.add_header("Authorization", "Basic " + base64.b64encode(pair.encode()).decode())
    with _OPENER.open(request, timeout=timeout) as response:
        return json.load(response)


def ask(url: str) -> Health | str:
    """Health of the cluster as the node at `url` sees it, or in a few words why it does not say."""
    try:
        said = get(url, "/_cluster/health?timeout=3s")
        return Health(str(said["status"]), int(said["number_of_nodes"]))
    except urllib.error.HTTPError as error:
        return {401: "wants credentials", 403: "wants other credentials"}.get(error.code, f"HTTP {error.code}")
    except urllib.error.URLError as error:
        return f"no answer ({error.reason})"
    except TimeoutError:
        return f"no answer in {ANSWER_SECONDS:.0f} s"
    except (OSError, ValueError, KeyError, TypeError) as error:
        return f"no sensible answer ({error})"


def versions(url: str) -> dict[str, str]:
    """Version of each node by its name, from `_nodes`; empty when the server does not say."""
    try:
        nodes = get(url, "/_nodes?filter_path=nodes.*.name,nodes.*.version")["nodes"]
        return {str(node["name"]): str(node["version"]) for node in nodes.values()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def wait(nodes: Sequence[Node], ended: Callable[[Node], bool], seconds: float = START_SECONDS) -> Health:
    """Return when every node answers and sees all others. StackError when one ends before, or after `seconds`."""
    waiting = Waiting("Elasticsearch")
    while True:
        answers = [ask(node.url) for node in nodes]
        well = [answer for answer in answers if isinstance(answer, Health) and answer.is_well(len(nodes))]
        if len(well) == len(nodes):
            waiting.done(f"{well[0].status}, {len(nodes)} node{'s' if len(nodes) > 1 else ''}")
            return well[0]
        for node in nodes:
            if ended(node):
                raise StackError(f"{node.name} ended before it was healthy.\n{reason(node.output, node.log)}")
        if waiting.seconds > seconds:
            late = next(n for n, a in zip(nodes, answers, strict=True) if a not in well)
            state = dict(zip((node.name for node in nodes), answers, strict=True))
            raise StackError(f"not healthy after {seconds:.0f} s: {state}\n{reason(late.output, late.log)}")
        waiting.tick(f"{len(well)} of {len(nodes)} nodes ready" if len(nodes) > 1 else "starting")
        time.sleep(_POLL_SECONDS)


def reason(output: Path, log: Path) -> str:
    """What the files of a failed server tell: exceptions that ended the process, then the end of its log."""
    printed = _lines(output)
    causes = [line for line in printed if re.match(r"(Caused by: |Error|[\w.$]+(Exception|Error)\b)", line)]
    tail = _lines(log)[-_TAIL_LINES:]
    parts = [(output, causes or printed[-_TAIL_LINES:]), (log, tail if log != output else [])]
    return "\n".join(f"{file}:\n  " + "\n  ".join(lines) for file, lines in parts if lines) or f"{log} is empty"


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
