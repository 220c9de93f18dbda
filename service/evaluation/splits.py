"""Which part of a question set a case belongs to: learnt from, tuned on, or reported. Decided once, by a rule."""

from __future__ import annotations

import hashlib
from typing import Literal, get_args

Split = Literal["train", "tune", "report"]
SPLITS: tuple[Split, ...] = get_args(Split)
RULE = "document-sha256-v1"  # another rule is another name: figures of two rules are not comparable

# Tenths of all documents, in this order: four are learnt from, two tuned on, four reported.
_UP_TO: tuple[tuple[int, Split], ...] = ((4, "train"), (6, "tune"), (10, "report"))


def split_of(document: str) -> Split:
    """The split of every question about this document. Two sets that share a document agree on it."""
    tenth = int.from_bytes(hashlib.sha256(document.encode()).digest()[:8]) % 10
    return next(split for end, split in _UP_TO if tenth < end)
