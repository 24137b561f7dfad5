"""Exercises of whole models: what goes in, a small GPT, its loss, and a network that reads token by token."""

import math

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from tfm_core.checks.exercises.beside import Beside, Call, Slip, of_piece, randn
from tfm_core.checks.exercises.coding import Coding
from tfm_core.checks.exercises.fixed import Fixed
from tfm_core.study import pieces


def embed(ids: Tensor, table: Tensor) -> Tensor:
    """Token ids (batch, seq) as vectors (batch, seq, d_model), by a table (vocab, d_model)."""
    # blank: for each id its row of the table
    rows = table[ids]
    # blank: times √d_model: Vaswani et al. 2017, section 3.4
    return rows * math.sqrt(table.shape[-1])


class TinyGPT(nn.Module):
    """A decoder-only transformer: token ids (batch, seq) -> logits (batch, seq, vocab)."""

    def __init__(self, vocab_size: int, d_model: int, num_heads: int, num_layers: int, max_len: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(d_model, num_heads, 4 * d_model, 0.0, batch_first=True, norm_first=True)
            for _ in range(num_layers)
        )
        self.norm = nn.LayerNorm(d_model)
        self.to_logits = nn.Linear(d_model, vocab_size)

    def forward(self, ids: Tensor) -> Tensor:
        places = torch.arange(ids.shape[1], device=ids.device)
        # blank: the vector of each token, plus the vector of its place
        x = self.embedding(ids) + self.positions(places)
        # blank: boolean (seq, seq), True where a token may look: at itself and at what comes before it
        visible = places <= places[:, None]
        for layer in self.layers:
            # blank: the stream after this layer; PyTorch’s layers want a mask as src_mask, in which True means hidden
            x = layer(x, src_mask=~visible)
        # blank: the last norm, and then the logits
        logits: Tensor = self.to_logits(self.norm(x))
        return logits


def next_token_loss(logits: Tensor, ids: Tensor) -> Tensor:
    """The loss of a language model, a number, of logits (batch, seq, vocab) and ids (batch, seq), in which 0 pads."""
    # blank: the logits that have a next token to predict: all places but the last
    predicted = logits[:, :-1]
    # blank: the tokens that they should predict: all but the first
    wanted = ids[:, 1:]
    return F.cross_entropy(predicted.flatten(0, 1), wanted.flatten(), ignore_index=0)


def cross_entropy(logits: Tensor, wanted: Tensor) -> Tensor:
    """The mean of −ln p over examples: logits (example, class), wanted (example): the right class of each."""
    # blank: the logarithms of the probabilities, (example, class): the logits minus the logarithm of their powers’ sum
    logarithms = logits - logits.logsumexp(-1, keepdim=True)
    # blank: of each example the one of its right class; torch.arange(len(wanted)) counts the examples
    right = logarithms[torch.arange(len(wanted)), wanted]
    # blank: minus their mean
    return -right.mean()


def recurrent(x: Tensor, w_in: Tensor, w_state: Tensor) -> Tensor:
    """The last state, (batch, width), of the simplest recurrent network: it reads x (batch, seq, d_model) in order."""
    state = torch.zeros(len(x), len(w_state))
    for at in range(x.shape[1]):
        # blank: tanh of the old state times w_state, plus the token x[:, at] times w_in; both are (out, in)
        state = torch.tanh(state @ w_state.mT + x[:, at] @ w_in.mT)
    return state


def _ids(generator: Generator) -> Tensor:
    ids = torch.randint(1, 12, (2, 6), generator=generator)
    ids[1, -2:] = 0
    return ids


def _embedded(generator: Generator) -> list[Call]:
    return [(_ids(generator), randn(generator, 12, 5))]


def _predicted(generator: Generator) -> list[Call]:
    return [(randn(generator, 2, 6, 12), _ids(generator))]


def _classified(generator: Generator) -> list[Call]:
    wanted = torch.tensor([2, 0, 1, 2, 2])
    return [(randn(generator, 5, 3), wanted), (randn(generator, 5, 3) * 200, wanted)]


def _read(generator: Generator) -> list[Call]:
    return [(randn(generator, 2, 6, 3), randn(generator, 4, 3), randn(generator, 4, 4))]


