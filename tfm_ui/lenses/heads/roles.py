"""What the heads of a pretrained model do, measured on random tokens by the scores of the literature."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from tfm_core import Transformer, TransformerConfig
from tfm_core.language.head_scores import BATCH, LENGTH, HeadRoles, head_roles
from tfm_core.pretrained import offered
from tfm_ui.lenses.heads.panels import HeadsPanel, lock
from tfm_ui.live.cache import cached, never
from tfm_ui.live.memory import little
from tfm_ui.live.passes import transformer
from tfm_ui.live.script import config_of, script
from tfm_ui.pictures.panel import OpenTable
from tfm_ui.state.pretrained import KNOWN, Known
from tfm_ui.text import formats

SHOWN = 4  # heads of each role
HALF = 0.5  # of a head's weight
# Role -> what a head that has it looks at, and who described it.
ROLES = {
    "previous": ("the token before", "Clark et al. 2019; Elhage et al. 2021"),
    "following": ("the token after", "Clark et al. 2019"),
    "induction": ("what came after its own token the last time", "Olsson et al. 2022"),
    "first": ("the first token: a sink", "Xiao et al. 2023"),
}


def roles_of(known: Known) -> HeadRoles:
    """What its heads do: of an installed model as it was measured then, of Lab GPT measured now."""
    return offered.heads_of(known.name) if known.name in offered.OFFERED else _measured(known.config, known.first_id)


@cached(heavy=never, always_kept=1)
def _measured(config: TransformerConfig, first_id: int) -> HeadRoles:
    return head_roles(transformer(config), first_id=first_id)


def measured(
    *, config: TransformerConfig, first_id: int, around: tuple[Sequence[int], Sequence[int]]
) -> Mapping[str, Any]:
    """The scores of all heads."""
    roles = vars(head_roles(Transformer(config).eval(), first_id=first_id, around=around))
    return roles


class Roles(HeadsPanel):
    """The heads of a pretrained model that come closest to a known role."""

    title = "What heads do, measured"
    sources = (head_roles,)
    needs = little

    @property
    def is_shown(self) -> bool:
        # Of a model that a visitor has brought they would be measured on the page, which may take minutes.
        return self.known is not None and self.known.name in KNOWN and not self.known.why_not_there

    @property
    def known(self) -> Known | None:
        """The pretrained model."""
        return self.model.pretrained

    @cached_property
    def roles(self) -> dict[str, NDArray[np.float32]]:
        """Role -> how much of it each head has, (layer, head)."""
        assert self.known is not None
        scores = vars(roles_of(self.known))
        left_out = {"following"} if self.model.looks_back_only else set()
        return {role: scores[role].numpy() for role in ROLES if scores[role] is not None and role not in left_out}

    @property
    def how_to_read(self) -> str:
        return (
            f"Mean weights over {BATCH} texts of {LENGTH} random tokens that come twice, whatever the text on this "
            "page is. A row for each of the heads that come closest to a role; a click on it opens the head above."
        )

    @cached_property
    def listed(self) -> list[tuple[str, int, int]]:
        """Role, layer and head, from 0: of each role the heads with most of it."""
        return [
            (role, *divmod(int(at), scores.shape[1]))
            for role, scores in self.roles.items()
            for at in np.argsort(-scores, axis=None, kind="stable")[:SHOWN]
        ]

    def sentence(self) -> str:
        """The best head of each role, how many are sinks, and what the head that is locked does."""
        best = []
        for role, scores in self.roles.items():
            layer, head = divmod(int(scores.argmax()), scores.shape[1])
            best.append(f"layer {layer + 1}, head {head + 1} ({formats.weight(scores.max())} on {ROLES[role][0]})")
        sinks = int((self.roles["first"] > HALF).sum())
        heads = f"{sinks} of {self.roles['first'].size} heads give the first token more than half of their weight"
        here = [
            f"{formats.weight(scores[self.layer, self.head])} to {ROLES[role][0].partition(':')[0]}"
            for role, scores in self.roles.items()
        ]
        locked = f"Layer {self.layer + 1}, head {self.head + 1} gives {formats.listed(here)}."
        return f"Closest to a role: {formats.listed(best)}. {heads}. {locked}"

    def table(self) -> pd.DataFrame:
        """A row for each listed head."""
        rows = [
            {"looks at": ROLES[role][0], "weight": 100 * float(self.roles[role][layer, head]), "source": ROLES[role][1]}
            for role, layer, head in self.listed
        ]
        names = [f"L{layer + 1} h{head + 1}" for _, layer, head in self.listed]
        return pd.DataFrame(rows, index=pd.Index(names, name="head"))

    @property
    def open_table(self) -> OpenTable:
        """Bars of the weights."""
        here = [at for at, (_, *place) in enumerate(self.listed) if tuple(place) == (self.layer, self.head)]
        bars = st.column_config.ProgressColumn(format="%.0f%%", min_value=0, max_value=100, help="mean weight")
        return OpenTable(
            {"weight": bars},
            row=here[0] if here else None,
            choose=lambda row: lock(*self.listed[row][1:]),
            not_on_phones=("source",),
        )

    def recipe(self) -> str:
        """A script that measures all heads, and leaves their `roles`."""
        assert self.known is not None
        return script(
            measured, config=config_of(self.model), first_id=self.known.first_id, around=self.known.special_around
        )
