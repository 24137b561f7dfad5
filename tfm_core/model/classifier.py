"""A classifier: the stack of an encoder, the mean of its outputs over the tokens, and a linear head."""

import torch
from torch import Tensor, nn

from tfm_core.model.config import TransformerConfig
from tfm_core.model.initialization import fill_parameters
from tfm_core.model.recording import Tapped, name_sites
from tfm_core.model.transformer import Stack


class SequenceClassifier(Tapped):
    """Tokens in, a logit per class out. It records what its stack records, and `logits` (batch, classes).

    Args:
        config: an encoder or a decoder; its output matrix, and whether it is tied, mean nothing here.
        classes: how many.

    Raises:
        ValueError: for an encoder-decoder, or no class.
    """

    def __init__(self, config: TransformerConfig, classes: int) -> None:
        super().__init__()
        if config.architecture == "encoder-decoder" or classes < 1:
            raise ValueError(f"expected a single stack and at least 1 class, got {config.architecture!r} and {classes}")
        self.config = config
        with torch.device("meta"):
            self.stack = Stack(config, decoder=config.architecture == "decoder")
            self.head = nn.Linear(config.d_model, classes)
        self.to_empty(device=torch.get_default_device())
        fill_parameters(self, config.seed)
        name_sites(self.stack)

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        """Token ids (batch, seq) -> logits (batch, classes). Padding is left out of the mean."""
        read = (tokens != self.config.pad_id)[..., None]
        mean = (self.stack(tokens, mask) * read).sum(1) / read.sum(1).clamp(min=1)
        return self.tap("logits", self.head(mean))
