"""What can be measured: one entry each in `TARGETS`, at the foot of the file.

All are modules that take and return (batch, seq, d_model), or with embedding and output take token ids (batch, seq) and
return logits: the transformer that a `Size` describes, and what it is compared with. Where two entries have the same
parameters, they have the same values.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import torch
from torch import nn
from torch.nn.attention import SDPBackend

from tfm_core.masks.patterns import strided_mask, window_mask
from tfm_core.profiling.closed_forms import Forms
from tfm_core.profiling.closed_forms_others import CONVOLUTION, GRU, LSTM
from tfm_core.profiling.closed_forms_transformer import Transformer
from tfm_core.profiling.setup import Setup
from tfm_core.profiling.size import Size
from tfm_core.profiling.targets_others import convolution_differs, convolutions, recurrence_differs, recurrent
from tfm_core.profiling.targets_transformer import (
    fused,
    lacks_gradient_of_bias,
    lacks_in_torchs_encoder,
    lacks_inner_positions,
    masked,
    masks_the_decoder_alone,
    ours,
    torch_attention,
    torch_encoder,
)

WINDOW, STRIDE = 32, 32


class Build(Protocol):
    """Makes the module on the processor, its weights drawn; on the meta device without weights."""

    def __call__(self, size: Size, seed: int = 0) -> nn.Module:
        """The file's docstring says what the module takes and returns; `size.batch` has no effect."""


def never(anything: Setup | Size) -> str:
    """Nothing stands in its way."""
    return ""


def needs_cuda(setup: Setup) -> str:
    """Why it cannot run without an NVIDIA GPU; "" if there is one."""
    if setup.device != "cuda":
        return "This kernel runs on a CUDA device only."
    return "" if torch.cuda.is_available() else "There is no CUDA device here."


def needs_half_on_cuda(setup: Setup) -> str:
    """Why it cannot run on a GPU but in half precision; on the processor it takes every dtype."""
    half = setup.dtype in ("bfloat16", "float16")
    return "" if setup.device == "cpu" or half else f"On CUDA this kernel takes bfloat16 or float16, not {setup.dtype}."


def needs_cuda_and_no_double(setup: Setup) -> str:
    """Why it cannot run without a GPU, or in double precision."""
    double = "This kernel takes no float64." if setup.dtype == "float64" else ""
    return needs_cuda(setup) or double


def needs_cuda_and_half(setup: Setup) -> str:
    """Why it cannot run but on a GPU and in half precision."""
    return needs_cuda(setup) or needs_half_on_cuda(setup)


def runs(size: Size, setup: Setup) -> str:
    """Nothing in this setting stands in the way of a model of this kind."""
    return ""


def no_bias_on_cuda(size: Size, setup: Setup) -> str:
    """Why FLASH_ATTENTION cannot run this model in this setting; "" if it can. On CUDA it takes no `attn_mask`."""
    stops = "bias_at" in size.scheme.enters() and setup.device == "cuda"
    return f"On CUDA, FLASH_ATTENTION takes no biases, which {size.positional} adds to the scores." if stops else ""


@dataclass(frozen=True)
class Target:
    """One entry.

    Attributes:
        build: makes the module.
        forms: what it needs, in closed form.
        about: what it is, in a line.
        source: where it comes from.
        refuses: why it cannot run in this setting, as a sentence; "" if it can.
        lacks: why it cannot be of this kind, such as for positions that it has no place for, as a sentence; "" if it
            can. What it would need then means nothing.
        stops: why it cannot run a model of this kind in this setting, as a sentence; "" if it can.
        differs: how it differs from the transformer of this kind, as what follows its name; "" where it does not.
    """

    build: Build
    forms: Forms
    about: str
    source: str
    refuses: Callable[[Setup], str] = never
    lacks: Callable[[Size], str] = never
    stops: Callable[[Size, Setup], str] = runs
    differs: Callable[[Size], str] = never

    def cannot(self, size: Size, setup: Setup) -> str:
        """Why it cannot run, of this kind or in this setting; "" if it can."""
        return self.lacks(size) or self.refuses(setup) or self.stops(size, setup)


