"""What each attention costs as the text grows."""

from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from tfm_core import ATTENTION, AttentionCost
from tfm_ui.lenses.model.efficient import recipe
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live.script import script
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

LENGTHS = tuple(2**power for power in range(4, 13))  # 16 to 4,096 tokens


@dataclass(frozen=True)
class Costs(Result):
    """The costs of the self-attention of one layer.

    Attributes:
        d_model, num_heads: of the model.
        causal: whether later keys are hidden.
        n: the length of the text on screen.
        by_length: attention -> its costs at each of LENGTHS.
        here: attention -> its costs at n.
    """

    d_model: int
    num_heads: int
    causal: bool
    n: int
    by_length: dict[str, list[AttentionCost]]
    here: dict[str, AttentionCost]

    @cached_property
    def least(self) -> str:
        """The attentions that need the fewest multiply-adds at n."""
        return _least(self.here)

    def sentence(self) -> str:
        """Which needs the least here and at the longest text, and what the code here really computes."""
        last = {name: costs[-1] for name, costs in self.by_length.items()}
        head_dim = self.d_model // self.num_heads
        ratio = last["full"].needed / last["linear"].needed
        return (
            f"For the {formats.plural(self.n, 'token')} on screen {self.least} the fewest multiply-adds; for "
            f"{formats.count(LENGTHS[-1])} tokens {_least(last)} the fewest, and full attention "
            f"{formats.count(round(ratio))} times as many as linear. Linear attention needs fewer than "
            f"full once a query sees more than dₖ + ½ = {head_dim + 0.5} keys{' on average' if self.causal else ''}. "
            "Window and stride are masks over all pairs here, so the code computes as much as for full attention: what "
            "they save, a kernel that skips hidden pairs must earn."
        )

    def laws(self) -> dict[str, bool]:
        """Nothing needs more than is computed."""
        every = [cost for costs in (*self.by_length.values(), list(self.here.values())) for cost in costs]
        return {
            "no attention needs more multiply-adds than the code computes": all(
                cost.needed <= cost.computed for cost in every
            ),
            "fused attention computes exactly what full does": self.here["fused"].computed
            == self.here["full"].computed,
        }

    def table(self) -> pd.DataFrame:
        """A row per attention, for the text on screen."""
        return pd.DataFrame(
            {
                "grows with": [ATTENTION[name].order for name in self.here],
                "pairs seen": [cost.pairs for cost in self.here.values()],
                "multiply-adds needed": [cost.needed for cost in self.here.values()],
                "computed here": [cost.computed for cost in self.here.values()],
                "numbers held": [cost.kept for cost in self.here.values()],
            },
            index=pd.Index(list(self.here), name="attention"),
        )

    def recipe(self) -> str:
        """A script that leaves `costs`, attention -> its costs at each length; the last length is that of the text."""
        return script(
            recipe.by_length,
            names=tuple(self.here),
            lengths=(*LENGTHS, self.n),
            d_model=self.d_model,
            num_heads=self.num_heads,
            causal=self.causal,
        )


def _least(costs: dict[str, AttentionCost]) -> str:
    smallest = min(cost.needed for cost in costs.values())
    least = [name for name, cost in costs.items() if cost.needed == smallest]
    return f"{formats.listed(least)} attention {'needs' if len(least) == 1 else 'need'}"


def costs(model: ModelState, state: ModelLensState) -> Costs:
    """The costs of the stack that is looked at, for a text without padding."""
    writing = model.is_encoder_decoder and state.stack == "decoder"
    causal = writing or model.architecture == "decoder" or model.masks_the_future
    n = len((model.target_tokens if writing else model.source_tokens).ids)
    names, lengths = tuple(ATTENTION), (*LENGTHS, n)
    every = recipe.by_length(
        names=names, lengths=lengths, d_model=model.d_model, num_heads=model.num_heads, causal=causal
    )
    return Costs(
        d_model=model.d_model,
        num_heads=model.num_heads,
        causal=causal,
        n=n,
        by_length={name: list(costs[:-1]) for name, costs in every.items()},
        here={name: costs[-1] for name, costs in every.items()},
    )
