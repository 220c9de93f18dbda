"""The outside world: engines, cache, model servers. Each implements ports of `service.domain.ports`.

Takes: domain values. Returns: domain values, or errors of `service.errors` with their cause kept.
Called by: bootstrap, which puts one engine and one cache together.
Never does: ranking decisions, or letting a third-party type or exception out.
"""
