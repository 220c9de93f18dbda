"""Who asks and what is asked, made from the documents of a world and a seed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from service.access.policy import principal_of
from service.domain.rights import Principal
from service.evaluation.experiments.twins import Document

_KINDS = ("asked", "title", "sentence", "words", "two", "again", "odd")
_ODD = ('"{}"', "({}) OR *", "{}*~2", "access.allow:{}", "../{}", "{{{}}}")
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Asked:
    """One question at one door."""

    text: str
    door: str  # "answers" or "search"
    kind: str  # how the question was made


def choose_principals(world: dict[str, Document], count: int, seed: int) -> Iterator[Principal]:
    """Somebody without a group, then members of the groups that most documents name, with and without labels, then
    somebody who is named himself and somebody in several groups."""
    rights = [document.entry.access for document in world.values()]
    tenant = Counter(access.tenant for access in rights).most_common(1)[0][0]
    subjects = Counter(subject for access in rights for subject in (*access.allow, *access.deny))
    groups = [name.removeprefix("group:") for name, _ in subjects.most_common() if name.startswith("group:")]
    users = [name.removeprefix("user:") for name, _ in subjects.most_common() if name.startswith("user:")]
    labels = sorted({label for access in rights for label in access.labels})
    chance = random.Random(seed)
    wanted: list[tuple[str, list[str], list[str]]] = [("nobody", [], [])]
    for place, group in enumerate(groups):
        wanted.append((f"member-{place}", [group], labels if place % 2 else []))
    wanted.insert(3, (users[0] if users else "several", groups[:2], labels[:1]))
    wanted += [(f"mixed-{n}", chance.sample(groups, min(3, len(groups))), labels[:1]) for n in range(count)]
    for name, own_groups, own_labels in wanted[:count]:
        yield principal_of(
            tenant=tenant, subject=name, groups=own_groups, labels=own_labels, roles=["reader", "inspect"]
        )


def make_questions(
    world: dict[str, Document], hidden: set[str], count: int, seed: int, invented: Sequence[tuple[str, str]]
) -> Iterator[Asked]:
    """Questions of many forms, two thirds of them about documents that are hidden; some asked twice."""
    chance = random.Random(seed)
    names = {True: sorted(hidden), False: sorted(world.keys() - hidden)}
    known: dict[bool, list[str]] = {True: [], False: []}
    for document, question in invented:
        if document in world:
            known[document in hidden].append(question)
    before: list[Asked] = []
    for _ in range(count):
        about = not names[False] or (bool(names[True]) and chance.random() < 0.66)
        kind = chance.choice(_KINDS)
        if kind == "again" and before:
            yield chance.choice(before)
            continue
        if kind == "asked" and known[about]:
            text = chance.choice(known[about])
        else:
            kind = "sentence" if kind in ("asked", "again") else kind
            one, other = (world[chance.choice(names[about])] for _ in range(2))
            text = _from_document(kind, one, other, chance)
        before.append(Asked(text[:_LONGEST].strip() or "?", chance.choice(("answers", "search")), kind))
        yield before[-1]


def _from_document(kind: str, document: Document, other: Document, chance: random.Random) -> str:
    text = chance.choice(document.chunks).chunk.text
    words = text.split() if " " in text else list(text)
    start = chance.randrange(max(1, len(words) - 12))
    gap = " " if " " in text else ""
    piece = gap.join(words[start : start + chance.randint(4, 14)])
    if kind == "title":
        return document.archived.title
    if kind == "words":
        return gap.join(chance.sample(words, min(len(words), chance.randint(2, 5))))
    if kind == "two":
        return f"{document.archived.title} {other.archived.title}"
    if kind == "odd":
        return chance.choice(_ODD).format(piece)
    return piece
