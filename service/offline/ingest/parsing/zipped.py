"""Files that are ZIP archives inside (DOCX, XLSX, ODS, EPUB …): opened only within bounds, and never on to disk.

The sizes in the directory are told by whoever made the file. They bound what is read all the same: `zipfile` gives at
most as many bytes of an entry as its directory says.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

from service.errors import SourceUnreadable

MOST_ENTRIES = 20_000
MOST_BYTES = 512 * 1024**2  # unpacked, all entries together
MOST_RATIO = 200  # unpacked to packed; XML of real offices reaches 50
_SMALL = 8 * 1024**2  # below that the ratio says nothing: a blank sheet packs as well as a bomb
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}  # others may ask for gigabytes before giving a byte
_DAMAGED = "it is damaged or cut off: its ZIP archive cannot be read; fetch or save it again"
_FAULTS = (
    zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError,
    ValueError, OSError, KeyError, IndexError, OverflowError,
)  # fmt: skip
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OTHERS = (
    (b"%PDF", "a PDF", ".pdf"),
    (b"{\\rtf", "rich text (RTF)", ""),
    (b"<!DOCTYPE html", "HTML", ".html"),
    (b"<html", "HTML", ".html"),
    (b"<?xml", "XML", ""),
)


class Archive:
    """A checked archive. Raises SourceUnreadable when it is damaged, encrypted, or unpacks to too much."""

    def __init__(self, raw: bytes) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(raw))
            entries = self._zip.infolist()
        except _FAULTS:
            raise SourceUnreadable(_DAMAGED) from None
        total = sum(entry.file_size for entry in entries)
        if len(entries) > MOST_ENTRIES:
            raise SourceUnreadable(f"it holds {len(entries)} files inside; at most {MOST_ENTRIES} are read")
        if total > MOST_BYTES:
            raise SourceUnreadable(f"it unpacks to {total} bytes; at most {MOST_BYTES} are read")
        if total > _SMALL and total > MOST_RATIO * len(raw):
            raise SourceUnreadable(
                f"it unpacks to more than {MOST_RATIO} times its size, as no document does"
            )
        if any(entry.flag_bits & 1 for entry in entries):
            raise SourceUnreadable("it is encrypted; save it without a password")
        if any(entry.compress_type not in _METHODS for entry in entries):
            raise SourceUnreadable("it is packed in a way that no Office program uses; save it again")
        # Of entries with one name the last counts, as for every reader that goes by the directory.
        self.names = frozenset(entry.filename for entry in entries)

    def read(self, name: str) -> bytes:
        """An entry's bytes; empty where there is no such entry."""
        if name not in self.names:
            return b""
        try:
            return self._zip.read(name)
        except _FAULTS:
            raise SourceUnreadable(_DAMAGED) from None


def is_zip(raw: bytes) -> bool:
    return raw.startswith(b"PK")


def is_ole(raw: bytes) -> bool:
    """The container of Office files up to 2003, and of encrypted ones to this day."""
    return raw.startswith(_OLE)


def is_encrypted_office(raw: bytes) -> bool:
    return is_ole(raw) and "EncryptedPackage".encode("utf-16-le") in raw


def refused(raw: bytes, wanted: str) -> SourceUnreadable:
    """What to say of bytes that are not what the name of their file says."""
    if is_encrypted_office(raw):
        return SourceUnreadable("it is encrypted; save it without a password")
    if is_ole(raw) and "WordDocument".encode("utf-16-le") in raw:
        return SourceUnreadable("it is a Word document of before 2007 (.doc); save it as .docx")
    start = raw[:1024].lstrip(b"\xef\xbb\xbf \t\r\n")
    for mark, name, ending in _OTHERS:
        if start[: len(mark)].lower() == mark.lower():
            advice = f"name it {ending}" if ending else f"save it as {wanted}"
            return SourceUnreadable(f"it is {name}, not {wanted}; {advice}")
    return SourceUnreadable(f"it is not {wanted}; is its name right?")
