"""The networks that are trained: our transformer, and torch's recurrent ones to compare it with."""

import torch
from torch import Tensor, nn

from tfm_core.model.classifier import ENDS, SequenceClassifier, SpanReader
from tfm_core.model.initialization import generator
from tfm_core.model.transformer import Transformer
from tfm_core.training.config import TrainingConfig

OUTPUT = 0.25  # of the first logits' usual spread: training begins with a loss near log(classes), where one guesses
RECURRENT: dict[str, type[nn.LSTM | nn.GRU | nn.RNN]] = {"lstm": nn.LSTM, "gru": nn.GRU, "rnn": nn.RNN}


class Recurrent(nn.Module):
    """Embedding, torch's own recurrent layers, and logits. Token ids (batch, seq) in, (batch, seq, vocab) out.

    Where a transformer of the task sees both directions, so does this: half of d_model reads from each end.
    """

    def __init__(self, config: TrainingConfig) -> None:
        super().__init__()
        task, width = config.about, config.d_model
        both = task.architecture == "encoder"
        self.embedding = nn.Embedding(task.vocab_size, width)
        self.layers = RECURRENT[config.network](
            width, width // 2 if both else width, config.num_layers, batch_first=True, bidirectional=both
        )
        self.unembedding = nn.Linear(width, ENDS if task.spans else task.outcomes)
        self.classes, self.pooling, self.spans = task.classes, config.pooling, task.spans

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits (batch, seq, vocab), (batch, classes) of a classifier, or (batch, 2, seq) where a span is asked."""
        states, _ = self.layers(self.embedding(tokens))
        if self.classes:
            states = states[:, 0] if self.pooling == "first" else states.mean(1)
        logits: Tensor = self.unembedding(states)
        if self.spans:
            return logits.transpose(1, 2).masked_fill((tokens == 0)[:, None], float("-inf"))
        return logits


def network(config: TrainingConfig) -> nn.Module:
    """The network of a run with its first weights, which depend on the seed alone."""
    if config.network == "transformer":
        model = _transformer(config)
        with torch.no_grad():
            (model.unembedding if isinstance(model, Transformer) else model.head).weight.mul_(OUTPUT)
        return model
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(generator(config.seed, config.network).initial_seed())
        return Recurrent(config)


def _transformer(config: TrainingConfig) -> Transformer | SequenceClassifier | SpanReader:
    task, shape = config.about, config.transformer
    if task.spans:
        return SpanReader(shape)
    return SequenceClassifier(shape, task.classes, config.pooling) if task.classes else Transformer(shape)


def parameters(model: nn.Module) -> int:
    """How many numbers are trained."""
    return sum(parameter.numel() for parameter in model.parameters())
