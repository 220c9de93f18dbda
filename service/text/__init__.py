"""What text means before any search: folding, words, anchors, quantities, polarity, sentences, offsets.

Takes: text of any script, as stored or as asked.
Returns: folded text, index terms, and findings as spans of the given text.
Called by: both paths, the embedders' preparation, the evaluation.
Never does: IO, or anything whose result depends on an index, a corpus or a clock.
"""
