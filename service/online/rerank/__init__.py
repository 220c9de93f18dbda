"""Reranking by plugins: the contract, the registry of folders, and the stage with its deadline.

Takes: a question's analysis and the fused candidates. Returns: the candidates in a new order, each
contribution named, or the fused order with a degradation.
Called by: `online/ranking.py`; plugins import `contract` only.
Never does: find candidates, or put one without a score first.
"""
