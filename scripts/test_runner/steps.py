"""The commands of the run, and the environment the tests see."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    name: str
    command: tuple[str, ...]


def _tool(name: str, module: str, *arguments: str) -> Check:
    return Check(name, (sys.executable, "-m", module, *arguments))


# import-linter has no `-m` entry of its own; this is what its console script calls.
_LINT_IMPORTS = (
    "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"
)

CHECKS: tuple[Check, ...] = (
    _tool("ruff check", "ruff", "check", "."),
    _tool("ruff format", "ruff", "format", "--check", "."),
    Check("import contracts", (sys.executable, "-c", _LINT_IMPORTS, "--no-logo")),
    _tool("deptry", "deptry", "."),
    _tool("mypy", "mypy"),
)

# More workers than this only queue at the one Elasticsearch node.
MOST_WORKERS = 4


def pytest_command(arguments: tuple[str, ...], cpus: int) -> list[str]:
    """pytest with one worker for each CPU, on Hypothesis' fixed profile: a red run can be run again and be red."""
    workers = max(1, min(cpus, MOST_WORKERS))
    given_workers = any(a == "-n" or a.startswith(("-n", "--numprocesses")) for a in arguments)
    spread = [] if given_workers or workers == 1 else ["-n", str(workers)]
    colour = ["--color=yes"] if sys.stdout.isatty() else []
    return [sys.executable, "-m", "pytest", "--hypothesis-profile=ci", *spread, *colour, *arguments]


def test_environment(environment: Mapping[str, str], urls: Mapping[str, str]) -> dict[str, str]:
    """The caller's environment without its Attest settings, plus the servers' URLs.

    `urls`: ES_URL and REDIS_URL of the servers started for this run; those in the environment hold otherwise.
    """
    clean = {name: value for name, value in environment.items() if not name.startswith("ATTEST_")}
    clean |= urls
    for name in ("ES_URL", "REDIS_URL"):
        if clean.get(name):
            clean[f"ATTEST_{name}"] = clean[name]
    # One BLAS thread beside onnxruntime's: two collapse on a small machine. No hub is asked for models.
    return clean | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
