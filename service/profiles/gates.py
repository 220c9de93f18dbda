"""What a corpus asks of a generation before it goes live: the section `[gates]` of its `corpus.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from service.errors import InvalidInput

MOST_CASES = 1_000
MOST_BYTES = 1024 * 1024  # of the file of cases: it is kept with the corpus, for any process that gates

Line = Annotated[str, Field(min_length=1, max_length=1_000)]


class GateSettings(BaseModel):
    """Limits, and the questions that are asked. Without any question, only what needs none is looked at."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    documents: tuple[float, float] = Field(
        (0.9, 3.0), description="Documents: least and most, as a share of those that are live."
    )
    chunks: tuple[float, float] = Field(
        (0.7, 3.0), description="Chunks: least and most, as a share of those that are live."
    )
    sample_queries: tuple[Line, ...] = Field(
        (), max_length=50, description="Questions; each must be answered with a citation."
    )
    golden_cases: str = Field("", description="JSONL of evaluation cases, beside corpus.toml.")
    tolerance: float = Field(
        0.02, ge=0, le=1, description="By how much a figure of the cases may be worse in a bucket."
    )
    latency: float = Field(3.0, ge=1, description="How many times as long as live the questions may take.")
    groups: tuple[Line, ...] = Field(
        (), max_length=50, description="Groups of the one who asks the questions."
    )
    labels: tuple[Line, ...] = Field(
        (), max_length=50, description="Labels of the one who asks the questions."
    )
    cases: tuple[str, ...] = Field((), description="The lines of `golden_cases`, as they were when read.")

    @field_validator("documents", "chunks")
    @classmethod
    def _band(cls, value: tuple[float, float]) -> tuple[float, float]:
        if not 0 <= value[0] <= 1 <= value[1]:
            raise ValueError("must be [least, most] with 0 ≤ least ≤ 1 ≤ most")
        return value


def gates_of(stored: Mapping[str, Any] | None) -> GateSettings:
    """The settings in a corpus profile as it is stored; the defaults where an earlier release stored none."""
    return GateSettings.model_validate((stored or {}).get("gates") or {})


def with_cases(raw: dict[str, Any], folder: Path) -> dict[str, Any]:
    """A `corpus.toml` as read, with the lines of its file of cases. Raises InvalidInput when that cannot be read."""
    gates = raw.get("gates")
    if not isinstance(gates, dict):
        return raw
    if "cases" in gates:
        raise InvalidInput("corpus.toml: gates.cases is read from the file that gates.golden_cases names.")
    name = gates.get("golden_cases")
    if not isinstance(name, str) or not name:
        return raw
    return raw | {"gates": gates | {"cases": _lines(folder, name)}}


def _lines(folder: Path, name: str) -> tuple[str, ...]:
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise InvalidInput(f"corpus.toml: gates.golden_cases: {name!r} leads out of the folder.")
    try:
        raw = path.read_bytes()
        lines = tuple(filter(str.strip, raw.decode("utf-8").splitlines()))
    except (OSError, UnicodeDecodeError):
        raise InvalidInput(
            f"corpus.toml: gates.golden_cases: {name!r} is no file of UTF-8 text there."
        ) from None
    if len(raw) > MOST_BYTES or len(lines) > MOST_CASES:
        raise InvalidInput(
            f"corpus.toml: gates.golden_cases: {name!r} may have {MOST_CASES} cases and {MOST_BYTES // 1024} KiB; "
            "keep the larger set for `attest eval`."
        )
    return lines
