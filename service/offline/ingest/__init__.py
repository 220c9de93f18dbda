"""Ingestion: finding sources, reading formats, cutting chunks.

Takes: paths. Returns: source items, parsed documents with blocks, chunks with spans.
Called by: `offline/story.py`.
Never does: touch an engine, embed, or decide about rights beyond reading their rules.
"""
