"""Whether questions can be answered, part by part: the engine, the cache, and the live generations.

This is told without a token, so it counts corpora and never names one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from service.domain.ports import Cache, Engine

_FOREIGN = (
    "live generations were built with another embedder than this service runs; `attest doctor` names it: start the "
    "service with that one, or build and publish with this one"
)


@dataclass(frozen=True, slots=True)
class Readiness:
    """`embedder` is the identity of the one that questions are embedded with."""

    engine: Engine
    cache: Cache
    embedder: str
    _built_with: dict[str, str] = field(default_factory=dict)

    def __call__(self) -> dict[str, str]:
        """Part → "ok", "degraded: …" (still answers) or what is wrong (does not)."""
        cache = "ok" if self.cache.healthy() else "degraded: the cache does not answer; answers are slower"
        parts = {**self.engine.ready(), "cache": cache}
        return parts | self._not_answered() if parts[self.engine.name] == "ok" else parts

    def _not_answered(self) -> dict[str, str]:
        """The live generations that no question is answered from, by reason. Others are not touched by them, so it is
        only where none is left that the service is not ready."""
        behind = self.engine.generations.live()
        doubled = unknown = foreign = 0
        for names in behind.values():
            if len(names) > 1:
                doubled += 1
                continue
            embedder = self._embedder_of(names[0])
            unknown += embedder is None
            foreign += embedder is not None and embedder != self.embedder
        counted = (
            ("aliases", doubled, "live aliases stand on several generations; run `attest doctor`"),
            ("manifests", unknown, "live generations have no manifest; run `attest doctor`"),
            ("generations", foreign, _FOREIGN),
        )
        mark = "" if doubled + unknown + foreign == len(behind) else "degraded: "
        return {part: f"{mark}{count} of {len(behind)} {fault}" for part, count, fault in counted if count}

    def _embedder_of(self, generation: str) -> str | None:
        """Kept once read: a manifest names every document, and what a generation was built with never changes."""
        if generation not in self._built_with:
            manifest = self.engine.builds.get(generation)
            if manifest is None:
                return None
            self._built_with[generation] = manifest.processors.embedder
        return self._built_with[generation]
