"""Turns public question sets into corpora and evaluation cases of our format (DESIGN §11).

Takes: the folder of the development data. Returns: for each set a corpus.jsonl, and cases for each split.
Called by: scripts/datasets. Never does: put a text of a set into the repository; splits.json holds counts and hashes.
"""
