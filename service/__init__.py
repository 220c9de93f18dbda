"""Attest: search and answers over an organisation's own documents, never more than it can prove.

Start with `service/ARCHITECTURE.md`, then read `online/story.py` and `offline/story.py` top to bottom.
"""
