"""What the tests of DOCX share: styles, numbering, and files of python-docx."""

from __future__ import annotations

import io

from tests.unit.offline.office import docx_of, p, read

HEADING = '<w:style w:type="paragraph" w:styleId="{}"><w:name w:val="{}"/>{}</w:style>'


def text_of(body: str, **parts: str) -> str:
    return read(docx_of(body, **parts)).canonical_text


def style(name: str) -> str:
    return f'<w:pStyle w:val="{name}"/>'


def saved(document: object) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)  # type: ignore[attr-defined]
    return buffer.getvalue()


def level(at: int, form: str, text: str, more: str = "", start: int = 1) -> str:
    return f'<w:lvl w:ilvl="{at}"><w:start w:val="{start}"/><w:numFmt w:val="{form}"/><w:lvlText w:val="{text}"/>{more}</w:lvl>'


NUMBERING = (
    f'<w:abstractNum w:abstractNumId="0">{level(0, "decimal", "%1.")}{level(1, "lowerLetter", "%2)")}</w:abstractNum>'
    f'<w:abstractNum w:abstractNumId="1">{level(0, "chineseCountingThousand", "第%1章", start=9)}'
    f"{level(1, 'decimal', '%1.%2', '<w:isLgl/>')}</w:abstractNum>"
    f'<w:abstractNum w:abstractNumId="2">{level(0, "bullet", "&#xF0B7;")}</w:abstractNum>'
    + "".join(f'<w:num w:numId="{n + 1}"><w:abstractNumId w:val="{n}"/></w:num>' for n in range(3))
    + '<w:num w:numId="9"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num>'
)


def item(text: str, number: int, at: int = 0) -> str:
    return p(text, props=f'<w:numPr><w:ilvl w:val="{at}"/><w:numId w:val="{number}"/></w:numPr>')
