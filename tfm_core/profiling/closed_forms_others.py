"""Closed forms of what the transformer is compared with: networks of as many parameters, as nearly as possible."""

from abc import ABC, abstractmethod
from bisect import bisect_left
from dataclasses import dataclass, replace
from functools import lru_cache

from tfm_core.profiling.closed_forms import Parts, ends, logits, transformer_parameters
from tfm_core.profiling.setup import Setup
from tfm_core.profiling.size import Size


class OfEqualCount(ABC):
    """A network whose width H is chosen so that its parameter count comes nearest to the transformer's."""

    @abstractmethod
    def of_width(self, size: Size, width: int) -> Parts:
        """The parameters of this width, by part, without embedding and output."""

    @abstractmethod
    def peak_between(self, size: Size, setup: Setup, *, backward: bool) -> float:
        """Numbers at the peak of one call without embedding and output, beyond weights and input: an estimate."""

    @abstractmethod
    def flops_between(self, size: Size) -> Parts:
        """FLOPs of one forward pass without embedding and output, by part."""

    def parameters(self, size: Size) -> Parts:
        """Numbers that are learned, by part. Types of tokens and a pooler are in the width alone, as it has none."""
        return {**ends(replace(size, num_token_types=0, pooler=False)), **self.of_width(size, self.width(size))}

    def flops(self, size: Size) -> Parts:
        """FLOPs of one forward pass, by part."""
        return {**self.flops_between(size), **logits(size)}

    def width(self, size: Size) -> int:
        """Hidden units or channels."""
        return _width(self, replace(size, seq_len=1, batch=1))  # what it does not depend on

    def peak(self, size: Size, setup: Setup, *, backward: bool) -> float:
        """The peak between embedding and output, plus the input B n d; or that at the logits or their gradient, B n V.

        Beside the logits' gradient lies what was saved for the way back, about 3/4 of the peak between, and V d. An
        embedding's gradient, V d, comes last, when all that was saved is gone.
        """
        between = self.peak_between(size, setup, backward=backward)
        embedded = size.stream if size.embeds else 0
        if not size.gives_logits:
            learned = sum(self.parameters(size).values()) if backward else 0
            return max(embedded + between, embedded + learned)
        table = size.table if backward else 0
        saved = 0.75 * between if backward else 0
        return embedded + table + max(between, saved + size.outputs)

    def units(self, size: Size) -> int:
        """Numbers of one layer's output, B n H."""
        return size.batch * size.seq_len * self.width(size)

    def results(self, size: Size) -> int:
        """The output, B n d, or the logits B n V."""
        return size.outputs


@dataclass(frozen=True)
class Recurrent(OfEqualCount):
    """An nn.LSTM, nn.GRU or nn.RNN of H hidden units, and a linear map back to d_model.

    Attributes:
        gates: 4 in an LSTM, 3 in a GRU, 1 in an RNN, of which time and memory were never fitted.
        efficiency: measured, as in `Forms`. oneDNN's kernel for the LSTM beats torch's matrix product.
    """

    gates: int
    efficiency: float

    def of_width(self, size: Size, width: int) -> Parts:
        """Recurrence: gates H (inputs + H + 2) in each layer, inputs d in the first, then H. Output d H + d."""
        d, later = size.d_model, size.num_layers - 1
        return {
            "recurrence": self.gates * width * (d + width + 2 + later * (2 * width + 2)),
            "output": d * width + d,
        }

    def flops_between(self, size: Size) -> Parts:
        """B n times: recurrence 2 gates H (inputs + H) in each layer, output 2 d H."""
        d, width, times = size.d_model, self.width(size), size.batch * size.seq_len
        return {
            "recurrence": times * 2 * self.gates * width * (d + width + (size.num_layers - 1) * 2 * width),
            "output": times * 2 * d * width,
        }

    def spared(self, size: Size, *, input_gradient: bool) -> Parts:
        """Gradients of each layer's state before the first token, 2 B gates H^2; of the inputs if nobody asks."""
        width = self.width(size)
        inputs = 0 if input_gradient or size.embeds else size.seq_len * size.d_model
        return {"recurrence": 2 * self.gates * width * size.batch * (inputs + size.num_layers * width)}

    def peak_between(self, size: Size, setup: Setup, *, backward: bool) -> float:
        """Numbers fitted to torch's allocation curve on the processor. U = B n H, and P is the number of parameters.

        GRU: 6 U forward (a layer's input, its three gates, its states twice), and 8.4 U saved in each layer. LSTM, of
        which the oneDNN kernel packs the weights and has a workspace: 7 U and 4 P / 3 L forward, and 15 U saved in each
        layer.
        """
        u, learned, layers = self.units(size), sum(self.parameters(size).values()), size.num_layers
        if self.gates == 4:
            return (15 * layers + 12) * u + learned if backward else 7 * u + 4 * learned / (3 * layers)
        return (8.4 * layers + 2) * u + learned / layers if backward else 6 * u

    def moved(self, size: Size, setup: Setup) -> float:
        """Each layer's gates and states a few times, 4 gates U."""
        return 4 * self.gates * self.units(size) * size.num_layers

    def calls(self, size: Size) -> int:
        """A GRU calls about 6 operators for each token; an LSTM's layer is one operator."""
        return size.num_layers * (10 if self.gates == 4 else 6 * size.seq_len)


