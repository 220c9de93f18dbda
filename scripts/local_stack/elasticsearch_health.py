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
_REPLICA_SECONDS = 20.0
_TAIL_LINES = 20
_HTTP_ERRORS = {401: "wants credentials", 403: "wants other credentials", 503: "no master elected"}
# A proxy from the environment must not stand between us and a local server.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass(frozen=True)
class Health:
    """Answer of `_cluster/health`: green, yellow or red, and how many nodes the asked node sees."""

    status: str
    nodes: int

    def is_well(self, expected_nodes: int) -> bool:
        """All nodes and every primary shard are there; yellow is well: replicas may lack a second node."""
        return self.status in ("green", "yellow") and self.nodes == expected_nodes


def get(url: str, path: str, timeout: float = ANSWER_SECONDS) -> Any:
    """JSON at `path` of the server at `url`, whose user and password are sent. Raises OSError, ValueError."""
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
        said = get(url, "/_cluster/health?master_timeout=2s&timeout=2s")
        return Health(str(said["status"]), int(said["number_of_nodes"]))
    except urllib.error.HTTPError as error:
        return _HTTP_ERRORS.get(error.code, f"HTTP {error.code}")
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
    """Return when every node answers and sees all others; StackError when one ends or `seconds` are over.

    Several nodes then get a little more time to bring their replicas back: green rather than yellow.
    """
    waiting = Waiting("Elasticsearch")
    all_there: float | None = None
    while True:
        answers = [ask(node.url) for node in nodes]
        well = [answer for answer in answers if isinstance(answer, Health) and answer.is_well(len(nodes))]
        if len(well) == len(nodes):
            all_there = all_there or waiting.seconds
            settled = len(nodes) == 1 or all(answer.status == "green" for answer in well)
            if settled or waiting.seconds > all_there + _REPLICA_SECONDS:
                waiting.done(f"{well[0].status}, {len(nodes)} node{'s' if len(nodes) > 1 else ''}")
                return well[0]
        for node in nodes:
            if ended(node):
                raise StackError(f"{node.name} ended before it was healthy.\n{reason(node.output, node.log)}")
        if waiting.seconds > seconds:
            raise _late(nodes, answers, seconds)
        answering = sum(isinstance(answer, Health) for answer in answers)
        waiting.tick(f"{answering} of {len(nodes)} nodes answer" if len(nodes) > 1 else "starting")
        time.sleep(_POLL_SECONDS)


def _late(nodes: Sequence[Node], answers: Sequence[Health | str], seconds: float) -> StackError:
    for node, answer in zip(nodes, answers, strict=True):
        if isinstance(answer, str) or not answer.is_well(len(nodes)):
            state = described(answer, len(nodes))
            told = reason(node.output, node.log)
            return StackError(f"not healthy after {seconds:.0f} s; {node.name}: {state}\n{told}")
    return StackError(f"not healthy after {seconds:.0f} s")


def described(answer: Health | str, expected_nodes: int) -> str:
    """An answer of `ask` in a few words."""
    if isinstance(answer, str):
        return answer
    whole = answer.nodes == expected_nodes
    return answer.status if whole else f"{answer.status}, sees {answer.nodes} of {expected_nodes} nodes"


def reason(output: Path, log: Path) -> str:
    """What the files of a failed server tell: exceptions that ended the process, then the end of its log."""
    printed = _lines(output)
    causes = [line for line in printed if re.match(r"(Caused by: |Error|[\w.$]+(Exception|Error)\b)", line)]
    tail = _lines(log)[-_TAIL_LINES:]
    parts = [(output, causes or printed[-_TAIL_LINES:]), (log, tail if log != output else [])]
    return (
        "\n".join(f"{file}:\n  " + "\n  ".join(lines) for file, lines in parts if lines) or f"{log} is empty"
    )


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