TARGETS: dict[str, Target] = {
    "with weights": Target(
        partial(ours, keeps_weights=True),
        Transformer("kept"),
        "This library, every attention weight recorded and held until the pass has ended.",
        "Vaswani et al. 2017",
    ),
    "without weights": Target(
        ours,
        Transformer("ours"),
        "This library, as it runs when nobody looks at the weights.",
        "Vaswani et al. 2017",
    ),
    "fused": Target(
        fused,
        Transformer("fused"),
        "Our layers, attention by torch's F.scaled_dot_product_attention at any length, by the kernel it chooses.",
        "Dao et al. 2022 (FlashAttention)",
    ),
    "fused flash": Target(
        partial(fused, backend=SDPBackend.FLASH_ATTENTION),
        Transformer("fused"),
        "The same, by its kernel FLASH_ATTENTION, which never writes the weights down.",
        "Dao et al. 2022 (FlashAttention)",
        needs_half_on_cuda,
        partial(lacks_gradient_of_bias, kernel="FLASH_ATTENTION"),
        no_bias_on_cuda,
    ),
    "fused math": Target(
        partial(fused, backend=SDPBackend.MATH),
        Transformer("math"),
        "The same, by its kernel MATH: plain matrix products, one after the other.",
        "torch.nn.attention.SDPBackend",
    ),
    "fused efficient": Target(
        partial(fused, backend=SDPBackend.EFFICIENT_ATTENTION),
        Transformer("fused"),
        "The same, by its kernel EFFICIENT_ATTENTION, on CUDA only.",
        "Rabe and Staats 2021 (Self-attention Does Not Need O(n²) Memory)",
        needs_cuda_and_no_double,
    ),
    "fused cudnn": Target(
        partial(fused, backend=SDPBackend.CUDNN_ATTENTION),
        Transformer("fused"),
        "The same, by cuDNN's kernel CUDNN_ATTENTION, on CUDA only.",
        "torch.nn.attention.SDPBackend",
        needs_cuda_and_half,
        partial(lacks_gradient_of_bias, kernel="CUDNN_ATTENTION"),
    ),
    "nn.MultiheadAttention": Target(
        torch_attention,
        Transformer("torch"),
        "Our layers, attention by nn.MultiheadAttention, not asked for its weights.",
        "torch.nn.MultiheadAttention",
        lacks=lacks_inner_positions,
    ),
    "nn.MultiheadAttention weights": Target(
        partial(torch_attention, keeps_weights=True),
        Transformer("torch weights"),
        "The same, asked for every head's weights, which are dropped layer by layer.",
        "torch.nn.MultiheadAttention",
        lacks=lacks_inner_positions,
    ),
    "nn.TransformerEncoder": Target(
        torch_encoder,
        Transformer("torch layers"),
        "torch's own stack; its fast path in evaluation is one operator a layer, and on CUDA takes GELU by tanh.",
        "torch.nn.TransformerEncoder",
        lacks=lacks_in_torchs_encoder,
    ),
    "window": Target(
        partial(masked, mask=partial(window_mask, window=WINDOW)),
        Transformer("ours", masked=True),
        f"This library; a token sees no further than {WINDOW - 1} tokens. It saves no work: all scores are computed.",
        "Beltagy et al. 2020 (Longformer)",
        differs=masks_the_decoder_alone,
    ),
    "strided": Target(
        partial(masked, mask=partial(strided_mask, stride=STRIDE)),
        Transformer("ours", masked=True),
        f"This library; a token sees near tokens, and far ones {STRIDE} apart. It saves no work: all scores are "
        "computed.",
        "Child et al. 2019 (Sparse Transformers)",
        differs=masks_the_decoder_alone,
    ),
    "LSTM": Target(
        partial(recurrent, network=nn.LSTM, width=LSTM.width),
        LSTM,
        "nn.LSTM of as many layers and a linear map, the hidden units chosen for the transformer's parameter count.",
        "Hochreiter and Schmidhuber 1997",
        differs=recurrence_differs,
    ),
    "GRU": Target(
        partial(recurrent, network=nn.GRU, width=GRU.width),
        GRU,
        "nn.GRU of as many layers and a linear map, the hidden units chosen for the transformer's parameter count.",
        "Cho et al. 2014",
        differs=recurrence_differs,
    ),
    "convolution": Target(
        partial(convolutions, kernel=CONVOLUTION.kernel, width=CONVOLUTION.width),
        CONVOLUTION,
        f"nn.Conv1d over {CONVOLUTION.kernel} tokens, of as many layers, and a linear map, of the transformer's "
        "parameter count.",
        "LeCun et al. 1989; Gehring et al. 2017",
        differs=convolution_differs,
    ),
}