@dataclass(frozen=True)
class Convolution(OfEqualCount):
    """Convolutions over the tokens, H channels wide, GELU after each, and a linear map back to d_model.

    Attributes:
        kernel: tokens that each sees, itself in the middle.
        efficiency: measured, as in `Forms`. oneDNN's convolution beats torch's matrix product.
    """

    kernel: int
    efficiency: float

    def of_width(self, size: Size, width: int) -> Parts:
        """Convolution: H (kernel inputs + 1) in each layer, inputs d in the first, then H. Output d H + d."""
        d, later = size.d_model, size.num_layers - 1
        return {
            "convolution": width * (self.kernel * (d + later * width) + size.num_layers),
            "output": d * width + d,
        }

    def flops_between(self, size: Size) -> Parts:
        """B n times: convolution 2 kernel H inputs in each layer, output 2 d H. Padding is counted like tokens."""
        d, width, times = size.d_model, self.width(size), size.batch * size.seq_len
        return {
            "convolution": times * 2 * self.kernel * width * (d + (size.num_layers - 1) * width),
            "output": times * 2 * d * width,
        }

    def spared(self, size: Size, *, input_gradient: bool) -> Parts:
        """The gradients of the first layer's inputs, if nobody asks for them."""
        return (
            {} if input_gradient or size.embeds else {"convolution": 2 * self.kernel * self.units(size) * size.d_model}
        )

    def peak_between(self, size: Size, setup: Setup, *, backward: bool) -> float:
        """Numbers fitted to torch's allocation curve on the processor. U = B n H, and P is the number of parameters.

        A layer's input, what it gives, the same after GELU: 3 U, and its weights packed by oneDNN; for the way back
        each layer saves 2 U.
        """
        u, packed, layers = self.units(size), sum(self.parameters(size).values()) / size.num_layers, size.num_layers
        return (2 * layers + 3) * u + 1.3 * packed if backward else (2 + (layers > 1)) * u + 1.1 * packed

    def moved(self, size: Size, setup: Setup) -> float:
        """GELU reads and writes each layer's U, and the convolution rearranges it."""
        return 4 * self.units(size) * size.num_layers

    def calls(self, size: Size) -> int:
        """Calls of one forward pass: about 4 a layer."""
        return 4 * size.num_layers


@lru_cache(maxsize=1024)
def _width(forms: OfEqualCount, size: Size) -> int:
    """The parameters grow with the width, so a binary search finds it."""
    wanted = sum(transformer_parameters(size).values()) - size.table

    def count(width: int) -> int:
        return sum(forms.of_width(size, width).values())

    enough = bisect_left(range(1, wanted), wanted, key=count) + 1
    return min((max(1, enough - 1), enough), key=lambda width: abs(count(width) - wanted))


LSTM, GRU, CONVOLUTION = Recurrent(4, 1.5), Recurrent(3, 0.7), Convolution(3, 1.4)
