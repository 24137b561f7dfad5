"""Heads that answer with no token: one label for a whole text, and a span of the text.

A classifier has the stack of an encoder, one vector for all of its outputs, and a linear head. A reader of spans has
two vectors, which say of each token whether the answer begins there, and whether it ends there.
"""

import torch
from torch import Tensor

from tfm_core.model.choices import check_choice
from tfm_core.model.config import TransformerConfig
from tfm_core.model.initialization import fill_parameters
from tfm_core.model.recording import Tapped, name_sites
from tfm_core.model.transformer import Stack
from tfm_core.model.unfilled import Linear

POOLINGS = ("mean", "first")
ENDS = 2  # of a span


class SequenceClassifier(Tapped):
    """Tokens in, a logit per class out. It records what its stack records, and `logits` (batch, classes).

    Args:
        config: an encoder or a decoder; its output matrix, and whether it is tied, mean nothing here.
        classes: how many.
        pooling: what the head reads: "mean", the mean of the outputs over all tokens but padding, as Reimers and
            Gurevych 2019; or "first", the output at the first token, as BERT, Devlin et al. 2019.

    Raises:
        ValueError: for an encoder-decoder, no class, or an unknown pooling.

    Examples:
        >>> import torch
        >>> from tfm_core import SequenceClassifier, TransformerConfig
        >>> model = SequenceClassifier(TransformerConfig(vocab_size=50, d_model=8, num_heads=2), classes=3)
        >>> model(torch.tensor([[5, 6, 7], [8, 9, 0]])).shape  # (batch, classes)
        torch.Size([2, 3])
    """

    def __init__(self, config: TransformerConfig, classes: int, pooling: str = "mean") -> None:
        super().__init__()
        if config.architecture == "encoder-decoder" or classes < 1:
            raise ValueError(f"expected a single stack and at least 1 class, got {config.architecture!r} and {classes}")
        check_choice("pooling", pooling, POOLINGS)
        self.config, self.pooling = config, pooling
        with torch.device("meta"):
            self.stack = Stack(config, decoder=config.architecture == "decoder")
            self.head = Linear(config.d_model, classes)
        fill_parameters(self, config.seed, torch.get_default_device())
        name_sites(self.stack)

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        """Token ids (batch, seq) -> logits (batch, classes)."""
        return self.tap("logits", self.head(self.vectors(tokens, mask)))

    def vectors(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        """What the head reads: token ids (batch, seq) -> a vector for each sequence, (batch, d_model)."""
        states: Tensor = self.stack(tokens, mask)
        if self.pooling == "first":
            return states[:, 0]
        read = (tokens != self.config.pad_id)[..., None]
        return (states * read).sum(1) / read.sum(1).clamp(min=1)


class SpanReader(Tapped):
    """Tokens in, for each of them a logit that the answer begins there, and one that it ends there.

    Devlin et al. 2018, section 4.2: each token's output times a vector for the beginning, and times one for the end;
    the softmax goes over the tokens of the text. It records what its stack records, and `logits` (batch, 2, seq).

    Args:
        config: an encoder; its head means nothing here.

    Raises:
        ValueError: for another architecture.

    Examples:
        >>> import torch
        >>> from tfm_core import TransformerConfig
        >>> from tfm_core.model.classifier import SpanReader
        >>> model = SpanReader(TransformerConfig(vocab_size=50, d_model=8, num_heads=2))
        >>> model(torch.tensor([[5, 6, 7], [8, 9, 0]])).shape  # (batch, 2, seq)
        torch.Size([2, 2, 3])
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        if config.architecture != "encoder":
            raise ValueError(f"architecture: expected an encoder, which sees the whole text, got {config.architecture}")
        self.config = config
        with torch.device("meta"):
            self.stack = Stack(config, decoder=False)
            self.head = Linear(config.d_model, ENDS)
        fill_parameters(self, config.seed, torch.get_default_device())
        name_sites(self.stack)

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        """Token ids (batch, seq) -> logits (batch, 2, seq), of padding negative infinity."""
        logits: Tensor = self.head(self.stack(tokens, mask)).transpose(1, 2)
        is_padding = (tokens == self.config.pad_id)[:, None]
        return self.tap("logits", logits.masked_fill(is_padding, float("-inf")))
