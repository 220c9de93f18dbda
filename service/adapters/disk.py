"""How full a disk may get before an operator should hear of it: one measure for both engines."""

from __future__ import annotations

# Where Elasticsearch, as it comes, puts no more shards on a node, and where it stops all writing to it.
NEARLY_FULL = 85.0
FULL = 95.0


def disk_finding(used_percent: float, free_bytes: int, where: str) -> str:
    """As a finding of `attest doctor`. `where` is what to make room on."""
    said = f"disk {used_percent:.0f} % used, {free_bytes / 1024**3:.1f} GiB free"
    if used_percent >= FULL:
        return f"{said}: nothing can be written soon, if it can now; make room on {where}"
    if used_percent >= NEARLY_FULL:
        return f"degraded: {said}; make room on {where}, or `attest prune`"
    return f"ok: {said}"


def used_percent(total_bytes: int, free_bytes: int) -> float:
    """Of what an ordinary process may use; a disk without a size, as some containers tell it, counts as empty."""
    return 100.0 * (1.0 - free_bytes / total_bytes) if total_bytes > 0 else 0.0
