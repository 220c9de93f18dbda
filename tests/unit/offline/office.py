"""Office files for tests, made of their XML, where no library writes what is wanted."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

from service.domain.sources import ParsedDocument, SourceItem
from service.offline.ingest.parsing import parse
from tests.unit.offline.material import check_blocks

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
EXCEL = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
OLD_EXCEL = "application/vnd.ms-excel"
ODS = "application/vnd.oasis.opendocument.spreadsheet"

_KINDS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT_W = "http://purl.oclc.org/ooxml/wordprocessingml/main"
_SPACES = (
    f'xmlns:w="{W}" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" xmlns:v="urn:schemas-microsoft-com:vml" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
)


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def relationships(*found: tuple[str, str]) -> str:
    lines = "".join(
        f'<Relationship Id="r{at}" Type="{_KINDS}/{kind}" Target="{target}"/>'
        for at, (kind, target) in enumerate(found)
    )
    return f'<Relationships xmlns="{_PACKAGE}">{lines}</Relationships>'


def docx_of(body: str, **parts: str) -> bytes:
    """A DOCX with that body. `parts` are named by their kind (styles, numbering, footnotes, endnotes), without root."""
    files = {
        "_rels/.rels": relationships(("officeDocument", "word/document.xml")),
        "word/document.xml": f"<w:document {_SPACES}><w:body>{body}</w:body></w:document>",
        "word/_rels/document.xml.rels": relationships(*((kind, f"{kind}.xml") for kind in parts)),
    }
    files |= {
        f"word/{kind}.xml": f"<w:{kind} {_SPACES}>{content}</w:{kind}>" for kind, content in parts.items()
    }
    return zipped(files)


def p(*runs: str, props: str = "") -> str:
    """A paragraph; text that is no XML becomes a run."""
    inside = "".join(run if run.startswith("<") else r(run) for run in runs)
    return f"<w:p>{f'<w:pPr>{props}</w:pPr>' if props else ''}{inside}</w:p>"


def r(text: str, props: str = "") -> str:
    return f"<w:r>{f'<w:rPr>{props}</w:rPr>' if props else ''}<w:t xml:space='preserve'>{text}</w:t></w:r>"


def table(*rows: list[str] | str, props: str = "") -> str:
    """Rows are lists of texts or cells, or rows as XML."""
    lines = (
        row
        if isinstance(row, str)
        else f"<w:tr>{''.join(c if c.startswith('<') else cell(c) for c in row)}</w:tr>"
        for row in rows
    )
    return f"<w:tbl><w:tblPr>{props}</w:tblPr>{''.join(lines)}</w:tbl>"


def cell(text: str, props: str = "") -> str:
    return f"<w:tc>{f'<w:tcPr>{props}</w:tcPr>' if props else ''}{text if text.startswith('<') else p(text)}</w:tc>"


def read(raw: bytes, media_type: str = WORD) -> ParsedDocument:
    document = parse(SourceItem("d", raw, media_type, "d"))
    check_blocks(document.canonical_text, document.blocks)
    return document


_S = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def xlsx_of(
    *sheets: str, styles: str = "", names: Mapping[int, str] | None = None, properties: str = ""
) -> bytes:
    """An XLSX; each sheet is what stands inside `<worksheet>`."""
    listed = "".join(
        f'<sheet name="{(names or {}).get(at, f"S{at}")}" sheetId="{at}" r:id="r{at - 1}"/>'
        for at in range(1, len(sheets) + 1)
    )
    files = {
        "_rels/.rels": relationships(("officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f'<workbook xmlns="{_S}" xmlns:r="{_KINDS}">{properties}<sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": relationships(
            *(("worksheet", f"worksheets/sheet{at}.xml") for at in range(1, len(sheets) + 1)),
            ("styles", "styles.xml"),
        ),
        "xl/styles.xml": f'<styleSheet xmlns="{_S}">{styles}</styleSheet>',
    }
    files |= {
        f"xl/worksheets/sheet{at}.xml": f'<worksheet xmlns="{_S}">{inside}</worksheet>'
        for at, inside in enumerate(sheets, 1)
    }
    return zipped(files)
