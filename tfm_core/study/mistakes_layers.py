"""Mistakes around attention: norms, residual connections, the feed-forward network, logits and loss."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from tfm_core.study.exercise import NORM_EPS, PAD_ID, Exercise
from tfm_core.study.mistake import Mistake
from tfm_core.study.pieces import POST, RIGHT, gelu, relu

NORM = "Ba et al. 2016 (layer normalization), section 3"
LAYER = "Vaswani et al. 2017, section 3.1; Xiong et al. 2020"
NEXT = "Radford et al. 2018, equation 1"


def has_next(exercise: Exercise) -> bool:
    """A query is followed by another token, which the loss asks for."""
    return exercise.queries > 1


def is_pre(exercise: Exercise) -> bool:
    """Norms stand before the sub-layers."""
    return exercise.norm == "pre"


def is_post(exercise: Exercise) -> bool:
    """Norms stand after the residual connections."""
    return exercise.norm == "post"


# norms


def normed_over(x: Tensor, gain: Tensor, shift: Tensor, dims: tuple[int, ...], eps: float) -> Tensor:
    """Mean 0 and variance 1 over these axes."""
    centred = x - x.mean(dims, keepdim=True)
    return centred / (x.var(dims, correction=0, keepdim=True) + eps).sqrt() * gain + shift


def over_tokens(x: Tensor, gain: Tensor, shift: Tensor, eps: float = NORM_EPS) -> Tensor:
    """Each dimension over the tokens."""
    return normed_over(x, gain, shift, (1,), eps)


def over_tokens_and_width(x: Tensor, gain: Tensor, shift: Tensor, eps: float = NORM_EPS) -> Tensor:
    """All numbers of a sentence together."""
    return normed_over(x, gain, shift, (1, 2), eps)


def over_the_batch(x: Tensor, gain: Tensor, shift: Tensor, eps: float = NORM_EPS) -> Tensor:
    """Each dimension over all tokens of the batch, as batch normalization does."""
    return normed_over(x, gain, shift, (0, 1), eps)


def unbiased(x: Tensor, gain: Tensor, shift: Tensor, eps: float = NORM_EPS) -> Tensor:
    """The variance's sum is divided by d_model − 1."""
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + eps).sqrt() * gain + shift


def epsilon_outside(x: Tensor, gain: Tensor, shift: Tensor, eps: float = NORM_EPS) -> Tensor:
    """Epsilon is added to the deviation."""
    return (x - x.mean(-1, keepdim=True)) / (x.std(-1, correction=0, keepdim=True) + eps) * gain + shift


def unbiased_and_outside(x: Tensor, gain: Tensor, shift: Tensor, eps: float = NORM_EPS) -> Tensor:
    """x.std(-1) + eps, as torch's std is unbiased by default."""
    return (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps) * gain + shift


def by_the_variance(x: Tensor, gain: Tensor, shift: Tensor, eps: float = NORM_EPS) -> Tensor:
    """The root is missing."""
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, correction=0, keepdim=True) + eps) * gain + shift


def not_centred(x: Tensor, gain: Tensor, shift: Tensor, eps: float = NORM_EPS) -> Tensor:
    """The mean stays, as in an RMS norm."""
    return x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * gain + shift


def no_gain(gain: Tensor) -> Tensor:
    """The gain is 1 throughout."""
    return torch.ones_like(gain)


# residual connections


def not_added(x: Tensor, change: Tensor, normed: Callable[[Tensor], Tensor]) -> Tensor:
    """The sub-layer's output alone."""
    return change


def not_added_then_normed(x: Tensor, change: Tensor, normed: Callable[[Tensor], Tensor]) -> Tensor:
    """The norm of the sub-layer's output alone."""
    return normed(change)


def added_after_the_norm(x: Tensor, change: Tensor, normed: Callable[[Tensor], Tensor]) -> Tensor:
    """The norm of the sub-layer's output, and then x."""
    return x + normed(change)


def around_the_normed(x: Tensor, read: Tensor) -> Tensor:
    """x = norm(x); x = x + sublayer(x): the normed stream is added to."""
    return read


# the feed-forward network


def gelu_tanh(x: Tensor) -> Tensor:
    """GELU by its tanh approximation."""
    return F.gelu(x, approximate="tanh")


def no_activation(x: Tensor) -> Tensor:
    """Two linear layers, which together are a single one."""
    return x


# logits and loss


def not_normed(x: Tensor, normed: Callable[[Tensor], Tensor]) -> Tensor:
    """The residual stream itself."""
    return x


def log_probabilities(x: Tensor, table: Tensor) -> Tensor:
    """Probabilities in place of logits."""
    return (x @ table.mT).softmax(-1)


