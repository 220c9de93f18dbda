"""Every failure the service can raise, in one tree. Each class has a stable code.

AttestError
├── InvalidInput            the caller's value is wrong; the sentence says what to change
│   ├── InvalidQuestion     a question that cannot be asked (empty, too long, control characters …)
│   └── InvalidAccess       an access rule that means nothing or cannot be read
├── Unauthenticated         no token, or one that does not hold
├── RoleRequired            a good token without the role that the route or command needs
├── RateLimited             this caller asks more often than it may; try again later
├── TooBusy                 as many requests are under way as may be; try again at once
├── NotFound                missing or not yours: the two are never told apart
├── Conflict                compare-and-set lost: somebody else wrote first
├── Unavailable             a part the request cannot do without is down or too slow; try again
│   ├── DeadlineExceeded    the request's time is spent
│   ├── GenerationGone      the pinned generation was pruned meanwhile; ask again
│   ├── AliasOnSeveral      the live alias stands on several generations; an operator mends it in one call
│   └── GenerationFailed    the language model gave no whole reply; `kind` says how
├── SourceUnreadable        one document could not be read; the rest of the run goes on
├── BuildRefused            a build, check, gate or switch was refused; nothing that is live changed
├── Cancelled               an operator stopped this work; nothing that is live changed
└── Misconfigured           settings, profile, mapping or model folder do not fit together

Degradations (rerank late, one leg missing, cache down) are values in the trace, not exceptions.
"""

from __future__ import annotations


class AttestError(Exception):
    """Root of the tree. `code` is stable and public; the message is a sentence that helps."""

    code = "INTERNAL"
    retry_after_s: int | None = None  # where asking again helps: after how many seconds

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code


class InvalidInput(AttestError):
    code = "INVALID_INPUT"


class InvalidQuestion(InvalidInput):
    code = "INVALID_QUESTION"


class InvalidAccess(InvalidInput):
    code = "INVALID_ACCESS"


class Unauthenticated(AttestError):
    code = "UNAUTHENTICATED"

    def __init__(self) -> None:
        # No detail on purpose: why a token fails is of use only to somebody who forges one.
        super().__init__("A valid bearer token is needed.")


class RoleRequired(AttestError):
    code = "ROLE_REQUIRED"

    def __init__(self, role: str) -> None:
        super().__init__(f"This needs the role '{role}'.")
        self.role = role


class RateLimited(AttestError):
    code = "RATE_LIMITED"

    def __init__(self, retry_after_s: int) -> None:
        super().__init__(f"You have asked too often; ask again in {retry_after_s} s.")
        self.retry_after_s = retry_after_s


class TooBusy(AttestError):
    code = "TOO_BUSY"
    retry_after_s = 1


class NotFound(AttestError):
    code = "NOT_FOUND"

    def __init__(self) -> None:
        # One wording for everything missing or forbidden (promise P1).
        super().__init__("There is nothing here that you may see.")


class Conflict(AttestError):
    code = "CONFLICT"


class Unavailable(AttestError):
    code = "UNAVAILABLE"
    retry_after_s = 2


class DeadlineExceeded(Unavailable):
    code = "DEADLINE_EXCEEDED"


class GenerationGone(Unavailable):
    code = "GENERATION_GONE"


class AliasOnSeveral(Unavailable):
    """`behind` names the generations on the alias, for whoever has to find out what the caller may see there."""

    code = "ALIAS_ON_SEVERAL"

    def __init__(self, behind: tuple[str, ...]) -> None:
        super().__init__("The live index is not in order; an operator runs `attest doctor`.")
        self.behind = behind


class GenerationFailed(Unavailable):
    """`kind` is one of: unreachable, timeout, too_long, cut_off, refused, schema_unsupported, unreadable."""

    code = "GENERATION_FAILED"

    def __init__(self, kind: str) -> None:
        super().__init__("The language model gave no whole reply. Try again in a moment.")
        self.kind = kind


class SourceUnreadable(AttestError):
    code = "SOURCE_UNREADABLE"


class BuildRefused(AttestError):
    code = "BUILD_REFUSED"


class Cancelled(AttestError):
    code = "CANCELLED"


class Misconfigured(AttestError):
    code = "MISCONFIGURED"
