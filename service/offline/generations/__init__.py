"""Generations: identity, build, checks, and the alias switch.

Takes: archived documents and the registry's entries. Returns: manifests, check results, switch reports.
Called by: `offline/story.py`.
Never does: touch what is live, except in the one atomic alias call.
"""