def not_shifted(logits: Tensor, ids: Tensor) -> Tensor:
    """Each place is asked for its own token."""
    return F.cross_entropy(logits.flatten(0, 1), ids.flatten(), ignore_index=PAD_ID)


def shifted_back(logits: Tensor, ids: Tensor) -> Tensor:
    """Each place is asked for the token before it."""
    return F.cross_entropy(logits[:, 1:].flatten(0, 1), ids[:, :-1].flatten(), ignore_index=PAD_ID)


def shifted_twice(logits: Tensor, ids: Tensor) -> Tensor:
    """Each place is asked for the token after the next."""
    return F.cross_entropy(logits[:, :-2].flatten(0, 1), ids[:, 2:].flatten(), ignore_index=PAD_ID)


def with_padding(logits: Tensor, ids: Tensor) -> Tensor:
    """Padding counts like any token."""
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())


def padding_in_the_mean(logits: Tensor, ids: Tensor) -> Tensor:
    """Padding adds 0 to the sum and 1 to the number of tokens."""
    kept = F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten(), ignore_index=PAD_ID, reduction="sum")
    return kept / ids[:, 1:].numel()


def softmax_twice(logits: Tensor, ids: Tensor) -> Tensor:
    """Probabilities are handed to cross_entropy, which takes them for logits."""
    loss: Tensor = RIGHT["loss"](logits.softmax(-1), ids)
    return loss


def summed(logits: Tensor, ids: Tensor) -> Tensor:
    """The sum over tokens."""
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten(), ignore_index=PAD_ID, reduction="sum")


