"""Which pieces stay, and the tokenizer made of them.

The full vocabulary of 250,002 pieces covers a hundred languages. Two of them are ours: without the rest the
word embedding shrinks from 96 MB to 30 MB, and Chinese and English keep their segmentation nearly everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

from embedder_build.weights import Unexpected, Weights

ASCII_PIECES = 60_000  # by unigram score; with 22,000 the English cosine fell from .987 to .955
SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")

_ASCII = re.compile(r"[\x00-\x7f▁]*\Z")
# Han, CJK punctuation, the punctuation both languages share, and the signs that manuals use.
_HAN = re.compile(
    r"[\x00-\x7f▁¢£¥©®°±·×÷"
    r"\u2010-\u2027\u2030-\u205f"  # general punctuation, without the invisible direction marks
    r"€←↑→↓∑√∞≈≠≤≥"
    r"\u3000-\u303f～\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0002ffff]+\Z"
)


def kept_pieces(pieces: Sequence[str], scores: Sequence[float], most: int | None = None) -> list[int]:
    """Ids of the pieces that stay, in their old order. They become the ids 0, 1, 2 … of the new vocabulary. `most` is
    how many of ASCII stay, the embedder's number when it is not given."""
    special = set(range(len(SPECIAL)))
    if tuple(pieces[: len(SPECIAL)]) != SPECIAL:
        raise Unexpected(f"the vocabulary begins with {list(pieces[: len(SPECIAL)])}, expected {SPECIAL}")
    ascii_ids = [i for i, piece in enumerate(pieces) if i not in special and _ASCII.match(piece)]
    best = sorted(ascii_ids, key=lambda i: -scores[i])[: most or ASCII_PIECES]
    han = [i for i, piece in enumerate(pieces) if not _ASCII.match(piece) and _HAN.match(piece)]
    return sorted({*special, *best, *han})


def make_tokenizer(weights: Weights, kept: Sequence[int]) -> Tokenizer:
    """XLM-R's tokenizer over the kept pieces; its offsets are those of the text that was given."""
    vocabulary = [(weights.pieces[i], float(weights.scores[i])) for i in kept]
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=weights.unknown, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always", split=True)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B:0 </s>",
        special_tokens=[("<s>", SPECIAL.index("<s>")), ("</s>", SPECIAL.index("</s>"))],
    )
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIAL])
    return tokenizer
