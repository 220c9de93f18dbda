"""Models as data: manifests, sessions, tokenizers, and the two classes that run them.

Takes: a model folder. Returns: unit vectors, token vectors, pair scores.
Called by: bootstrap, and the cross-encoder plugin class.
Never does: download anything, or let onnxruntime or tokenizers be imported elsewhere.
"""
