"""The order of permission filtering: what leaks when rights come last, and that nothing does when they come first.

The same questions go through a wrong path made for this experiment and through the product's own. Two worlds:
one restricts its page by a label (zh), one by a group (en).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

from service.domain.rights import Principal
from service.evaluation.experiments import Expectation, expect
from service.evaluation.experiments.permission_absent import as_if_absent
from service.evaluation.experiments.permission_asked import Asked, ask, holds, marks, question
from service.evaluation.experiments.permission_world import PUBLIC, WORLDS, World, publish
from service.evaluation.experiments.permission_wrong import Memory, WrongOrder, WrongResult
from service.offline.story import Offline
from service.online.entry import Online

SIZE = 3  # hits a caller asks for: few, so that one hidden document among them is missed

_ORDERS = {"public first": ("public", "permitted"), "permitted first": ("permitted", "public")}


def run(offline: Offline, online: Online) -> list[Expectation]:
    """Both orders in both worlds; the caller gives an engine of its own."""
    results: list[Expectation] = []
    for world in WORLDS:
        publish(offline, f"{world.name}-with", (*world.public, world.restricted))
        publish(offline, f"{world.name}-without", world.public)
        # The public pages come first and keep their vectors: a difference here is the query path's, one that only the
        # corpus built together shows is the build's.
        publish(offline, f"{world.name}-grown", world.public)
        publish(offline, f"{world.name}-grown", (world.restricted,))
        for part in (_wrong, _right, as_if_absent):
            results += [replace(e, what=f"{world.name}, {e.what}") for e in part(online, world)]
    return results


# ── the wrong order ─────────────────────────────────────────────────────────────────────────────────────


def _wrong(online: Online, world: World) -> list[Expectation]:
    def wrong(who: Principal, corpus: str, cache: Memory) -> WrongResult:
        return WrongOrder(online, world.permitted, cache).search(question(world, corpus), who, SIZE)

    hidden = world.restricted
    cache = Memory()
    fresh, bare = wrong(PUBLIC, "with", cache), wrong(PUBLIC, "without", Memory())
    late = wrong(world.permitted, "with", cache)
    cache = Memory()
    wrong(world.permitted, "with", cache)
    served = wrong(PUBLIC, "with", cache)
    [stored] = cache.entries.values()
    first = fresh.trace["found"][0]["document_id"]
    ranks, bare_ranks = ({h.document_id: h.rank for h in r.hits} for r in (fresh, bare))
    scores, bare_scores = ({h.document_id: h.fused for h in r.hits} for r in (fresh, bare))
    return [
        expect("wrong order: best of all documents", hidden.document_id, first),
        expect("wrong order: nothing of it in the public hits", [], _hits_show(world, fresh)),
        expect("wrong order: leaks id into the public trace", True, holds(hidden.document_id, fresh.trace)),
        expect("wrong order: leaks title into the public trace", True, holds(hidden.title, fresh.trace)),
        expect("wrong order: rank of the first public hit, moved", 2, min(ranks.values())),
        expect("wrong order: the same without the restricted document", 1, min(bare_ranks.values())),
        expect(
            "wrong order: public documents whose fused score moved",
            sorted(scores),
            sorted(d for d in scores if scores[d] != bare_scores.get(d)),
        ),
        expect(f"wrong order: hits left of {SIZE}", SIZE - 1, len(fresh.hits)),
        expect("wrong order: hits without the restricted document", SIZE, len(bare.hits)),
        expect("wrong order: public candidates pushed out", 1, len(set(bare_ranks) - set(ranks))),
        expect(
            "wrong order: cache entry shows id and title",
            [hidden.document_id, hidden.title],
            marks(world, stored.decode())[:2],
        ),
        expect(
            "wrong order: the public caller is served the permitted caller's entry",
            hidden.document_id,
            served.hits[0].document_id,
        ),
        expect(
            "wrong order: the permitted caller is served the public caller's entry",
            [],
            _hits_show(world, late),
        ),
    ]


def _hits_show(world: World, result: WrongResult) -> list[str]:
    return marks(world, [asdict(hit) for hit in result.hits])


# ── the product's order ─────────────────────────────────────────────────────────────────────────────────


def _right(online: Online, world: World) -> list[Expectation]:
    results: list[Expectation] = []
    said = {}
    for order, names in _ORDERS.items():
        rounds = _rounds(replace(online, cache=Memory()), world, names)
        results += [replace(e, what=f"right order, {order}: {e.what}") for e in _judge(world, rounds)]
        said[order] = {name: [asked.said() for asked in rounds[name]] for name in rounds}
    first, second = said.values()
    results.append(expect("right order: who asks first makes a difference", False, first != second))
    return results


def _rounds(online: Online, world: World, names: Sequence[str]) -> dict[str, list[Asked]]:
    """Every question by both principals in turns, and all of it again, so that entries are read too."""
    who = {"public": PUBLIC, "permitted": world.permitted}
    rounds: dict[str, list[Asked]] = {name: [] for name in names}
    for _ in range(2):
        for number in range(len(world.questions)):
            for name in names:
                rounds[name].append(ask(online, question(world, "with", number), who[name], SIZE))
    return rounds


def _judge(world: World, rounds: Mapping[str, Sequence[Asked]]) -> list[Expectation]:
    public, permitted = rounds["public"], rounds["permitted"]
    hidden, best = world.restricted, permitted[0]
    keys = {name: {key for asked in rounds[name] for key, _ in asked.cached} for name in rounds}
    entries = {name: [v.decode() for asked in rounds[name] for _, v in asked.cached] for name in rounds}
    again = len(world.questions)
    cited = sorted({c.document_id for claim in best.answer.claims for c in claim.citations})
    return [
        expect("public hits and features show of it", [], marks(world, [asdict(a.result) for a in public])),
        expect("public answers show of it", [], marks(world, [asdict(a.answer) for a in public])),
        expect("public traces show of it", [], marks(world, [a.traces for a in public])),
        expect("public cache keys show of it", [], marks(world, sorted(keys["public"]))),
        expect("public cache entries show of it", [], marks(world, entries["public"])),
        expect(f"public hits of {SIZE}", SIZE, len(public[0].result.hits)),
        expect("permitted: first hit", hidden.document_id, best.result.hits[0].document_id),
        expect("permitted: status", "answered", best.answer.status),
        expect("permitted: cited", True, hidden.document_id in cited),
        # The same look at what the permitted caller stored: it would have seen a leak.
        expect(
            "permitted cache entries show", list(world.marks()[:2]), marks(world, entries["permitted"])[:2]
        ),
        expect("cache keys", 2 * again, len(keys["public"])),
        expect("cache keys shared by the two", set(), keys["public"] & keys["permitted"]),
        expect(
            "asked again: served from the cache",
            2 * again,
            sum(a.from_cache() for name in rounds for a in rounds[name][again:]),
        ),
        expect(
            "asked again: says the same",
            True,
            all(
                first.said() == second.said()
                for name in rounds
                for first, second in zip(rounds[name][:again], rounds[name][again:], strict=True)
            ),
        ),
    ]
