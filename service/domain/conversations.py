"""Whose a conversation is: the resolved questions of one principal, and nothing that was answered."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

NEW = "new"
KEPT = 8  # questions of a conversation that are kept, the last ones


@dataclass(frozen=True, slots=True)
class Owner:
    """The principal a conversation belongs to; to everybody else it does not exist."""

    tenant: str
    subject: str


def new_id() -> str:
    """192 random bits: not to be guessed."""
    return secrets.token_urlsafe(24)
