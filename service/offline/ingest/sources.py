"""Finding sources: a folder, single files, or JSONL of documents. One bad file is a fault, never a stop."""

from __future__ import annotations

import stat
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from service.access.rules import misspelt_access, read_access
from service.domain.documents import Place
from service.domain.rights import Access
from service.domain.sources import Front, ParsedDocument, Selection, SourceFault, SourceItem, Survey
from service.errors import AttestError, InvalidAccess, SourceUnreadable
from service.offline.ingest.folder_rules import FILE as ACCESS_FILE
from service.offline.ingest.folder_rules import SIDECAR, FolderRules, below, is_sidecar, matches, names_rights
from service.offline.ingest.jsonl import JSONL, read_jsonl
from service.offline.ingest.walking import walk
from service.profiles.corpus import FILE as CORPUS_FILE
from service.profiles.corpus import CorpusProfile
from service.text.wellformed import storable

_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_EXCEL = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
MEDIA_TYPES = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".mdx": "text/markdown",
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "text/html",
    ".txt": "text/plain",
    ".text": "text/plain",
    ".docx": _WORD,
    ".docm": _WORD,
    ".doc": _WORD,  # refused with what to do, unless it is a .docx by another name
    ".xlsx": _EXCEL,
    ".xlsm": _EXCEL,
    ".xls": "application/vnd.ms-excel",
    ".ods": "application/vnd.oasis.opendocument.spreadsheet",
    ".pdf": "application/pdf",
}
EVERYTHING = Selection()
LARGEST = 50 * 1024 * 1024  # bytes of one file


def is_read(name: str) -> bool:
    """Whether a file of that name is a document, or says something of others, in a folder."""
    suffix = Path(name).suffix.lower()
    # JSONL is no document of a folder, but a corpus profile may name cases in it.
    return suffix in MEDIA_TYPES or suffix == ".jsonl" or name == CORPUS_FILE or names_rights(name)


def read_sources(
    paths: Sequence[Path], selection: Selection = EVERYTHING, survey: Survey | None = None
) -> Iterator[SourceItem | SourceFault]:
    """Every document below the paths, in name order. documentId is the path below its source, NFC, POSIX.

    Names that differ only in case or Unicode form, and ids that come twice, are faults: never merged silently.
    """
    seen: dict[str, str] = {}
    rules: dict[Path, FolderRules] = {}
    survey = Survey() if survey is None else survey
    for path in paths:
        for item in _source(path, rules.setdefault(path.parent, FolderRules(path.parent)), selection, survey):
            if isinstance(item, SourceFault):
                yield SourceFault(_shown(item.origin), item.reason)
            elif not storable(item.document_id + item.title + (item.text or "")):
                reason = "its id, title or text has half a surrogate pair: no character"
                yield SourceFault(_shown(item.origin), reason)
            else:
                key = unicodedata.normalize("NFKC", item.document_id).casefold()
                if key in seen:
                    reason = f"its documentId is that of {seen[key]}, or differs only in case"
                    yield SourceFault(item.origin, reason)
                    continue
                seen[key] = item.origin
                yield item


def _shown(name: str) -> str:
    """A name that any output takes: bytes that are no character are spelt out."""
    return name.encode("utf-8", "backslashreplace").decode()


def _source(
    path: Path, beside: FolderRules, selection: Selection, survey: Survey
) -> Iterator[SourceItem | SourceFault]:
    if path.is_dir():
        yield from _folder(path, selection, survey)
    elif path.suffix.lower() in JSONL:
        yield from read_jsonl(path, beside, _file, LARGEST)
    else:
        yield _file(path, path.name, beside, selection.url_of(path.name))


def _folder(root: Path, selection: Selection, survey: Survey) -> Iterator[SourceItem | SourceFault]:
    rules, real_root, found = FolderRules(root), root.resolve(), walk(root)
    # What the registry calls the folder: where it really is.
    folder = _shown(str(selection.stand_ins.get(root, root).resolve()))
    present = survey.present.setdefault(folder, set())
    survey.closed.setdefault(folder, set()).update(name for name, _ in found.closed)
    survey.hidden += found.hidden
    survey.other_kinds.update({"linked folder": found.linked_folders} if found.linked_folders else {})
    for name, reason in found.closed:
        yield SourceFault(name, f"this folder cannot be read: {reason}")
    for relative in found.files:
        path, name = root / relative, relative.as_posix()
        if path.name in (ACCESS_FILE, CORPUS_FILE) or not selected(selection, name.removesuffix(SIDECAR)):
            continue
        present.add(name)
        if not below(real_root, path):
            yield SourceFault(name, "a link that leads out of the source is not followed")
        elif is_sidecar(path.name):
            if rules.belongs_to_nothing(path):
                yield SourceFault(
                    name, f"its rights are for {path.name[: -len(SIDECAR)]!r}, and no such file is here"
                )
        elif path.suffix.lower() in MEDIA_TYPES:
            item = _file(path, name, rules, selection.url_of(name))
            yield replace(item, place=Place(folder, name)) if isinstance(item, SourceItem) else item
        else:  # images, licences, code: no document and no fault either
            survey.other_kinds[path.suffix.lower() or "without ending"] += 1


def selected(selection: Selection, name: str) -> bool:
    """Whether the path below a folder is one that was asked for."""
    path = PurePosixPath(name)
    included = not selection.include or any(matches(path, pattern) for pattern in selection.include)
    return included and not any(matches(path, pattern) for pattern in selection.exclude)


def _file(path: Path, name: str, rules: FolderRules, url: str = "") -> SourceItem | SourceFault:
    media_type = MEDIA_TYPES.get(path.suffix.lower())
    if media_type is None:
        known = ", ".join(sorted(MEDIA_TYPES))
        return SourceFault(
            name, f"files ending in {path.suffix or 'nothing'!r} are not read; known are {known}, .jsonl"
        )
    try:
        facts = path.stat()
        if not stat.S_ISREG(facts.st_mode):
            return SourceFault(name, "it is no ordinary file")  # reading a pipe would wait for ever
        if not facts.st_size:
            return SourceFault(name, "it is empty")
        if facts.st_size > LARGEST:
            return SourceFault(name, f"{facts.st_size} bytes; at most {LARGEST} are read")
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
        canonical_url=url,
        access_rule=rule,
        access_where=where,
    )


def resolve_access(
    parsed: Front | ParsedDocument, item: SourceItem, flag: Mapping[str, Any] | None, profile: CorpusProfile
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
