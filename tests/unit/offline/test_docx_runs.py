"""DOCX: what the runs of a paragraph say, once and in order."""

from __future__ import annotations

from tests.unit.offline.docx_material import HEADING, style, text_of
from tests.unit.offline.material import shown
from tests.unit.offline.office import cell, docx_of, p, r, read, table


def test_signs_inside_a_run() -> None:
    body = p(
        "<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/><w:t>d</w:t><w:softHyphen/>"
        '<w:sym w:font="Symbol" w:char="F0B3"/><w:sym w:font="Wingdings" w:char="F0FE"/><w:sym w:char="4E2D"/></w:r>'
    )
    assert text_of(body) == "a\tb\nc-d≥☑中"


def test_tracked_changes_are_accepted() -> None:
    moved = r("moved ")
    body = p(
        "keep ", f"<w:ins w:id='1'>{r('new ')}</w:ins>", "<w:del w:id='2'><w:r><w:delText>old </w:delText></w:r></w:del>",
        f"<w:moveFrom w:id='3'>{moved}</w:moveFrom>", "end ", f"<w:moveTo w:id='4'>{moved}</w:moveTo>",
    )  # fmt: skip
    assert text_of(body) == "keep new end moved"


def test_a_deleted_paragraph_mark_joins_two_paragraphs() -> None:
    body = p("one ", props="<w:rPr><w:del w:id='1'/></w:rPr>") + p("two") + p("three")
    assert text_of(body) == "one two\n\nthree"
    assert text_of(p("only", props="<w:rPr><w:del w:id='1'/></w:rPr>")) == "only"


def test_deleted_rows_and_cells_are_gone() -> None:
    gone = f"<w:tr><w:trPr><w:del w:id='1'/></w:trPr>{cell('HIDDEN')}</w:tr>"
    body = table(["a", "b"], gone, ["c", cell("HIDDEN", "<w:cellDel w:id='2'/>"), "d"])
    assert text_of(body) == "a | b\nc | d"


def test_hidden_text_is_left_out() -> None:
    styles = (
        '<w:style w:type="character" w:styleId="h"><w:name w:val="h"/><w:rPr><w:vanish/></w:rPr></w:style>'
        '<w:style w:type="paragraph" w:styleId="ph"><w:name w:val="ph"/><w:rPr><w:vanish/></w:rPr></w:style>'
    )
    body = p(
        "a", r("HIDDEN", "<w:vanish/>"), r("HIDDEN", '<w:rStyle w:val="h"/>'), r("b", '<w:vanish w:val="0"/>')
    ) + p("HIDDEN", r("c", '<w:vanish w:val="false"/>'), props=style("ph"))
    assert text_of(body, styles=styles) == "ab\n\nc"


def box(text: str) -> str:
    return f"<w:txbxContent>{p(text)}</w:txbxContent>"


def test_text_boxes_are_read_once() -> None:
    both = (
        f"<w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing><wps:txbx>{box('in a box')}</wps:txbx></w:drawing></mc:Choice>"
        f"<mc:Fallback><w:pict><v:textbox>{box('in a box')}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>"
    )
    old = f"<w:r><w:pict><v:shape><v:textbox>{box('old box')}</v:textbox></v:shape></w:pict></w:r>"
    assert text_of(p("before", both, "after") + p(old)) == "beforeafter\n\nin a box\n\nold box"


def test_links_controls_and_fields_give_what_is_shown() -> None:
    field = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> REF x </w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r>'
        + r("result")
        + '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    body = p(
        f"<w:hyperlink>{r('link ')}</w:hyperlink>", f"<w:sdt><w:sdtContent>{r('control ')}</w:sdtContent></w:sdt>",
        f"<w:fldSimple w:instr='PAGE'>{r('7 ')}</w:fldSimple>", field,
        "<w:r><w:ruby><w:rt><w:r><w:t>han</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>汉</w:t></w:r></w:rubyBase></w:ruby></w:r>",
    )  # fmt: skip
    assert text_of(body) == "link control 7 result汉"


def test_a_field_that_never_ends_swallows_nothing() -> None:
    assert text_of(p('<w:r><w:fldChar w:fldCharType="begin"/></w:r>', "a") + p("b")) == "b"


def test_formulas_stand_on_one_line() -> None:
    def m(tag: str, inside: str) -> str:
        return f"<m:{tag}>{inside}</m:{tag}>"

    t = "<m:r><m:t>{}</m:t></m:r>"
    fraction = m("f", m("num", t.format("a+b")) + m("den", t.format("2")))
    power = m("sSup", m("e", t.format("x")) + m("sup", t.format("2")))
    assert text_of(p("y=", m("oMath", fraction + power))) == "y=(a+b)/2x^2"


def test_the_table_of_contents_and_comments_are_left_out() -> None:
    styles = HEADING.format("toc1", "toc 1", "")
    contents = (
        "<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val='Table of Contents'/></w:docPartObj></w:sdtPr>"
        f"<w:sdtContent>{p('HIDDEN 1')}</w:sdtContent></w:sdt>"
    )
    body = contents + p("HIDDEN 2", props=style("toc1")) + p("a", "<w:commentRangeStart w:id='0'/>", "b")
    assert text_of(body, styles=styles, comments="<w:comment w:id='0'><w:p/></w:comment>") == "ab"


def test_notes_stand_after_the_paragraph_with_their_marks() -> None:
    def reference(kind: str, at: int, more: str = "") -> str:
        return f'<w:r><w:{kind}Reference w:id="{at}"{more}/></w:r>'

    def note(kind: str, at: int, text: str) -> str:
        return f'<w:{kind} w:id="{at}">{p("<w:r><w:footnoteRef/></w:r>", text)}</w:{kind}>'

    body = p(
        "x", reference("footnote", 7), "y", reference("endnote", 2), reference("footnote", 3, ' w:customMarkFollows="1"'), "*"
    ) + table(["h", "i"], ["z", cell(p("w", reference("footnote", 8)))])  # fmt: skip
    document = read(
        docx_of(
            body,
            footnotes='<w:footnote w:type="separator" w:id="-1"><w:p/></w:footnote>'
            + note("footnote", 3, "* own")
            + note("footnote", 7, "first")
            + note("footnote", 8, "second"),
            endnotes=note("endnote", 2, "end"),
        )
    )
    assert shown(document) == [
        ("paragraph", "x[^1]y[^i]*"),
        ("footnote", "[^1]: first"),
        ("footnote", "[^i]: end"),
        ("footnote", "* own"),
        ("table", "h | i\nz | w[^2]"),
        ("footnote", "[^2]: second"),
    ]
