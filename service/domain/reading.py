"""What a reader makes of a question and a passage."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from service.domain.documents import Span

_NOWHERE = -20.0  # logit where nothing of a span was read


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """`answers` is the logit that the passage answers. `places` (tokens, 2) are the spans of the tokens that were read,
    in code points of the passage; `begins` and `ends` (tokens,) the logits that the answer begins and ends there, above
    those of there being none."""

    answers: float
    places: NDArray[np.int64]
    begins: NDArray[np.float32]
    ends: NDArray[np.float32]

    def within(self, span: Span) -> float:
        """Logit that the answer begins and ends in the span, above that of there being none."""
        own = (self.places[:, 0] < span.end) & (self.places[:, 1] > span.start)
        if not own.any():
            return _NOWHERE
        return float(self.begins[own].max() + self.ends[own].max())
