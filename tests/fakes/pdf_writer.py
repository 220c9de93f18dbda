"""Small PDFs for tests, each byte of them known: text at places, rules, bookmarks, an information dictionary.

Text is shown in Helvetica, Helvetica-Bold or Courier, and in a CJK font that is not embedded, with UTF-16 codes, so that any
character has a text layer. Places are points from the lower left corner, as PDF has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

_FONTS = {"regular": "F1", "bold": "F2", "mono": "F3", "any": "F4"}
_LIGATURES = {"\ufb01": "\\256", "\ufb02": "\\257"}


@dataclass
class PdfPage:
    width: float = 595
    height: float = 842
    content: list[str] = field(default_factory=list)
    links: list[tuple[tuple[float, float, float, float], str | int]] = field(default_factory=list)

    def text(self, x: float, y: float, text: str, size: float = 11, font: str = "regular") -> PdfPage:
        if font == "any" or any(ord(c) > 0x7E and c not in _LIGATURES for c in text):
            shown, name = f"<{text.encode('utf-16-be').hex()}>", "F4"
        else:
            escaped = "".join(f"\\{c}" if c in "\\()" else _LIGATURES.get(c, c) for c in text)
            shown, name = f"({escaped})", _FONTS[font]
        self.content.append(f"BT /{name} {size} Tf {x} {y} Td {shown} Tj ET")
        return self

    def lines(
        self, x: float, y: float, lines: Sequence[str], size: float = 11, font: str = "regular"
    ) -> PdfPage:
        """One below the other, as close as the lines of a paragraph are."""
        for number, line in enumerate(lines):
            self.text(x, y - number * size * 1.2, line, size, font)
        return self

    def rule(self, x0: float, y0: float, x1: float, y1: float) -> PdfPage:
        self.content.append(f"0.5 w {x0} {y0} m {x1} {y1} l S")
        return self

    def grid(self, xs: Sequence[float], ys: Sequence[float]) -> PdfPage:
        for x in xs:
            self.rule(x, min(ys), x, max(ys))
        for y in ys:
            self.rule(min(xs), y, max(xs), y)
        return self

    def link(self, x0: float, y0: float, x1: float, y1: float, target: str | int) -> PdfPage:
        """An area that leads to an address, to a file (of that ending) or to a page of this PDF, counted from 0."""
        self.links.append(((x0, y0, x1, y1), target))
        return self

    def picture(self) -> PdfPage:
        """A grey picture over the whole page, as a scanner makes it."""
        self.content.append(
            f"q {self.width} 0 0 {self.height} 0 0 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \x80 EI Q"
        )
        return self


def pdf(
    pages: Sequence[PdfPage],
    *,
    title: str = "",
    bookmarks: Sequence[tuple[str, int]] = (),
    encrypt: str = "",
) -> bytes:
    """A PDF of the pages. `bookmarks` are (title, page from 0), all of one level. `encrypt` is a dictionary that is
    put in as it stands: it says that a password is needed."""
    objects: list[bytes] = []

    def add(body: str | bytes) -> int:
        objects.append(body.encode("latin-1") if isinstance(body, str) else body)
        return len(objects)

    catalog, tree = add(""), add("")
    to_unicode = add(_stream(_CMAP))
    descendant = add(
        "<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Test-Song /DW 1000"
        " /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>"
    )
    fonts = " ".join(
        f"/F{number} {add(_type1(name))} 0 R"
        for number, name in enumerate(("Helvetica", "Helvetica-Bold", "Courier"), 1)
    )
    song = add(
        "<< /Type /Font /Subtype /Type0 /BaseFont /Test-Song /Encoding /Identity-H"
        f" /DescendantFonts [{descendant} 0 R] /ToUnicode {to_unicode} 0 R >>"
    )
    kids = []
    waiting: list[int] = []  # annotations; they may lead to pages still to come
    for page in pages:
        content = add(_stream("\n".join(page.content)))
        annotations = [add("") for _ in page.links]
        waiting += annotations
        listed_links = " ".join(f"{number} 0 R" for number in annotations)
        kids.append(
            add(
                f"<< /Type /Page /Parent {tree} 0 R /MediaBox [0 0 {page.width} {page.height}]"
                f" /Contents {content} 0 R /Resources << /Font << {fonts} /F4 {song} 0 R >> >> /Annots [{listed_links}] >>"
            )
        )
    all_links = [link for page in pages for link in page.links]
    for number, (box, target) in zip(waiting, all_links, strict=True):
        objects[number - 1] = _link(box, target, kids).encode()
    outlines = ""
    if bookmarks:
        root = add("")
        first = root + 1
        for number, (name, page_number) in enumerate(bookmarks):
            following = f" /Next {first + number + 1} 0 R" if number + 1 < len(bookmarks) else ""
            add(
                f"<< /Title {_text(name)} /Parent {root} 0 R /Dest [{kids[page_number]} 0 R /Fit]{following} >>"
            )
        objects[root - 1] = (
            f"<< /First {first} 0 R /Last {first + len(bookmarks) - 1} 0 R /Count {len(bookmarks)} >>"
        ).encode()
        outlines = f" /Outlines {root} 0 R"
    objects[catalog - 1] = f"<< /Type /Catalog /Pages {tree} 0 R{outlines} >>".encode()
    listed = " ".join(f"{kid} 0 R" for kid in kids)
    objects[tree - 1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{listed}] >>".encode()
    trailer = f"/Root {catalog} 0 R"
    if title:
        trailer += f" /Info {add(f'<< /Title {_text(title)} >>')} 0 R"
    if encrypt:
        trailer += f" /Encrypt {add(encrypt)} 0 R /ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>]"
    return _file(objects, trailer)


# A password is needed: the check values fit neither the empty password nor any other known one.
LOCKED = f"<< /Filter /Standard /V 1 /R 2 /Length 40 /P -44 /O <{'41' * 32}> /U <{'42' * 32}> >>"


def _link(box: Sequence[float], target: str | int, kids: Sequence[int]) -> str:
    if isinstance(target, int):
        leads = f"/Dest [{kids[target]} 0 R /Fit]"
    elif target.endswith(".pdf") and "://" not in target:
        leads = f"/A << /S /GoToR /F ({target}) /D [0 /Fit] >>"
    else:
        leads = f"/A << /S /URI /URI ({target}) >>"
    return f"<< /Type /Annot /Subtype /Link /Rect [{' '.join(map(str, box))}] /Border [0 0 0] {leads} >>"


def _type1(name: str) -> str:
    return f"<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /StandardEncoding >>"


def _text(value: str) -> str:
    return f"<feff{value.encode('utf-16-be').hex()}>"


def _stream(content: str) -> bytes:
    held = content.encode("latin-1")
    return b"<< /Length %d >>\nstream\n%s\nendstream" % (len(held), held)


def _file(objects: Sequence[bytes], trailer: str) -> bytes:
    written = bytearray(b"%PDF-1.7\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(written)
    written += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    for place in places:
        written += b"%010d 00000 n \n" % place
    written += f"trailer << /Size {len(objects) + 1} {trailer} >>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(written)


_CMAP = (
    """/CIDInit /ProcSet findresource begin
12 dict begin
begincmap
/CMapName /Test def
/CMapType 2 def
1 begincodespacerange
<0000> <FFFF>
endcodespacerange
"""
    + "".join(
        f"1 beginbfrange\n<{high:02X}00> <{high:02X}FF> <{high:02X}00>\nendbfrange\n"
        for high in (*range(0x04), *range(0x20, 0xA0), *range(0xF9, 0x100))
    )
    + """endcmap
CMapName currentdict /CMap defineresource pop
end
end"""
)
