"""The model: the embedder's first layers over question and passage together, and a head that compares their tokens.

A head over the first token alone has to learn from nothing what matching is, and a few ten thousand pairs are too few
for that. This one starts as late interaction does (each token of the question finds its nearest of the passage) and
learns what to change: how much each token of the question counts, what the layers let one side see of the other, and a
correction from the first token, which starts at nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from embedder_build.graph import load_model
from embedder_build.steps import weights_file
from embedder_build.vocabulary import SPECIAL, kept_pieces, make_tokenizer
from embedder_build.weights import read_weights
from tokenizers import Tokenizer, processors

LAYERS = 4
# Word vectors and lower layers stay as they are: what is asked of a model is mostly words that no pair here holds, and
# without their gradients one core learns from half as many lists again.
FROZEN = 2
ASCII_PIECES = (
    32_000  # with 13,000 Han ones: 18 MB of eight-bit word vectors; the embedder's 60,000 would take 30
)
SCALE = 20.0  # of a mean cosine of about 0 to 1, so that a softmax over candidates is neither flat nor sure


class CrossEncoder(torch.nn.Module):
    """(batch, tokens) of ids, mask and types → (batch, 1) logits. Type 0 is the question's, 1 the passage's."""

    def __init__(self, bert: torch.nn.Module) -> None:
        super().__init__()
        self.bert = bert
        hidden = bert.config.hidden_size
        self.centre = torch.nn.Parameter(torch.zeros(hidden))
        self.scale = torch.nn.Parameter(torch.tensor(SCALE))
        self.importance = torch.nn.Linear(hidden, 1)
        self.dense = torch.nn.Linear(hidden, hidden)
        self.judged = torch.nn.Linear(hidden, 1)
        for part in (self.importance, self.judged):
            torch.nn.init.zeros_(part.weight)
            torch.nn.init.zeros_(part.bias)

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor
    ) -> torch.Tensor:
        hidden = self.hidden(input_ids, attention_mask)
        text = (attention_mask * (input_ids >= len(SPECIAL))).to(hidden.dtype)
        passage = text * token_type_ids.to(hidden.dtype)
        question = text - passage
        unit = torch.nn.functional.normalize(hidden - self.centre, dim=-1)
        # Subtracted, not masked by infinity: a question or a passage without a token must score a number too.
        near = (unit @ unit.transpose(1, 2) - 2 * (1 - passage).unsqueeze(1)).amax(-1)
        counts = torch.softmax(self.importance(hidden).squeeze(-1) - 1e4 * (1 - question), dim=-1)
        matched = (counts * near).sum(-1, keepdim=True)
        first = self.judged(torch.tanh(self.dense(hidden[:, 0])))
        return self.scale * matched + first

    def hidden(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """The last layer, (batch, tokens, hidden)."""
        found: torch.Tensor = self.bert(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return found


def from_embedder(layers: Sequence[int] = range(LAYERS)) -> tuple[CrossEncoder, Tokenizer]:
    """The untrained model with these layers of the embedder, and the tokenizer of its pruned vocabulary."""
    weights = read_weights(weights_file())
    kept = kept_pieces(weights.pieces, weights.scores.tolist(), ASCII_PIECES)
    bert = load_model(weights, kept).b
    bert.encoder.layer = torch.nn.ModuleList(bert.encoder.layer[number] for number in layers)
    bert.config.num_hidden_layers = len(layers)
    for part in (bert.embeddings, *bert.encoder.layer[:FROZEN]):
        part.requires_grad_(False)
    return CrossEncoder(bert), with_types(make_tokenizer(weights, kept))


def with_types(tokenizer: Tokenizer) -> Tokenizer:
    """The pair as XLM-R writes it, the passage with type 1: so the head knows the two sides."""
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s>:1 $B:1 </s>:1",
        special_tokens=[(token, SPECIAL.index(token)) for token in ("<s>", "</s>")],
    )
    return tokenizer


def batch(pairs: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Padded ids, mask and types of pairs of different lengths, as `with_types` makes them: the passage's side begins
    behind the first closing token."""
    longest = max(map(len, pairs))
    ids = torch.full((len(pairs), longest), SPECIAL.index("<pad>"))
    mask, types = torch.zeros_like(ids), torch.zeros_like(ids)
    for row, pair in enumerate(pairs):
        ids[row, : len(pair)] = torch.tensor(pair)
        mask[row, : len(pair)] = 1
        types[row, pair.index(SPECIAL.index("</s>")) + 1 : len(pair)] = 1
    return ids, mask, types


def save(model: CrossEncoder, path: Path, **more: object) -> None:
    """Replaced in one step: a run that is ended while it writes goes on from the one before."""
    torch.save({"model": model.state_dict(), **more}, path.with_suffix(".new"))
    path.with_suffix(".new").replace(path)
