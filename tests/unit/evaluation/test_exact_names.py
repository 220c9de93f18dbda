"""Names are read with their places, spelt in other ways, and changed into siblings that stand nowhere."""

from __future__ import annotations

import random
from pathlib import Path

from service.evaluation.experiments.exact_names import _siblings, names_in, spellings

PAGE = """# Errors

* Error Number: 8003

    The counts differ.

* Error Number: 1105 (HY000)

    Anything else.

## max_rows

Use `--keep-all` for all.
"""


def test_names_are_found_with_what_stands_below_them_and_siblings_stand_nowhere(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(PAGE, "utf-8")
    names, said = names_in([tmp_path])
    assert {(name.kind, name.text) for name in names} == {
        ("error code", "8003"),
        ("error code", "1105"),
        ("setting", "max_rows"),
        ("option", "keep-all"),
    }
    [option] = [name for name in names if name.kind == "option"]
    assert dict(spellings(option)) == {
        "as written": "--keep-all",
        "case": "--Keep-all",
        "hyphen": "--keepall",
        "space": "--keep all",
        "full width": "－－ｋｅｅｐ－ａｌｌ",
    }
    made = _siblings(names, said, 30, random.Random(1))
    assert len(made) == len(set(made)) == 30
    assert not [text for _, text in made if text.removeprefix("--") in said]
