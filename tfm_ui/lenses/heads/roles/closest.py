"""What the heads of a pretrained model do, measured on random tokens by the scores of the literature."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from tfm_core.language.head_scores import BATCH, LENGTH
from tfm_core.language.kept_roles import kept_roles
from tfm_core.language.role_scores import role_scores
from tfm_core.pretrained.roles import are_kept, folder_of, of_model
from tfm_ui.lenses.heads.panels import HeadsPanel, lock
from tfm_ui.live.memory import little
from tfm_ui.live.script import script
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


def measured(*, name: str) -> Mapping[str, Any]:
    """The scores of all heads."""
    model, read = of_model(name)
    roles = {role: of.score for role, of in role_scores(model, read).items()}
    return roles


class Roles(HeadsPanel):
    """The heads of a pretrained model that come closest to a known role."""

    title = "What heads do, measured"
    sources = (role_scores,)
    needs = little

    @property
    def is_shown(self) -> bool:
        # Of a model that a visitor has brought they would be measured on the page, which may take minutes.
        known = self.known
        if known is None or known.name not in KNOWN or known.why_not_there:
            return False
        return are_kept(known.name)

    @property
    def known(self) -> Known | None:
        """The pretrained model."""
        return self.model.pretrained

    @cached_property
    def roles(self) -> dict[str, NDArray[np.float32]]:
        """Role -> how much of it each head has, (layer, head)."""
        assert self.known is not None
        folder = folder_of(self.known.name)
        assert folder is not None
        scores = kept_roles(folder).measured
        return {role: scores[role].score.numpy() for role in ROLES if role in scores}

    @property
    def how_to_read(self) -> str:
        return (
            f"Mean weights over {BATCH} texts of {LENGTH} random tokens that come twice, whatever the text on this "
            "page is. A row for each of the heads that come closest to a role; a click on it opens the head above. The "
            "view “Roles” has them all, with baselines."
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
        return script(measured, name=self.known.name)
