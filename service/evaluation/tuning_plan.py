"""What `attest tune` is told: corpora, their questions, the goal. A TOML file, checked field by field."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from service.errors import InvalidInput
from service.evaluation.cases import Case, load_cases
from service.evaluation.signals import Asked


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Goal(_Part):
    """How strict the gate is to be. Its threshold lets `answered` of the questions through that can be answered and
    whose best passage is right, unless more than `wrong` of those that must be refused would come with them."""

    answered: float = Field(0.9, gt=0, le=1)
    wrong: float = Field(1.0, gt=0, le=1)


class SetPlan(_Part):
    """One set of questions of one corpus. Paths are from the plan's folder. `fit` is learnt from, `report` is only
    judged; a case in both makes the figures worthless and is refused. `outside` are questions of other texts."""

    name: str
    corpus: str
    family: str = ""
    fit: list[str] = Field(default_factory=list)
    report: list[str] = Field(default_factory=list)
    outside_fit: list[str] = Field(default_factory=list)
    outside_report: list[str] = Field(default_factory=list)


class _Plan(_Part):
    cases: int = Field(100, ge=1, description="At most so many questions of each file.")
    goal: Goal = Goal(answered=0.9, wrong=1.0)
    sets: list[SetPlan] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class TuningSet:
    """A set with its questions read: in `fit` and `report` each answerable one stands twice, also with its gold taken
    out, since the gate has to tell the two apart."""

    name: str
    corpus: str
    family: str
    fit: tuple[Asked, ...]
    report: tuple[Asked, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    goal: Goal
    sets: tuple[TuningSet, ...]


def read_plan(path: Path) -> Plan:
    """Raises InvalidInput naming the field, or the file and line of a case, that does not hold."""
    try:
        plan = _Plan.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except ValidationError as error:
        first = error.errors()[0]
        raise InvalidInput(f"{path.name}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path.name} is not TOML: {error}") from None
    names = [own.name for own in plan.sets]
    if len(set(names)) < len(names):
        raise InvalidInput(f"{path.name}: two sets have one name.")
    return Plan(plan.goal, tuple(_read(own, path.parent, plan.cases) for own in plan.sets))


def _read(own: SetPlan, folder: Path, most: int) -> TuningSet:
    def cases(files: list[str]) -> list[Case]:
        found: list[Case] = []
        for name in files:
            if not (folder / name).is_file():
                raise InvalidInput(f"Set {own.name}: there is no file {folder / name}.")
            found += load_cases(folder / name)[:most]
        return found

    fit, report = cases(own.fit), cases(own.report)
    both = {case.case_id for case in fit} & {case.case_id for case in report}
    if both:
        raise InvalidInput(
            f"Set {own.name}: case {min(both)} is in fit and in report; figures would be too good."
        )
    return TuningSet(
        name=own.name,
        corpus=own.corpus,
        family=own.family or own.name,
        fit=_asked(own.name, fit, cases(own.outside_fit)),
        report=_asked(own.name, report, cases(own.outside_report)),
    )


def _asked(name: str, cases: list[Case], outside: list[Case]) -> tuple[Asked, ...]:
    asked = []
    for case in cases:
        if case.answerability == "unanswerable":
            asked.append(Asked(name, "unanswerable", case))
            continue
        asked += [Asked(name, "answerable", case), Asked(name, "removed", case)]
    return (*asked, *(Asked(name, "outside", case) for case in outside))
