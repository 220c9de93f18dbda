"""A folder as it was at a git commit: its files laid out in a temporary folder, which is then read like any other.

The commit's own access.toml, sidecars and corpus.toml count, because they lie there too. Git is only asked to list
and print objects; it runs no hook or filter and fetches nothing. Links are laid out so that they lead nowhere.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from service.errors import InvalidInput

# Variables that would point git at another repository than the folder's, as they stand inside a hook.
_ELSEWHERE = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
)
_ALONE = {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "", "LC_ALL": "C"}
_NOWHERE = "/nonexistent/a link in a commit is not followed"
_LINK, _FILES = b"120000", (b"100644", b"100755", b"100664")


@dataclass(frozen=True, slots=True)
class Commit:
    """A folder with the files of a commit, and the commit's full id."""

    folder: Path
    id: str


@contextlib.contextmanager
def at_commit(folder: Path, committish: str, wanted: Callable[[str], bool], largest: int) -> Iterator[Commit]:
    """The folder's files at that commit, until the block is left.

    Contents are laid out of files that are `wanted`; of others, and of those over `largest` bytes, only name and
    size. Raises InvalidInput when git is missing, the folder is in no repository, or there is no such commit.
    """
    commit = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{committish}^{{commit}}")
    name = commit.decode().strip()
    with tempfile.TemporaryDirectory(prefix="attest-git-") as temporary:
        # Called like the folder itself: messages name rules by it.
        root = Path(temporary) / (folder.resolve().name or "root")
        root.mkdir()
        _lay_out(folder, name, root, wanted, largest)
        yield Commit(root, name)


def _lay_out(folder: Path, commit: str, root: Path, wanted: Callable[[str], bool], largest: int) -> None:
    listing = _git(folder, "ls-tree", "-r", "-l", "-z", commit)
    with _contents(folder) as content_of:
        for line in filter(None, listing.split(b"\0")):
            facts, _, raw_name = line.partition(b"\t")
            mode, _, object_id, size = facts.split()
            name = os.fsdecode(raw_name)
            if not all(part not in ("", ".", "..") for part in name.split("/")):
                raise InvalidInput(f"{commit} holds {name!r}, which leads out of its folder; it is not read.")
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if mode == _LINK:
                path.symlink_to(_NOWHERE)
            elif mode in _FILES and wanted(path.name) and int(size) <= largest:
                path.write_bytes(content_of(object_id))
            elif mode in _FILES:
                path.touch()
                os.truncate(path, int(size))  # takes no room


@contextlib.contextmanager
def _contents(folder: Path) -> Iterator[Callable[[bytes], bytes]]:
    """Object id → its bytes, from one process that is asked for each in turn."""
    process = subprocess.Popen(
        _command(folder, "cat-file", "--batch"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_environment(),
    )
    assert process.stdin is not None and process.stdout is not None
    asked: IO[bytes] = process.stdin
    answers: IO[bytes] = process.stdout

    def content_of(object_id: bytes) -> bytes:
        asked.write(object_id + b"\n")
        asked.flush()
        head = answers.readline().split()
        if len(head) != 3:
            raise InvalidInput(f"git has no object {object_id.decode()}; is the clone complete?")
        content = answers.read(int(head[2]))
        answers.read(1)
        return content

    try:
        yield content_of
    finally:
        process.kill()
        process.wait()
        asked.close()
        answers.close()


def _git(folder: Path, *arguments: str) -> bytes:
    done = subprocess.run(
        _command(folder, *arguments), stdin=subprocess.DEVNULL, capture_output=True, env=_environment()
    )
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = said[0].removeprefix("fatal: ") if said else "there is no such commit"
        raise InvalidInput(
            f"{folder}: --git cannot read {arguments[-1].removesuffix('^{commit}')!r}: {reason}"
        )
    return done.stdout


def _command(folder: Path, *arguments: str) -> list[str]:
    git = shutil.which("git")
    if git is None:
        raise InvalidInput("--git needs the program git, and there is none on this machine.")
    return [git, "-C", str(folder), *arguments]


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in _ELSEWHERE} | _ALONE
