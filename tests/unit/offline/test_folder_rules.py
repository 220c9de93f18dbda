"""`access.toml`: the nearest file speaks first, in it the last matching rule, then its default."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.errors import InvalidAccess
from service.offline.ingest.folder_rules import FolderRules


def tree(root: Path, **rules: str) -> FolderRules:
    """`access.toml` files by folder: `top` is the root, `a` and `a_b` are folders below it."""
    for place, text in rules.items():
        folder = root if place == "top" else root.joinpath(*place.split("_"))
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "access.toml").write_text(text, encoding="utf-8")
    return FolderRules(root)


def allowed(rules: FolderRules, path: str) -> list[str] | None:
    rule, where = rules.rule_for(rules.root / path)
    assert (rule is None) == (where == "")
    return None if rule is None else rule["allow"]


def default(group: str) -> str:
    return f'[default]\nallow = ["group:{group}"]\n'


def rule(match: str, group: str) -> str:
    return f'[[rule]]\nmatch = "{match}"\nallow = ["group:{group}"]\n'


def test_without_any_file_nothing_is_said(tmp_path: Path) -> None:
    assert FolderRules(tmp_path).rule_for(tmp_path / "a" / "b.md") == (None, "")


def test_the_nearest_file_speaks_first(tmp_path: Path) -> None:
    rules = tree(tmp_path, top=default("top"), a_b=default("deep"))
    assert allowed(rules, "x.md") == ["group:top"]
    assert allowed(rules, "a/x.md") == ["group:top"]
    assert allowed(rules, "a/b/x.md") == ["group:deep"]
    assert allowed(rules, "a/b/c/d/x.md") == ["group:deep"]


def test_the_last_matching_rule_wins_over_earlier_ones_and_the_default(tmp_path: Path) -> None:
    rules = tree(
        tmp_path, top=default("top") + rule("*.md", "md") + rule("pay*", "hr") + rule("*.txt", "txt")
    )
    assert allowed(rules, "pay.md") == ["group:hr"]
    assert allowed(rules, "a.md") == ["group:md"]
    assert allowed(rules, "a.html") == ["group:top"]


def test_a_near_file_without_a_word_for_a_path_leaves_it_to_the_next_one_up(tmp_path: Path) -> None:
    rules = tree(tmp_path, top=default("top"), a=rule("secret/**", "board"))
    assert allowed(rules, "a/secret/x.md") == ["group:board"]
    assert allowed(rules, "a/secret/deep/x.md") == ["group:board"]
    assert allowed(rules, "a/open.md") == ["group:top"]


def test_double_stars_also_mean_no_folder_at_all(tmp_path: Path) -> None:
    rules = tree(tmp_path, top=rule("**/pay.md", "hr"))
    assert allowed(rules, "pay.md") == allowed(rules, "a/b/pay.md") == ["group:hr"]
    assert allowed(rules, "a/overpay.md") is None


def test_case_counts(tmp_path: Path) -> None:
    rules = tree(tmp_path, top=rule("HR/*", "hr"))
    assert allowed(rules, "HR/x.md") == ["group:hr"]
    assert allowed(rules, "hr/x.md") is None


def test_a_rule_tells_where_it_stands_and_not_its_match(tmp_path: Path) -> None:
    rules = tree(tmp_path, a=rule("x.md", "x") + 'labels = ["secret"]\n', b=default("b"))
    assert rules.rule_for(tmp_path / "a" / "x.md") == (
        {"allow": ["group:x"], "labels": ["secret"]},
        "a/access.toml [[rule]] 'x.md'",
    )
    assert rules.rule_for(tmp_path / "b" / "x.md")[1] == "b/access.toml [default]"


def test_rules_above_the_source_do_not_count(tmp_path: Path) -> None:
    tree(tmp_path, top=default("above"))
    (tmp_path / "docs").mkdir()
    assert FolderRules(tmp_path / "docs").rule_for(tmp_path / "docs" / "x.md") == (None, "")


@pytest.mark.parametrize(
    "text",
    [
        "[default",
        'allow = ["*"]',
        "default = 1",
        "rule = 1",
        "rule = [1]",
        "[rule]\nmatch = '*'",
        "[[rule]]\nallow = ['*']",
        "[[rule]]\nmatch = 7\nallow = ['*']",
        "[[rules]]\nmatch = '*'",
    ],
)
def test_a_file_that_cannot_be_meant_so_is_refused_by_name(tmp_path: Path, text: str) -> None:
    rules = tree(tmp_path, top=text)
    with pytest.raises(InvalidAccess, match=r"access\.toml: \S"):
        rules.rule_for(tmp_path / "x.md")


def test_a_file_in_another_encoding_is_refused(tmp_path: Path) -> None:
    (tmp_path / "access.toml").write_bytes('# 权限\n[default]\nallow = ["*"]\n'.encode("gb18030"))
    with pytest.raises(InvalidAccess):
        FolderRules(tmp_path).rule_for(tmp_path / "x.md")