LAYERS: dict[str, Mistake] = {
    "norm over the tokens": Mistake(
        about="LayerNorm",
        wrong={"norm": over_tokens},
        right_is="mean and variance of each token’s vector, over d_model",
        wrong_is="mean and variance of each dimension, over the tokens",
        symptom="A causal model leaks, as each token’s norm depends on later ones; a text of one token becomes 0.",
        cure="x.mean(-1, keepdim=True), x.var(-1, correction=0, keepdim=True).",
        source=NORM,
    ),
    "norm over tokens and width": Mistake(
        about="LayerNorm",
        wrong={"norm": over_tokens_and_width},
        right_is="mean and variance of each token’s vector, over d_model",
        wrong_is="mean and variance of all numbers of the sentence",
        symptom="A causal model leaks: each token’s norm depends on later ones, and on padding.",
        cure="nn.LayerNorm(d_model), not nn.LayerNorm((seq, d_model)).",
        source=NORM,
    ),
    "norm over the batch": Mistake(
        about="LayerNorm",
        wrong={"norm": over_the_batch},
        right_is="mean and variance of each token’s vector, over d_model",
        wrong_is="mean and variance of each dimension, over all tokens of the batch",
        symptom="A sentence’s result depends on the others of its batch.",
        cure="nn.LayerNorm in place of nn.BatchNorm1d.",
        source=NORM,
    ),
    "unbiased variance": Mistake(
        about="LayerNorm",
        wrong={"norm": unbiased},
        right_is="the variance’s sum divided by d_model",
        wrong_is="the variance’s sum divided by d_model − 1",
        symptom="Off by a factor of √(1 − 1 / d_model): it trains as well; loaded weights are slightly off.",
        cure="x.var(-1, correction=0): torch divides by n − 1 by default.",
        source=NORM,
    ),
    "epsilon outside of the root": Mistake(
        about="LayerNorm",
        wrong={"norm": epsilon_outside},
        right_is="√(variance + ε)",
        wrong_is="√variance + ε",
        symptom="Nearly the same numbers; vectors that are nearly constant are shrunk more.",
        cure="torch.sqrt(var + eps).",
        source=NORM,
    ),
    "torch’s std in the norm": Mistake(
        about="LayerNorm",
        wrong={"norm": unbiased_and_outside},
        right_is="√(variance + ε), the variance’s sum divided by d_model",
        wrong_is="x.std(−1) + ε, the variance’s sum divided by d_model − 1",
        symptom="It trains as well, as in many textbooks; loaded weights are slightly off.",
        cure="torch.sqrt(x.var(-1, correction=0, keepdim=True) + eps).",
        source=NORM,
    ),
    "norm without the root": Mistake(
        about="LayerNorm",
        wrong={"norm": by_the_variance},
        right_is="divided by √(variance + ε)",
        wrong_is="divided by variance + ε",
        symptom="Large vectors become small and small ones large: training is unstable.",
        cure="Divide by torch.sqrt(var + eps).",
        source=NORM,
    ),
    "mean not subtracted": Mistake(
        about="LayerNorm",
        wrong={"norm": not_centred},
        right_is="(x − mean) / √(variance + ε)",
        wrong_is="x / √(mean of x² + ε), which is RMSNorm",
        symptom="It trains as well; loaded weights of a LayerNorm model are off.",
        cure="Subtract x.mean(-1, keepdim=True) first.",
        source=NORM,
    ),
    "gain forgotten": Mistake(
        about="LayerNorm",
        wrong={"gain": no_gain},
        right_is="normed × gain + shift",
        wrong_is="normed + shift",
        symptom="Trained from scratch hardly a difference; loaded weights are off in each dimension.",
        cure="Multiply by the weight, which starts at 1.",
        source=NORM,
    ),
    "post-norm for pre-norm": Mistake(
        about="layer",
        wrong=dict(POST),
        right_is="x + Sublayer(LayerNorm(x))",
        wrong_is="LayerNorm(x + Sublayer(x))",
        symptom="Deep models do not train without warm-up; loaded weights give nonsense.",
        cure="Norm what the sub-layer reads, not the sum: norm_first=True in nn.TransformerEncoderLayer.",
        source=LAYER,
        needs=is_pre,
    ),
    "pre-norm for post-norm": Mistake(
        about="layer",
        wrong={name: RIGHT[name] for name in POST},
        right_is="LayerNorm(x + Sublayer(x))",
        wrong_is="x + Sublayer(LayerNorm(x))",
        symptom="It trains more easily than the paper’s; loaded weights give nonsense.",
        cure="Norm the sum: norm_first=False in nn.TransformerEncoderLayer.",
        source=LAYER,
        needs=is_post,
    ),
    "residual missing": Mistake(
        about="layer",
        wrong={"after": not_added},
        right_is="x + Sublayer(LayerNorm(x))",
        wrong_is="Sublayer(LayerNorm(x))",
        symptom="Deep models do not learn: gradients and the token’s own vector are lost layer by layer.",
        cure="x = x + self.attention(self.norm(x)).",
        source=LAYER,
        needs=is_pre,
    ),
    "residual missing before the norm": Mistake(
        about="layer",
        wrong={"after": not_added_then_normed},
        right_is="LayerNorm(x + Sublayer(x))",
        wrong_is="LayerNorm(Sublayer(x))",
        symptom="Deep models do not learn: gradients and the token’s own vector are lost layer by layer.",
        cure="x = self.norm(x + self.attention(x)).",
        source=LAYER,
        needs=is_post,
    ),
    "residual after the norm": Mistake(
        about="layer",
        wrong={"after": added_after_the_norm},
        right_is="LayerNorm(x + Sublayer(x))",
        wrong_is="x + LayerNorm(Sublayer(x))",
        symptom="The residual stream grows layer by layer, as no norm stands on it; loaded weights give nonsense.",
        cure="x = self.norm(x + self.attention(x)): the sum is normed.",
        source=LAYER,
        needs=is_post,
    ),
    "residual around the normed input": Mistake(
        about="layer",
        wrong={"residual": around_the_normed},
        right_is="x + Sublayer(LayerNorm(x))",
        wrong_is="LayerNorm(x) + Sublayer(LayerNorm(x))",
        symptom="The residual stream is normed again and again: the advantage of pre-norm is lost. It trains.",
        cure="Keep x: h = self.norm(x); x = x + self.attention(h).",
        source=LAYER,
        needs=is_pre,
    ),
    "GELU by tanh": Mistake(
        about="feed-forward network",
        wrong={"activation": gelu_tanh},
        right_is="x Φ(x), exactly",
        wrong_is="0.5 x (1 + tanh(√(2 / π) (x + 0.044715 x³)))",
        symptom="Off by up to 5 · 10⁻⁴: it trains as well. BERT’s weights expect the exact one, GPT-2’s the tanh.",
        cure="F.gelu(x), or nn.GELU(approximate='none').",
        source="Hendrycks and Gimpel 2016, section 2",
        needs=lambda exercise: exercise.activation == "gelu",
    ),
    "ReLU for GELU": Mistake(
        about="feed-forward network",
        wrong={"activation": relu},
        right_is="GELU",
        wrong_is="ReLU",
        symptom="It trains about as well; loaded weights are off.",
        cure="F.gelu between the two linear layers: nn.TransformerEncoderLayer has ReLU by default.",
        source="Hendrycks and Gimpel 2016, section 2",
        needs=lambda exercise: exercise.activation == "gelu",
    ),
    "GELU for ReLU": Mistake(
        about="feed-forward network",
        wrong={"activation": gelu},
        right_is="ReLU",
        wrong_is="GELU",
        symptom="It trains about as well; loaded weights are off.",
        cure="F.relu between the two linear layers.",
        source="Vaswani et al. 2017, equation 2",
        needs=lambda exercise: exercise.activation == "relu",
    ),
    "activation missing": Mistake(
        about="feed-forward network",
        wrong={"activation": no_activation},
        right_is="W_2 · activation(W_1 x + b_1) + b_2",
        wrong_is="W_2 · (W_1 x + b_1) + b_2",
        symptom="Two linear layers are a single linear layer: d_ff hidden units buy nothing.",
        cure="Put the activation between the two layers.",
        source="Vaswani et al. 2017, equation 2",
    ),
    "logits before the final norm": Mistake(
        about="logits",
        wrong={"last": not_normed},
        right_is="LayerNorm(x) @ embedding.T",
        wrong_is="x @ embedding.T",
        symptom="Logits grow with depth: the model is too sure, and its loss starts high.",
        cure="A pre-norm stack ends in a norm: self.head(self.norm(x)).",
        source="Radford et al. 2019, section 2.3",
        needs=is_pre,
    ),
    "softmax before the loss": Mistake(
        about="loss",
        wrong={"loss": softmax_twice},
        right_is="cross_entropy(logits, ids)",
        wrong_is="cross_entropy(softmax(logits), ids)",
        symptom="The loss hardly falls below that of guessing: probabilities lie within 1 of each other.",
        cure="F.cross_entropy takes logits: leave the softmax out.",
        source="torch.nn.CrossEntropyLoss",
        needs=has_next,
    ),
    "probabilities for logits": Mistake(
        about="logits",
        wrong={"unembed": log_probabilities},
        right_is="logits",
        wrong_is="softmax(logits)",
        symptom="A loss or a sampler that takes a softmax again is nearly blind: all tokens look nearly alike.",
        cure="Return the logits, and let F.cross_entropy or the sampler take the softmax.",
        source="torch.nn.CrossEntropyLoss",
    ),
    "loss not shifted": Mistake(
        about="loss",
        wrong={"loss": not_shifted},
        right_is="logits[:, :-1] against ids[:, 1:]",
        wrong_is="logits against ids",
        symptom="The loss falls to nearly 0, as each token is asked for itself; generation repeats a token.",
        cure="cross_entropy(logits[:, :-1], ids[:, 1:]).",
        source=NEXT,
        needs=has_next,
    ),
    "loss shifted the wrong way": Mistake(
        about="loss",
        wrong={"loss": shifted_back},
        right_is="logits[:, :-1] against ids[:, 1:]",
        wrong_is="logits[:, 1:] against ids[:, :-1]",
        symptom="The loss falls to nearly 0, as each token is asked for the one before it, which it has seen.",
        cure="cross_entropy(logits[:, :-1], ids[:, 1:]).",
        source=NEXT,
        needs=has_next,
    ),
    "loss shifted twice": Mistake(
        about="loss",
        wrong={"loss": shifted_twice},
        right_is="logits[:, :-1] against ids[:, 1:]",
        wrong_is="logits[:, :-2] against ids[:, 2:]",
        symptom="Text skips every second token. A data loader and a model that both shift do this.",
        cure="Shift once: transformers’ models shift labels by themselves.",
        source=NEXT,
        needs=lambda exercise: exercise.queries > 2,
    ),
    "padding in the loss": Mistake(
        about="loss",
        wrong={"loss": with_padding},
        right_is="the mean over tokens that are no padding",
        wrong_is="the mean over all, padding asked for, too",
        symptom="The loss falls fast and means little: padding is easy to foresee, and the model learns to write it.",
        cure="F.cross_entropy(…, ignore_index=pad_id).",
        source="torch.nn.CrossEntropyLoss, ignore_index",
        needs=lambda exercise: exercise.has_padding,
    ),
    "loss averaged over padding": Mistake(
        about="loss",
        wrong={"loss": padding_in_the_mean},
        right_is="the sum divided by the tokens that are no padding",
        wrong_is="the sum divided by all places",
        symptom="The loss is smaller the more padding a batch has, and so is the step of learning.",
        cure="Divide by the number of tokens that are no padding: F.cross_entropy(…, ignore_index=pad_id).",
        source="torch.nn.CrossEntropyLoss, ignore_index",
        needs=lambda exercise: exercise.has_padding,
    ),
    "loss summed": Mistake(
        about="loss",
        wrong={"loss": summed},
        right_is="the mean over tokens",
        wrong_is="the sum over tokens",
        symptom="The loss grows with the batch: gradients are clipped or explode.",
        cure="reduction='mean', which is the default.",
        source="torch.nn.CrossEntropyLoss, reduction",
        needs=has_next,
    ),
}
