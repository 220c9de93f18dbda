"""The identity of a corpusVersion: a function of its document versions and of everything that processed them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict

from service.domain.generations import Generation, Processors


def corpus_version(documents: Mapping[str, str], processors: Processors) -> str:
    """ "cv" and twelve hex digits of a sha256. The same inputs give the same id, any change another."""
    # What a corpus keeps no token vectors by says nothing of it: its id stays what it was.
    by = {name: value for name, value in asdict(processors).items() if name != "tokens" or value}
    canonical = json.dumps(
        {"documents": dict(sorted(documents.items())), "processors": by},
        sort_keys=True,
        ensure_ascii=False,
        separators=(",", ":"),
    )
    return "cv" + hashlib.sha256(canonical.encode()).hexdigest()[:12]


def next_generation(prefix: str, corpus: str, version: str, existing: Iterable[str]) -> Generation:
    """The next free number of the corpus; numbers rise over all its corpusVersions, so order tells age."""
    numbers = [found.number for name in existing if (found := Generation.parse(name)) is not None]
    return Generation(prefix, corpus, version, max(numbers, default=0) + 1)
