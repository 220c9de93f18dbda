"""How the verifier judges written claims that people have judged: proven by their source, or not.

A claim is given as a language model's sentence that names one source, the text people judged it by; the spans are
chosen as in the product. Proven although people say it is not borne: let through wrongly. Refused although it is: the
price of refusing what words cannot show.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from service.domain.answers import Evidence
from service.domain.documents import Span
from service.errors import InvalidInput
from service.online.answering.proving import Proven, proven
from service.online.answering.splitting import Written


class Judged(BaseModel):
    """A line of the file. `borne` is what people said: the source bears all of the claim."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    claim: str = Field(min_length=1)
    source: str = Field(min_length=1)
    borne: bool
    group: str = "all"


@dataclass(frozen=True, slots=True)
class Judgement:
    """One group's counts: borne and proven, borne and refused, not borne and proven, not borne and refused."""

    group: str
    borne_proven: int
    borne_refused: int
    other_proven: int
    other_refused: int

    @property
    def precision(self) -> float | None:
        """Of what passes, the share that people say is borne; None where nothing passes."""
        passed = self.borne_proven + self.other_proven
        return self.borne_proven / passed if passed else None

    @property
    def recall(self) -> float | None:
        """Of what people say is borne, the share that passes."""
        borne = self.borne_proven + self.borne_refused
        return self.borne_proven / borne if borne else None


def read(path: Path) -> Iterator[Judged]:
    """Raises InvalidInput naming the line at fault."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip():
            try:
                yield Judged.model_validate(json.loads(line))
            except (ValueError, ValidationError) as error:
                raise InvalidInput(f"{path.name}, line {number}: {error}") from None


def passes(judged: Judged) -> bool:
    """Whether the claim would leave if a model wrote it and named this source."""
    evidence = Evidence(
        source_id="S1",
        chunk_id="judged#0",
        document_id="judged",
        document_version="",
        kind="paragraph",
        title="",
        heading_path=(),
        span=Span(0, len(judged.source)),
        text=judged.source,
        search_prefix="",
        canonical_url="",
        page=None,
        score=1.0,
    )
    return isinstance(proven(Written(judged.claim, (1,)), [evidence], {1}), Proven)


def run(claims: Sequence[Judged]) -> tuple[list[Judgement], list[Judged]]:
    """Counts by group, and what was let through although people say that its source does not bear it."""
    told = [(one, passes(one)) for one in claims]
    groups = dict.fromkeys(one.group for one in claims)
    counted = [
        Judgement(
            group,
            *(
                sum(one.borne == borne and passed == through for one, passed in told if one.group == group)
                for borne in (True, False)
                for through in (True, False)
            ),
        )
        for group in groups
    ]
    return counted, [one for one, passed in told if passed and not one.borne]
