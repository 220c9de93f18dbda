"""The training itself: lists of candidates, for a stated time, from the last checkpoint on."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from cross_encoder_train.lists import Listed
from cross_encoder_train.model import CrossEncoder, batch, save

NEGATIVES = 5  # of a list at a time; over the epochs others are drawn
LISTS = 2  # a step's; their gradients are added up, since lists of one question are of like length
RATE, HEAD_RATE = 1e-4, 1e-3
WARM = 0.05  # of the time
GOLD = 0.5  # the loss's share of gold; the rest is the teacher's
SEED = 7
CHECKPOINT_S, LOG_STEPS = 300.0, 10


def train(model: CrossEncoder, lists: Sequence[Listed], home: Path, seconds: float) -> int:
    """Trains until so much time has been spent in all, over all runs, and returns the steps made. checkpoint.pt is
    written every five minutes and at the end, log.jsonl has a line for every ten steps."""
    head = [p for name, p in model.named_parameters() if not name.startswith("bert.")]
    body = [p for p in model.bert.parameters() if p.requires_grad]
    groups = [{"params": body, "lr": RATE}, {"params": head, "lr": HEAD_RATE}]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
    schedule = [group["lr"] for group in optimizer.param_groups]
    checkpoint, log = home / "checkpoint.pt", home / "log.jsonl"
    spent, step = _resume(model, optimizer, checkpoint)
    if step == 0:
        log.unlink(missing_ok=True)
        _centre(model, lists)
    kept, began, recent = time.monotonic(), time.monotonic() - spent, []
    model.train()
    order = _order(lists, step)
    while (spent := time.monotonic() - began) < seconds:
        share = spent / seconds
        for group, rate in zip(optimizer.param_groups, schedule, strict=True):
            group["lr"] = rate * min(share / WARM, (1 - share) / (1 - WARM))
        recent += [_learn(model, one) for one in next(order)]
        torch.nn.utils.clip_grad_norm_([*body, *head], 1.0)
        optimizer.step()
        optimizer.zero_grad()
        step += 1
        if step % LOG_STEPS == 0:
            _log(log, step, spent, recent)
            recent = []
        if time.monotonic() - kept > CHECKPOINT_S:
            save(model, checkpoint, optimizer=optimizer.state_dict(), spent=spent, step=step)
            kept = time.monotonic()
    save(model, checkpoint, optimizer=optimizer.state_dict(), spent=spent, step=step)
    return step


def _order(lists: Sequence[Listed], done: int) -> Iterator[list[Listed]]:
    """Batches of lists with negatives drawn, shuffled in each epoch; a run that goes on skips what was done."""
    number = 0
    for epoch in range(1_000_000):
        chance = random.Random(f"{SEED} {epoch}")
        shuffled = chance.sample(lists, len(lists))
        for first in range(0, len(shuffled) - LISTS + 1, LISTS):
            drawn = [_drawn(one, chance) for one in shuffled[first : first + LISTS]]
            number += 1
            if number > done:
                yield drawn


def _drawn(one: Listed, chance: random.Random) -> Listed:
    others = range(1, len(one.pairs))
    places = [0, *chance.sample(others, min(NEGATIVES, len(others)))]
    return Listed(tuple(one.pairs[p] for p in places), tuple(one.teacher[p] for p in places))


def _learn(model: CrossEncoder, one: Listed) -> tuple[float, bool, bool]:
    """Adds the list's gradients. Returns its loss, and whether model and teacher put gold first.

    Loss: cross-entropy of the softmax over the list's scores against GOLD × gold + (1 - GOLD) × the teacher's softmax.
    """
    teacher = torch.tensor(one.teacher)
    target = (1 - GOLD) * torch.softmax(teacher, dim=0)
    target[0] += GOLD
    with torch.autocast(
        "cpu", torch.bfloat16
    ):  # twice as fast where the processor has it; elsewhere emulated
        logits = model(*batch(one.pairs)).squeeze(-1).float()
    loss = -(target * torch.log_softmax(logits, dim=0)).sum()
    (loss / LISTS).backward()
    return float(loss.detach()), bool(logits.argmax() == 0), bool(teacher.argmax() == 0)


def _centre(model: CrossEncoder, lists: Sequence[Listed]) -> None:
    """What all token vectors have in common is taken out, as late interaction needs it: cosines then differ."""
    sample = random.Random(SEED).sample(lists, min(100, len(lists)))
    with torch.no_grad():
        ids, mask, _ = batch([one.pairs[0] for one in sample])
        model.centre.copy_(model.hidden(ids, mask)[mask.bool()].mean(0))


def _resume(model: CrossEncoder, optimizer: torch.optim.Optimizer, checkpoint: Path) -> tuple[float, int]:
    """Seconds spent and steps made so far; zeros for a run that begins."""
    if not checkpoint.exists():
        return 0.0, 0
    state: dict[str, Any] = torch.load(checkpoint, weights_only=True)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return state["spent"], state["step"]


def _log(path: Path, step: int, spent: float, recent: Sequence[tuple[float, bool, bool]]) -> None:
    losses, ours, teachers = zip(*recent, strict=True)
    entry = {
        "step": step,
        "seconds": round(spent),
        "loss": round(sum(losses) / len(losses), 4),
        "goldFirst": round(sum(ours) / len(ours), 3),
        "teacherGoldFirst": round(sum(teachers) / len(teachers), 3),
    }
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")
