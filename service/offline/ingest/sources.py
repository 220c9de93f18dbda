"""Finding sources: a folder, single files, or JSONL of documents. One bad file is a fault, never a stop."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from service.access.rules import misspelt_access, read_access
from service.domain.rights import Access
from service.domain.sources import ParsedDocument, SourceFault, SourceItem
from service.errors import AttestError, InvalidAccess, SourceUnreadable
from service.offline.ingest.folder_rules import FILE as ACCESS_FILE
from service.offline.ingest.folder_rules import SIDECAR, FolderRules, below, is_sidecar
from service.profiles.corpus import FILE as CORPUS_FILE
from service.profiles.corpus import CorpusProfile
from service.text.wellformed import storable

MEDIA_TYPES = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".mdx": "text/markdown",
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "text/html",
    ".txt": "text/plain",
    ".text": "text/plain",
}
JSON_DOCUMENT = "application/x-attest-document"
LARGEST = 50 * 1024 * 1024  # bytes of one file


def read_sources(paths: Sequence[Path]) -> Iterator[SourceItem | SourceFault]:
    """Every document below the paths, in name order. documentId is the path below its source, NFC, POSIX.

    Names that differ only in case or Unicode form, and ids that come twice, are faults: never merged silently.
    """
    seen: dict[str, str] = {}
    rules: dict[Path, FolderRules] = {}
    for path in paths:
        for item in _source(path, rules.setdefault(path.parent, FolderRules(path.parent))):
            if isinstance(item, SourceItem):
                if not storable(item.document_id + item.title + (item.text or "")):
                    shown = item.origin.encode("utf-8", "backslashreplace").decode()
                    yield SourceFault(shown, "its id, title or text has half a surrogate pair: no character")
                    continue
                key = unicodedata.normalize("NFKC", item.document_id).casefold()
                if key in seen:
                    yield SourceFault(
                        item.origin, f"its documentId is that of {seen[key]}, or differs only in case"
                    )
                    continue
                seen[key] = item.origin
            yield item


def _source(path: Path, beside: FolderRules) -> Iterator[SourceItem | SourceFault]:
    if path.is_dir():
        yield from _folder(path)
    elif path.suffix.lower() in (".jsonl", ".ndjson"):
        yield from _jsonl(path, beside)
    else:
        yield _file(path, path.name, beside)


def _folder(root: Path) -> Iterator[SourceItem | SourceFault]:
    rules, real_root = FolderRules(root), root.resolve()
    for path in sorted(root.rglob("*"), key=lambda p: p.relative_to(root).as_posix()):
        relative = path.relative_to(root)
        if any(part.startswith(".") for part in relative.parts) or path.is_dir():
            continue
        if path.name in (ACCESS_FILE, CORPUS_FILE):
            continue
        if not below(real_root, path):
            yield SourceFault(str(relative), "a link that leads out of the source is not followed")
        elif is_sidecar(path.name):
            if rules.belongs_to_nothing(path):
                yield SourceFault(
                    str(relative),
                    f"its rights are for {path.name[: -len(SIDECAR)]!r}, and no such file is here",
                )
        elif path.suffix.lower() in MEDIA_TYPES:
            yield _file(path, relative.as_posix(), rules)
        # Everything else (images, licences, code) is no document and no fault either.


def _file(path: Path, name: str, rules: FolderRules) -> SourceItem | SourceFault:
    media_type = MEDIA_TYPES.get(path.suffix.lower())
    if media_type is None:
        known = ", ".join(sorted(MEDIA_TYPES))
        return SourceFault(
            name, f"files ending in {path.suffix or 'nothing'!r} are not read; known are {known}, .jsonl"
        )
    try:
        size = path.stat().st_size
        if size > LARGEST:
            return SourceFault(name, f"{size} bytes; at most {LARGEST} are read")
        raw = path.read_bytes()
        rule, where = rules.rule_for(path)
    except OSError as error:
        return SourceFault(name, f"cannot be read: {error.strerror}")
    except AttestError as error:
        return SourceFault(name, error.message)
    return SourceItem(
        document_id=unicodedata.normalize("NFC", name),
        raw=raw,
        media_type=media_type,
        origin=name,
        access_rule=rule,
        access_where=where,
    )


def _jsonl(path: Path, rules: FolderRules) -> Iterator[SourceItem | SourceFault]:
    try:
        if rules.has_sidecar(path):
            yield SourceFault(path.name, "JSONL has no rights file of its own; give its lines `access`")
            return
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield _json_line(path, number, line, rules)
    except OSError as error:
        yield SourceFault(path.name, f"cannot be read: {error.strerror}")
    except InvalidAccess as error:
        yield SourceFault(path.name, error.message)


def _json_line(path: Path, number: int, line: bytes, rules: FolderRules) -> SourceItem | SourceFault:
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
        return _json_path(path, entry["path"], item, rules)
    return SourceFault(origin, 'needs a "text" or a "path"')


def _json_path(path: Path, target: str, item: SourceItem, rules: FolderRules) -> SourceItem | SourceFault:
    file = path.parent / target
    # `..` and absolute paths would be held against the rules of other folders than those they lead through.
    plain = not Path(target).is_absolute() and ".." not in Path(target).parts
    if not plain or not below(path.parent.resolve(), file):
        return SourceFault(item.origin, "its path leads out of the source")
    found = _file(file, target, rules)
    if isinstance(found, SourceFault):
        return SourceFault(item.origin, found.reason)
    rule, where = (
        (found.access_rule, found.access_where)
        if item.access_rule is None
        else (item.access_rule, item.access_where)
    )
    return replace(item, raw=found.raw, media_type=found.media_type, access_rule=rule, access_where=where)


def resolve_access(
    parsed: ParsedDocument, item: SourceItem, flag: Mapping[str, Any] | None, profile: CorpusProfile
) -> Access:
    """The document's rights, in the order of docs/documents.md: front matter, the rule found beside or above it,
    `--access`, the corpus.

    Raises SourceUnreadable when nothing gives any (rights are never guessed), and for another tenant in a corpus
    that is kept for one.
    """
    own = parsed.front_matter
    if (misspelt := misspelt_access(own)) is not None:
        raise SourceUnreadable(f"its front matter says {misspelt!r}; write `access` in lower case")
    candidates = (
        # An `access:` with nothing behind it is a rule left unfinished, not one left out.
        (own["access"] or {} if "access" in own else None, f"{item.origin} front matter"),
        (item.access_rule, item.access_where),
        (flag, "--access"),
        (profile.default_access, "corpus default_access"),
    )
    for rule, where in candidates:
        if rule is None:
            continue
        if not isinstance(rule, Mapping):
            raise SourceUnreadable(f'{where}: `access` must be a mapping such as {{allow: ["group:eng"]}}.')
        try:
            access = read_access(rule, tenant=profile.tenant, where=where)
        except InvalidAccess as error:
            raise SourceUnreadable(error.message) from error
        if profile.single_tenant and access.tenant != profile.tenant:
            raise SourceUnreadable(
                f"{where}: it is for tenant {access.tenant!r}, and this corpus is kept for {profile.tenant!r} alone "
                "(single_tenant in corpus.toml); give that tenant a corpus of its own"
            )
        return access
    raise SourceUnreadable(
        "nothing says who may see it; give `access` in its front matter, an access.toml in its folder, "
        '--access \'{"allow": ["*"]}\', or default_access in corpus.toml'
    )
