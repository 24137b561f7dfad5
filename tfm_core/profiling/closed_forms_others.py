"""Closed forms of what the transformer is compared with: networks of as many parameters, as near as it can be had."""

from abc import ABC, abstractmethod
from bisect import bisect_left
from dataclasses import dataclass

from tfm_core.profiling.closed_forms import Parts, Transformer
from tfm_core.profiling.plan import Size


class OfEqualCount(ABC):
    """A network of one width H, solved for: that of which the parameters come nearest to the transformer's."""

    @abstractmethod
    def of_width(self, size: Size, width: int) -> Parts:
        """The parameters of this width, by part."""

    def parameters(self, size: Size) -> Parts:
        """Numbers that are learned, by part."""
        return self.of_width(size, self.width(size))

    def width(self, size: Size) -> int:
        """Hidden units or channels."""
        wanted = sum(Transformer().parameters(size).values())

        def count(width: int) -> int:
            return sum(self.of_width(size, width).values())

        enough = bisect_left(range(1, wanted), wanted, key=count) + 1
        return min((max(1, enough - 1), enough), key=lambda width: abs(count(width) - wanted))


@dataclass(frozen=True)
class Recurrent(OfEqualCount):
    """An nn.LSTM or nn.GRU of H hidden units, and a linear map back to d_model.

    Attributes:
        gates: 4 in an LSTM, 3 in a GRU.
    """

    gates: int

    def of_width(self, size: Size, width: int) -> Parts:
        """Recurrence: gates H (inputs + H + 2) in each layer, inputs d in the first, then H. Output d H + d."""
        d, later = size.d_model, size.num_layers - 1
        return {
            "recurrence": self.gates * width * (d + width + 2 + later * (2 * width + 2)),
            "output": d * width + d,
        }

    def flops(self, size: Size) -> Parts:
        """B n times: recurrence 2 gates H (inputs + H) in each layer, output 2 d H."""
        d, width, times = size.d_model, self.width(size), size.batch * size.seq_len
        return {
            "recurrence": times * 2 * self.gates * width * (d + width + (size.num_layers - 1) * 2 * width),
            "output": times * 2 * d * width,
        }

    def spared(self, size: Size) -> Parts:
        """The gradients of the first layer's inputs, and those of each layer's state before the first token."""
        width = self.width(size)
        each = 2 * self.gates * width * size.batch
        return {"recurrence": each * (size.seq_len * size.d_model + size.num_layers * width)}


@dataclass(frozen=True)
class Convolution(OfEqualCount):
    """Convolutions over the tokens, H channels wide, GELU behind each, and a linear map back to d_model.

    Attributes:
        kernel: tokens that each sees, itself in the middle.
    """

    kernel: int

    def of_width(self, size: Size, width: int) -> Parts:
        """Convolution: H (kernel inputs + 1) in each layer, inputs d in the first, then H. Output d H + d."""
        d, later = size.d_model, size.num_layers - 1
        return {
            "convolution": width * (self.kernel * (d + later * width) + size.num_layers),
            "output": d * width + d,
        }

    def flops(self, size: Size) -> Parts:
        """B n times: convolution 2 kernel H inputs in each layer, output 2 d H. Padding is counted like tokens."""
        d, width, times = size.d_model, self.width(size), size.batch * size.seq_len
        return {
            "convolution": times * 2 * self.kernel * width * (d + (size.num_layers - 1) * width),
            "output": times * 2 * d * width,
        }

    def spared(self, size: Size) -> Parts:
        """The gradients of the first layer's inputs."""
        return {"convolution": size.batch * size.seq_len * 2 * self.kernel * self.width(size) * size.d_model}
