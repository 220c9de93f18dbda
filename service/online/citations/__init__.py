"""Verification: what a claim cites is cut anew from the archive and must say what the claim says.

Takes: claims, this request's evidence, archived documents. Returns: a verdict with its reason.
Called by: `online/story.py`, for fresh and for cached answers alike.
Never does: mend a claim, or look for a better source.
"""
