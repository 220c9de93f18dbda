"""JSONL: one document a line, its text in the line or in a file beside it."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from service.access.rules import misspelt_access
from service.domain.sources import SourceFault, SourceItem
from service.errors import InvalidAccess
from service.offline.ingest.folder_rules import FolderRules, below

JSON_DOCUMENT = "application/x-attest-document"
JSONL = (".jsonl", ".ndjson")  # endings of files with a document a line

ReadFile = Callable[[Path, str, FolderRules], SourceItem | SourceFault]


def read_jsonl(
    path: Path, rules: FolderRules, read_file: ReadFile, largest: int
) -> Iterator[SourceItem | SourceFault]:
    """A document a line. `read_file` reads the file that a line names by its path, with the rights that hold there."""
    try:
        if rules.has_sidecar(path):
            yield SourceFault(path.name, "JSONL has no rights file of its own; give its lines `access`")
            return
        with path.open("rb") as file:
            # By bounded pieces: a file without line ends must not be read whole to find that out.
            for number, line in enumerate(iter(partial(file.readline, largest + 1), b""), 1):
                if len(line) > largest:
                    yield SourceFault(
                        f"{path.name}:{number}", f"more than {largest} bytes; what follows is not read"
                    )
                    return
                if line.strip():
                    yield _line(path, number, line, rules, read_file)
    except OSError as error:
        yield SourceFault(path.name, f"cannot be read: {error.strerror}")
    except InvalidAccess as error:
        yield SourceFault(path.name, error.message)


def _line(
    path: Path, number: int, line: bytes, rules: FolderRules, read_file: ReadFile
) -> SourceItem | SourceFault:
    origin = f"{path.name}:{number}"
    try:
        entry = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return SourceFault(origin, "not a line of JSON in UTF-8")
    if (
        not isinstance(entry, dict)
        or not isinstance(entry.get("documentId"), str)
        or not entry["documentId"].strip()
    ):
        return SourceFault(origin, 'needs a "documentId"')
    if (misspelt := misspelt_access(entry)) is not None:
        return SourceFault(origin, f'it says {misspelt!r}; write "access" in lower case')
    title, access = entry.get("title", ""), entry.get("access")
    if not isinstance(title, str) or not isinstance(access, dict | None):
        return SourceFault(origin, '"title" must be a string and "access" an object')
    item = SourceItem(
        document_id=unicodedata.normalize("NFC", entry["documentId"]),
        raw=b"",
        media_type=JSON_DOCUMENT,
        origin=origin,
        title=title,
        access_rule=access,
        access_where=f"{origin} access",
    )
    if isinstance(entry.get("text"), str):
        text = entry["text"]
        # The title is part of the version: it is searched and shown, so another title is another content.
        raw = json.dumps([title, text], ensure_ascii=False).encode("utf-8", "surrogatepass")
        return replace(item, raw=raw, text=text)
    if isinstance(entry.get("path"), str):
        return _named_file(path, entry["path"], item, rules, read_file)
    return SourceFault(origin, 'needs a "text" or a "path"')


def _named_file(
    path: Path, target: str, item: SourceItem, rules: FolderRules, read_file: ReadFile
) -> SourceItem | SourceFault:
    file = path.parent / target
    # `..` and absolute paths would be held against the rules of other folders than those they lead through.
    plain = not Path(target).is_absolute() and ".." not in Path(target).parts
    if not plain or not below(path.parent.resolve(), file):
        return SourceFault(item.origin, "its path leads out of the source")
    found = read_file(file, target, rules)
    if isinstance(found, SourceFault):
        return SourceFault(item.origin, found.reason)
    rule, where = (
        (found.access_rule, found.access_where)
        if item.access_rule is None
        else (item.access_rule, item.access_where)
    )
    return replace(item, raw=found.raw, media_type=found.media_type, access_rule=rule, access_where=where)