def _by_torch(x: Tensor, w_in: Tensor, w_state: Tensor) -> Tensor:
    network = nn.RNN(x.shape[-1], len(w_state), bias=False, batch_first=True)
    network.load_state_dict({"weight_ih_l0": w_in, "weight_hh_l0": w_state})
    with torch.no_grad():
        last: Tensor = network(x)[1][0]
    return last


OF_MODELS = {
    "embedding": Coding(
        title="From ids to vectors",
        task="Write the embedding of the paper: a row of the table for each token, times √d_model.",
        solution=embed,
        check=Beside(
            name="embed",
            right=lambda ids, table: F.embedding(ids, table) * table.shape[-1] ** 0.5,
            calls=_embedded,
            mistakes=of_piece("embed", lambda wrong: lambda ids, table: wrong(table, ids)),
        ),
    ),
    "tiny-gpt": Coding(
        title="A small GPT",
        task="Write the pass of a decoder-only transformer: embedding, mask, layers, last norm, logits.",
        solution=TinyGPT,
        check="check_transformer",
        fixed=Fixed(
            asks="The task asks for the logits of ids (batch, seq), with the modules of __init__, each once: token and "
            "place, all layers under a causal mask, the last norm, the logits.",
            calls=lambda g: [(_ids(g),)],
            sizes={"vocab_size": 12, "d_model": 12, "num_heads": 3, "num_layers": 2, "max_len": 8},
        ),
    ),
    "next-token-loss": Coding(
        title="The next token",
        task="Write which logits are compared with which tokens. Padding does not count.",
        solution=next_token_loss,
        check=Beside(name="next_token_loss", right=pieces.loss, calls=_predicted, mistakes=of_piece("loss")),
    ),
    "cross-entropy": Coding(
        title="Cross-entropy, by hand",
        task="Write the loss of a classifier without calling one: the mean of −ln p of the right classes.",
        solution=cross_entropy,
        check=Beside(
            name="cross_entropy",
            right=F.cross_entropy,
            calls=_classified,
            mistakes={
                "softmax before the loss": lambda logits, wanted: F.cross_entropy(logits.softmax(-1), wanted),
                "loss summed": lambda logits, wanted: F.cross_entropy(logits, wanted, reduction="sum"),
            },
            slips=[
                Slip(
                    lambda logits, wanted: -F.cross_entropy(logits, wanted),
                    "The sign is wrong: ln p is negative, and a loss is not.",
                    "The loss is minus the mean.",
                ),
                Slip(
                    lambda logits, wanted: -logits.exp().log().gather(1, wanted[:, None]).mean(),
                    "The sum of the powers is missing: these are logits, not logarithms of probabilities.",
                    "Subtract logits.logsumexp(-1, keepdim=True).",
                ),
                Slip(
                    lambda logits, wanted: -logits.gather(1, wanted[:, None]).mean(),
                    "The sum of the powers is missing: these are logits, not logarithms of probabilities.",
                    "Subtract logits.logsumexp(-1, keepdim=True).",
                ),
            ],
        ),
    ),
    "recurrent": Coding(
        title="One token after the other",
        task="Write the step of the simplest recurrent network: a new state from the old one and a token.",
        solution=recurrent,
        check=Beside(
            name="recurrent",
            right=_by_torch,
            calls=_read,
            slips=[
                Slip(
                    lambda x, w_in, w_state: torch.tanh(x[:, -1] @ w_in.mT),
                    "The old state is not used: only the last token is left.",
                    "Add the old state times w_state before tanh.",
                ),
                Slip(
                    lambda x, w_in, w_state: _by_torch(x, w_in, w_state.mT),
                    "w_state is not transposed: it is stored as (out, in).",
                    "state @ w_state.mT.",
                ),
                Slip(
                    lambda x, w_in, w_state: _without_tanh(x, w_in, w_state),
                    "There is no tanh: the states grow without a bound.",
                    "Take tanh of the sum.",
                ),
            ],
        ),
    ),
}


def _without_tanh(x: Tensor, w_in: Tensor, w_state: Tensor) -> Tensor:
    state = torch.zeros(len(x), len(w_state))
    for at in range(x.shape[1]):
        state = state @ w_state.mT + x[:, at] @ w_in.mT
    return state
