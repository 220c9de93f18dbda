"""TCP ports on the loopback address: is one free, and which are."""

import random
import socket
from collections.abc import Collection

from .errors import StackError

HOST = "127.0.0.1"
# Below Linux's ephemeral range (32768-60999), from which any outgoing connection may take a port between
# our look and the server's bind.
FREE_RANGE = range(20_000, 32_000)


def is_free(port: int) -> bool:
    """Whether a server could bind `port` on loopback now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As servers do; without it a port in TIME_WAIT after `down` looks taken for a minute.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def require_free(port: int, server: str, option: str) -> None:
    """Raise StackError when `port` is taken."""
    if not is_free(port):
        raise StackError(
            f"port {port} for {server} is taken by a program that this stack did not start; "
            f"stop it, or choose another with {option} N ({option} 0 picks a free one)"
        )


def pick_free(count: int, taken: Collection[int] = ()) -> tuple[int, ...]:
    """`count` different free ports outside `taken`, in no order; StackError when none are found."""
    found: list[int] = []
    for port in random.sample(FREE_RANGE, len(FREE_RANGE)):
        if len(found) == count:
            break
        if port not in taken and is_free(port):
            found.append(port)
    if len(found) < count:
        raise StackError(f"no {count} free ports between {FREE_RANGE.start} and {FREE_RANGE.stop}")
    return tuple(found)
