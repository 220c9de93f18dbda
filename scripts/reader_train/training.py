"""The training itself: pairs, for a stated time, from the last checkpoint on."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer

from reader_train.model import Encoded, Reader, batch, encode
from reader_train.pairs import Pair

PAIRS, LIKE_LENGTH = 16, 256  # a step's pairs are neighbours by length among so many
RATE, HEAD_RATE = 1.5e-4, 1e-3
WARM = 0.06  # of the time
SEED = 1
CHECKPOINT_S, LOG_STEPS = 180.0, 25
CHECKPOINT = "checkpoint.pt"


@dataclass(frozen=True, slots=True)
class Learnt:
    """`first` and `last` token of the answer; both 0, the first token, where there is none."""

    pair: Encoded
    first: int = 0
    last: int = 0


def learnt(tokenizer: Tokenizer, pairs: Sequence[Pair]) -> list[Learnt]:
    """Pairs whose answer was cut off are left out."""
    found = []
    for pair in pairs:
        made = encode(tokenizer, pair.question, pair.passage)
        if pair.answer is None:
            found.append(Learnt(made))
            continue
        inside = [
            place
            for place, (side, (start, end)) in enumerate(zip(made.types, made.offsets, strict=True))
            if side and start < end and start < pair.answer.end and pair.answer.start < end
        ]
        if inside:
            found.append(Learnt(made, inside[0], inside[-1]))
    return found


def train(model: Reader, examples: Sequence[Learnt], home: Path, seconds: float) -> int:
    """Trains until so much time has been spent in all, over all runs, and returns the steps made. The checkpoint is
    written every three minutes and at the end."""
    body = [p for p in model.bert.parameters() if p.requires_grad]
    head = [p for name, p in model.named_parameters() if not name.startswith("bert.")]
    optimizer = torch.optim.AdamW(
        [{"params": body, "lr": RATE}, {"params": head, "lr": HEAD_RATE}], weight_decay=0.01
    )
    schedule = [group["lr"] for group in optimizer.param_groups]
    spent, step = _resume(model, optimizer, home / CHECKPOINT)
    kept, began, recent = time.monotonic(), time.monotonic() - spent, []
    model.train()
    order = _order(examples, step)
    while (spent := time.monotonic() - began) < seconds:
        share = spent / seconds
        for group, rate in zip(optimizer.param_groups, schedule, strict=True):
            group["lr"] = rate * min(share / WARM, (1 - share) / (1 - WARM))
        recent.append(_learn(model, next(order)))
        torch.nn.utils.clip_grad_norm_([*body, *head], 1.0)
        optimizer.step()
        optimizer.zero_grad()
        step += 1
        if step % LOG_STEPS == 0:
            span, there = (sum(losses) / len(losses) for losses in zip(*recent, strict=True))
            print(f"step {step}, {spent:.0f} s: span loss {span:.3f}, no-answer loss {there:.3f}", flush=True)
            recent = []
        if time.monotonic() - kept > CHECKPOINT_S:
            _save(model, optimizer, home / CHECKPOINT, spent, step)
            kept = time.monotonic()
    _save(model, optimizer, home / CHECKPOINT, spent, step)
    return step


def _order(examples: Sequence[Learnt], done: int) -> Iterator[list[Learnt]]:
    """Batches of like length, shuffled in each epoch; a run that goes on skips what was done."""
    number = 0
    for epoch in range(1_000_000):
        chance = random.Random(f"{SEED} {epoch}")
        shuffled = chance.sample(examples, len(examples))
        batches = []
        for at in range(0, len(shuffled), LIKE_LENGTH):
            alike = sorted(shuffled[at : at + LIKE_LENGTH], key=lambda one: len(one.pair.ids))
            batches += [alike[first : first + PAIRS] for first in range(0, len(alike), PAIRS)]
        for one in chance.sample(batches, len(batches)):
            number += 1
            if number > done:
                yield one


def _learn(model: Reader, examples: Sequence[Learnt]) -> tuple[float, float]:
    """Adds the batch's gradients and returns both losses: cross-entropy of the span's ends, and of "there is one"."""
    ends = [torch.tensor([getattr(one, end) for one in examples]) for end in ("first", "last")]
    with torch.autocast("cpu", torch.bfloat16):
        first, last, there = model(*batch([one.pair for one in examples]))
    cross = torch.nn.functional.cross_entropy
    span = (cross(first.float(), ends[0]) + cross(last.float(), ends[1])) / 2
    answered = (ends[0] > 0).float()
    known = torch.nn.functional.binary_cross_entropy_with_logits(there.float(), answered)
    (span + known).backward()
    return float(span.detach()), float(known.detach())


def _save(model: Reader, optimizer: torch.optim.Optimizer, path: Path, spent: float, step: int) -> None:
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "spent": spent, "step": step}
    torch.save(state, path.with_suffix(".new"))
    path.with_suffix(".new").replace(path)


def _resume(model: Reader, optimizer: torch.optim.Optimizer, checkpoint: Path) -> tuple[float, int]:
    """Seconds spent and steps made so far; zeros for a run that begins."""
    if not checkpoint.exists():
        return 0.0, 0
    state: dict[str, Any] = torch.load(checkpoint, weights_only=True)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return state["spent"], state["step"]
