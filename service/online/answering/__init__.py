"""Answers from packed evidence: proposals made of claims, each bound to spans of this request's evidence.

Takes: a question's analysis and evidence S1..Sn. Returns: a proposal (answer text and claims), or a conflict.
Called by: `online/story.py`.
Never does: decide that a claim holds (that is `online/citations`), or use anything but the evidence.
"""
