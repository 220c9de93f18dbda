"""The model: the embedder's twelve layers over question and passage together; where the answer begins and ends, and
whether there is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from embedder_build.graph import load_model
from embedder_build.steps import weights_file
from embedder_build.vocabulary import SPECIAL, kept_pieces, make_tokenizer
from embedder_build.weights import read_weights
from tokenizers import Tokenizer

from cross_encoder_train.model import with_types
from service.text.folding import fold_width

FROZEN = 6  # layers that stay as they are, with the word vectors: half of the time a step would take
MOST_TOKENS, MOST_QUESTION = 288, 300  # of a pair; code points
_FAR = 1e4  # subtracted from logits that do not count


@dataclass(frozen=True, slots=True)
class Encoded:
    """A pair's token ids, their side (0 the question's, 1 the passage's), spans in their own text."""

    ids: list[int]
    types: list[int]
    offsets: list[tuple[int, int]]


class Reader(torch.nn.Module):
    """(batch, tokens) of ids, mask and types → logits of the answer's first and last token, (batch, tokens) each, the
    first token standing for "none", and of "there is an answer", (batch,)."""

    def __init__(self, bert: torch.nn.Module) -> None:
        super().__init__()
        self.bert = bert
        hidden = bert.config.hidden_size
        self.side = torch.nn.Parameter(torch.zeros(hidden))
        self.span = torch.nn.Linear(hidden, 2)
        self.first = torch.nn.Sequential(
            torch.nn.Linear(2 * hidden, hidden),
            torch.nn.Tanh(),
            torch.nn.Dropout(0.1),
            torch.nn.Linear(hidden, 1),
        )
        for part in (bert.embeddings, *bert.encoder.layer[:FROZEN]):
            part.requires_grad_(False)

    def forward(
        self, ids: torch.Tensor, mask: torch.Tensor | None, types: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        # Without a mask nothing is padded.
        away = None if mask is None else (1.0 - mask[:, None, None, :].float()) * -_FAR
        with torch.no_grad():
            hidden = self._layers(slice(0, FROZEN), self.bert.embeddings(input_ids=ids), away)
        return self.upper(hidden, torch.ones_like(ids) if mask is None else mask, away, types)

    def upper(
        self, hidden: torch.Tensor, there_is: torch.Tensor, away: torch.Tensor | None, types: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """What is read from the frozen half's rows."""
        hidden = hidden + types[:, :, None].to(hidden.dtype) * self.side
        hidden = self._layers(slice(FROZEN, None), hidden, away).float()
        may = (types * there_is).float()
        may = torch.cat([torch.ones_like(may[:, :1]), may[:, 1:]], 1)
        spans = self.span(hidden) - _FAR * (1 - may)[:, :, None]
        asked = ((1 - types) * there_is).float()[:, :, None]
        question = (hidden * asked).sum(1) / asked.sum(1)
        there = self.first(torch.cat([hidden[:, 0], question], -1)).squeeze(-1)
        return spans[:, :, 0], spans[:, :, 1], there

    def _layers(self, which: slice, hidden: torch.Tensor, away: torch.Tensor | None) -> torch.Tensor:
        for layer in self.bert.encoder.layer[which]:
            made = layer(hidden, attention_mask=away)
            hidden = made[0] if isinstance(made, tuple) else made
        return hidden


def from_embedder() -> tuple[Reader, Tokenizer]:
    """The untrained model, and the tokenizer of the embedder's vocabulary that knows the two sides."""
    weights = read_weights(weights_file())
    kept = kept_pieces(weights.pieces, weights.scores.tolist())
    return Reader(load_model(weights, kept).b), with_types(make_tokenizer(weights, kept))


def encode(tokenizer: Tokenizer, question: str, passage: str) -> Encoded:
    """The end of a pair that is too long is cut."""
    made = tokenizer.encode(fold_width(question)[:MOST_QUESTION], fold_width(passage))
    return Encoded(made.ids[:MOST_TOKENS], made.type_ids[:MOST_TOKENS], made.offsets[:MOST_TOKENS])


def batch(pairs: Sequence[Encoded]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Padded ids, mask and types. Closing tokens are of no side that can hold an answer."""
    longest = max(len(pair.ids) for pair in pairs)
    ids = torch.full((len(pairs), longest), SPECIAL.index("<pad>"))
    mask, types = torch.zeros_like(ids), torch.zeros_like(ids)
    for row, pair in enumerate(pairs):
        length = len(pair.ids)
        ids[row, :length] = torch.tensor(pair.ids)
        types[row, :length] = torch.tensor(pair.types)
        mask[row, :length] = 1
    return ids, mask, types * (ids != SPECIAL.index("</s>"))
