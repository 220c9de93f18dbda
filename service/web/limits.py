"""How much one caller may ask, and how much this process takes on. What is over a limit is refused at once, with
the seconds to wait: nothing queues behind the door.

A caller is a tenant and a subject, as its token says: neither the token (it has many) nor its address (many share it).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from threading import Lock

from service.domain.ports import RateLimiter
from service.domain.rights import Principal
from service.errors import RateLimited, TooBusy


class Limits:
    """Lets a caller in, or raises. Whoever was let in must `leave`."""

    def __init__(self, rate: RateLimiter, *, at_once: int, at_once_each: int) -> None:
        self._rate = rate
        self._at_once = at_once
        self._at_once_each = at_once_each
        self._inside: Counter[str] = Counter()
        self._lock = Lock()

    def enter(self, principal: Principal) -> str:
        """The pass to `leave` with. Raises TooBusy or RateLimited.

        Room first: it costs no round trip, what is refused for want of it uses up nobody's rate, and a slow Redis
        keeps no more requests waiting than have room.
        """
        caller = _hashed(principal)
        with self._lock:
            if self._inside[caller] >= self._at_once_each:
                raise TooBusy(
                    f"You have {self._at_once_each} requests under way, as many as one caller may; wait for one to end."
                )
            if self._inside.total() >= self._at_once:
                raise TooBusy("As many requests are under way here as may be; ask again in a moment.")
            self._inside[caller] += 1
        try:
            wait_s = self._rate.take(caller)
            if wait_s > 0:
                raise RateLimited(max(1, math.ceil(wait_s)))
        except BaseException:
            self.leave(caller)
            raise
        return caller

    def leave(self, caller: str) -> None:
        with self._lock:
            self._inside[caller] -= 1
            if self._inside[caller] <= 0:
                del self._inside[caller]


def _hashed(principal: Principal) -> str:
    """A name for the caller that tells none: it is written to Redis."""
    # A JSON list, so that no separator inside a name can forge another.
    names = json.dumps([principal.tenant, principal.subject], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(names.encode()).hexdigest()
