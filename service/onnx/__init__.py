"""Models as data: manifests, sessions, tokenizers, and the two classes that run them.

Takes: a model folder. Returns: unit vectors, token vectors, pair scores.
Called by: bootstrap, and the cross-encoder plugin class.
Never does: download anything, or let onnxruntime or tokenizers be imported elsewhere.
"""

import os

# onnxruntime 1.29 and newer sends usage figures to its maker, from the moment it is imported, and offers no other
# switch that early. This package is imported before it, and nothing else in the service imports it.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
