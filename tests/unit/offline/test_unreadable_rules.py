"""A rule that is there but says nothing readable refuses its document; a wider rule never takes its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from service.domain.sources import SourceItem
from service.errors import SourceUnreadable
from service.offline.ingest.parsing import parse
from service.offline.ingest.sources import read_sources, resolve_access
from service.profiles.corpus import CorpusProfile

EVERYBODY = {"allow": ["*"]}
CORPUS = CorpusProfile(name="handbook", default_access=EVERYBODY)


def rights_of(front_matter: str) -> frozenset[str]:
    text = f"---\n{front_matter}\n---\n# Pay\n\nThe pay of all.\n"
    item = SourceItem(document_id="pay.md", raw=text.encode(), media_type="text/markdown", origin="pay.md")
    return resolve_access(parse(item), item, EVERYBODY, CORPUS).allow


def test_the_rule_of_front_matter_goes_before_wider_ones() -> None:
    assert rights_of('title: Pay\naccess: {allow: ["group:hr"]}') == {"group:hr"}


@pytest.mark.parametrize(
    "front_matter",
    [
        'title: Pay: who gets what\naccess:\n  allow: ["group:hr"]',  # a colon that needs quotes
        'access:\n  allow: ["group:hr"\ntitle: Pay',  # a bracket not closed
        '"access": {allow: ["group:hr"]}\na: *nothing',
        '{title: "Pay", access: {allow: ["group:hr"]}',
        'access:\n\tallow: ["group:hr"]',  # a tab
        'date: 2024-13-45\naccess: {allow: ["group:hr"]}',  # a day that does not exist
    ],
)
def test_a_rule_in_front_matter_that_is_no_yaml_refuses_the_document(front_matter: str) -> None:
    with pytest.raises(SourceUnreadable, match="front matter"):
        rights_of(front_matter)


@pytest.mark.parametrize("key", ["Access", "ACCESS", "ａｃｃｅｓｓ", "access "])
def test_a_rule_under_another_spelling_refuses_the_document(key: str) -> None:
    with pytest.raises(SourceUnreadable, match="lower case"):
        rights_of(f'"{key}":\n  allow: ["group:hr"]')


@pytest.mark.parametrize("before", ["\n", "\n\n", " \n", "\t\n"])
def test_front_matter_after_empty_lines_is_front_matter(before: str) -> None:
    text = f'{before}---\naccess: {{allow: ["group:hr"]}}\n---\n# Pay\n\nThe pay of all.\n'
    item = SourceItem(document_id="pay.md", raw=text.encode(), media_type="text/markdown", origin="pay.md")
    parsed = parse(item)
    assert resolve_access(parsed, item, EVERYBODY, CORPUS).allow == {"group:hr"}
    assert parsed.canonical_text == text


def test_front_matter_that_is_never_closed_hides_no_rule() -> None:
    text = '---\naccess:\n  allow: ["group:hr"]\n\n# Pay\n\nThe pay of all.\n'
    item = SourceItem(document_id="pay.md", raw=text.encode(), media_type="text/markdown", origin="pay.md")
    with pytest.raises(SourceUnreadable, match="closing"):
        parse(item)


@pytest.mark.parametrize("front_matter", ["title: Pay: 2026", "a: [", "about: our accessories: none"])
def test_other_front_matter_that_is_no_yaml_stops_nothing(front_matter: str) -> None:
    assert rights_of(front_matter) == {"*"}


@pytest.mark.parametrize(
    "value", ["", "{}", "[]", "false", '"group:hr"', "{labels: [secret]}", "{allow: []}"]
)
def test_an_unfinished_rule_refuses_the_document(value: str) -> None:
    with pytest.raises(SourceUnreadable, match="front matter"):
        rights_of(f"access: {value}")


def test_an_empty_rule_of_a_line_is_not_passed_over_for_that_of_the_file_s_folder(tmp_path: Path) -> None:
    (tmp_path / "pay.txt").write_text("The pay of all.", encoding="utf-8")
    (tmp_path / "access.toml").write_text('[default]\nallow = ["*"]', encoding="utf-8")
    lines = tmp_path / "all.jsonl"
    lines.write_text(json.dumps({"documentId": "pay", "path": "pay.txt", "access": {}}), encoding="utf-8")
    (item,) = read_sources([lines])
    assert isinstance(item, SourceItem)
    with pytest.raises(SourceUnreadable, match="needs `allow`"):
        resolve_access(parse(item), item, EVERYBODY, CORPUS)
