"""One deadline a request; every stage asks what is left of it."""

from __future__ import annotations

import time
from dataclasses import dataclass

from service.errors import DeadlineExceeded


@dataclass(frozen=True, slots=True)
class Deadline:
    """`expires_at` is a `time.monotonic` value in seconds."""

    expires_at: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        return cls(time.monotonic() + seconds)

    def left(self, at_most: float = float("inf")) -> float:
        """Seconds left, at most `at_most`. Raises DeadlineExceeded when nothing is left."""
        remaining = self.expires_at - time.monotonic()
        if remaining <= 0:
            raise DeadlineExceeded("The request's time is spent. Try again, or ask something narrower.")
        return min(remaining, at_most)
