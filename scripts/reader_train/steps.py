"""The steps of a run, in order."""

from __future__ import annotations

import shutil
from pathlib import Path

import torch

from reader_train import measuring
from reader_train.export import export
from reader_train.model import from_embedder
from reader_train.pairs import pairs
from reader_train.training import CHECKPOINT, learnt, train
from service.bootstrap import EMBEDDERS

EMBEDDER = EMBEDDERS / "multilingual-e5-small"


def run(data: Path, home: Path, out: Path, minutes: float) -> None:
    torch.set_num_threads(1)
    model, tokenizer = from_embedder()
    examples = learnt(tokenizer, pairs(data))
    right = sum(one.first > 0 for one in examples)
    print(f"training on {right} pairs with an answer and {len(examples) - right} without", flush=True)
    steps = train(model, examples, home, minutes * 60)
    export(model, EMBEDDER, out)
    shutil.copyfile(EMBEDDER / "LICENSE", out / "LICENSE.e5")  # of the weights it began with
    print(f"done: {steps} steps, {out}; --measure prints its figures")


def measure(data: Path, home: Path) -> None:
    """Prints the three tables."""
    torch.set_num_threads(1)
    model, tokenizer = from_embedder()
    model.load_state_dict(torch.load(home / CHECKPOINT, weights_only=True)["model"])
    judge = measuring.Judge(model.eval(), tokenizer)
    for line in measuring.gold(data, judge):
        print(line, flush=True)
    for line in measuring.ranked(data, home, judge):
        print(line, flush=True)
    for line in measuring.sentences(data, judge, EMBEDDER):
        print(line, flush=True)
