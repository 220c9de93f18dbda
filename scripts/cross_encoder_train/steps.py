"""The steps of a run, in order."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import torch

from cross_encoder_train import comparing
from cross_encoder_train.card import COMPARISON, write_card
from cross_encoder_train.corpora import write_corpora
from cross_encoder_train.export import MAX_TOKENS, WINDOW_TOKENS, WINDOWS, export
from cross_encoder_train.lists import read_lists, write_lists
from cross_encoder_train.model import from_embedder
from cross_encoder_train.training import train
from service.bootstrap import EMBEDDERS
from service.evaluation.rerankers import write_golden
from service.online.rerank.cross_encoder import CrossEncoderReranker
from service.onnx.pairs import Pairing

EMBEDDER = EMBEDDERS / "multilingual-e5-small"


def run(data: Path, home: Path, out: Path, questions: int, minutes: float) -> None:
    torch.set_num_threads(1)
    write_corpora(data, home, questions)
    model, tokenizer = from_embedder()
    write_lists(home, Pairing(tokenizer, MAX_TOKENS, WINDOW_TOKENS, WINDOWS), EMBEDDER)
    lists = list(read_lists(home))
    pairs = sum(len(one.pairs) for one in lists)
    print(f"training on {len(lists)} lists, {pairs} pairs, for {minutes:g} minutes in all", flush=True)
    began = time.monotonic()
    steps = train(model, lists, home, minutes * 60)
    print(f"{steps} steps; this run {(time.monotonic() - began) / 60:.0f} minutes", flush=True)
    export(model, tokenizer, out)
    shutil.copyfile(EMBEDDER / "LICENSE", out / "LICENSE.e5")  # of the weights it began with
    write_golden(CrossEncoderReranker(out, threads=1), out)
    write_card(home, out)
    print(f"done: {out}; now attest rerankers check {out}, and --compare for its figures")


def compare(data: Path, home: Path, out: Path, cases: int) -> None:
    """Prints the figures, and writes them into the model's card."""
    comparing.prepare(data, home)
    tune, report = (
        comparing.look(home, out, split, most) for split, most in (("tune", cases // 2), ("report", cases))
    )
    told = comparing.table(tune, report)
    (home / COMPARISON).write_text(told, encoding="utf-8")
    write_card(home, out)
    print(told)
