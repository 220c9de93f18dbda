"""Inference sessions and tokenizers, opened with everything that matters set explicitly."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import onnxruntime as ort
from tokenizers import Tokenizer

from service.errors import Misconfigured


def open_session(model: Path | bytes, threads: int) -> ort.InferenceSession:
    """A CPU session with `threads` intra-op threads that sleep when idle, of a file or its bytes.

    Spinning threads would win microseconds for one caller and take the cores from all others.
    """
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    source = model if isinstance(model, bytes) else str(model)
    return ort.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def open_tokenizer(path: Path) -> Tokenizer:
    """A tokenizer that neither cuts nor pads by itself: whoever calls it does, and says so.

    Its offsets are code points of the text it was given.
    """
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def token_counter(path: Path) -> Callable[[str], int]:
    """Counts the tokens of a text by a tokenizer.json. Raises Misconfigured where that is none."""
    try:
        tokenizer = open_tokenizer(path)
    except Exception as error:  # The tokenizers package raises nothing narrower.
        raise Misconfigured(f"ATTEST_LLM_TOKENIZER: {path} is no tokenizer.json: {error}") from None
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)
