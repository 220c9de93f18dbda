"""The online path: from a question and a principal to a proven answer or a structured refusal.

Takes: a Question and a Principal. Returns: GroundedAnswer, SearchResult or SourceView values with a trace.
Called by: web, cli and the evaluation, through `story.Online`.
Never does: write to anything that is searched, or let a stage import another; `story.py` knows the order.
"""
