"""Layers x heads, coloured by role; or one role's scores of all heads as a heat map."""

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from tfm_core.language.role_scores import by_position_alone, role_scores
from tfm_core.language.roles import MARGIN, ROLES, SINKS, strongest
from tfm_core.pretrained.roles import of_model
from tfm_ui.lenses.heads.panels import lock
from tfm_ui.lenses.heads.roles.panel import RolesPanel, named
from tfm_ui.live.head_roles import is_kept, why_not
from tfm_ui.live.script import script
from tfm_ui.pictures import heatmaps
from tfm_ui.pictures.canvas import Canvas, Content, Header
from tfm_ui.pictures.heatmaps import Heat, Side
from tfm_ui.pictures.map_scale import from_zero
from tfm_ui.pictures.panel import Pick
from tfm_ui.text import formats

# Role -> the number of its colour among those of heads; sinks are grey.
COLOUR = {
    role: at
    for at, role in enumerate(["previous", "signs", "induction", "same", "verb", "article", "pronoun", "subject"])
}
NEVER = "no role"


def _figure(header: Header, numbers: NDArray[Any]) -> go.Figure:
    """The scores as a heatmap, with the name of the role in each cell."""
    scores = numbers.reshape(header["layers"], header["heads"])
    sides = [
        Side(labels=[str(at + 1) for at in range(count)], title=noun, noun=noun)
        for count, noun in zip(scores.shape, ("layer", "head"), strict=True)
    ]
    texts = np.array(header["told"], dtype=object).reshape(scores.shape).tolist()
    scale = from_zero(header["top"])
    heat = Heat(
        name="", values=scores, rows=sides[0], columns=sides[1], scale=scale, unit="weight", gaps=(NEVER,), texts=texts
    )
    return heatmaps.figure(
        [heat], told="A cell’s number is its role’s score: the mean weight on what the role looks at."
    )


MAP = Canvas(
    "lenses/heads/roles_map",
    """
<div class="roles" data-picture>
  <div class="scroll"><div class="cells"></div></div>
  <div class="foot"><span class="keys"></span><span class="bar">0 <i></i> <b></b> weight</span></div>
  <p class="say" aria-live="polite"></p>
</div>
""",
    _figure,
)


class RoleMap(RolesPanel):
    """The role of each head."""

    key = "roles_map"
    sources = (role_scores, by_position_alone, strongest)
    canvas = MAP

    @property
    def title(self) -> str:
        return f"All heads: {self.title_of(self.role)}" if self.role else "The role of each head"

    @property
    def how_to_read(self) -> str:
        if self.role:
            return f"Mean weight {ROLES[self.role].looks}; heads that have the role are framed."
        return (
            f"A head has a role if its score exceeds its baseline by {formats.percent(MARGIN)} of its weight and more, "
            "with 95% of a bootstrap. The strongest is shown; a sink only if there is no other."
        )

    @property
    def shape(self) -> str:
        return f"layer × head = {self.model.num_layers} × {self.model.num_heads}"

    @property
    def on_pick(self) -> Pick:
        return lock

    @property
    def shown(self) -> list[str]:
        """The role that each cell is about, layer by layer; "" where it has none."""
        if not self.can_be:
            return [""] * self.heads_count
        return [self.role] * self.heads_count if self.role else [role for row in self.strongest for role in row]

    def numbers(self) -> NDArray[np.float32]:
        """The score of that role, (layer, head); NaN where there is none."""
        cells = [
            float(self.measured[role].score[place]) if role else np.nan
            for role, place in zip(self.shown, self.heads_places, strict=True)
        ]
        return np.array(cells, np.float32).reshape(self.model.num_layers, self.model.num_heads)

    @property
    def heads_places(self) -> list[tuple[int, int]]:
        """Layer and head of each head, from 0."""
        return [divmod(at, self.model.num_heads) for at in range(self.heads_count)]

    def told(self, role: str, place: tuple[int, int]) -> str:
        """What a cell says."""
        if not role:
            return NEVER
        of = self.measured[role]
        score, base = (formats.weight(float(x[place])) for x in (of.score, of.baseline))
        has = "" if bool(of.has[place]) else ": not by the rule"
        return f"{ROLES[role].title}: {score}, baseline {base}{has}"

    def picture(self) -> Content:
        """A cell for each head, and the legend."""
        scores, shown = self.numbers(), self.shown
        has = [
            bool(role) and bool(self.measured[role].has[at]) for role, at in zip(shown, self.heads_places, strict=True)
        ]
        largest = float(np.nanmax(scores)) if np.isfinite(scores).any() else 0.0
        header = {
            "layers": self.model.num_layers,
            "heads": self.model.num_heads,
            "picked": (self.layer, self.head),
            "single": bool(self.role),
            "top": largest or 1.0,
            "topText": formats.weight(largest or 1.0),
            "roles": shown,
            "has": has,
            "told": [self.told(role, at) for role, at in zip(shown, self.heads_places, strict=True)],
            "legend": [
                {"role": role, "letter": ROLES[role].letter, "title": ROLES[role].title, "colour": COLOUR.get(role, -1)}
                for role in ROLES
                if role in shown
            ],
        }
        return header, scores

    def sentence(self) -> str:
        """How many heads have which role."""
        if not self.measured:
            return why_not(self.model)
        if not self.can_be:
            return f"{ROLES[self.role].title}: {NOT_HERE[self.role]}"
        if self.role:
            of, best = self.measured[self.role], int(self.measured[self.role].margin.argmax())
            place = divmod(best, self.model.num_heads)
            low, high = (formats.number(float(x[place])) for x in of.interval)
            return (
                f"{len(of.heads)} of {self.heads_count} heads look {ROLES[self.role].looks}. The largest margin: "
                f"{named(*place)}, {formats.weight(float(of.score[place]))} beside a baseline of "
                f"{formats.weight(float(of.baseline[place]))}; margin {low} to {high}. Baseline: "
                f"{ROLES[self.role].baseline}."
            )
        counts = Counter(role for role in self.shown if role)
        if not counts:
            said = f"No head of {self.name_of_model} has any of the {len(self.measured)} roles that are looked for."
            return said + self.model.if_random(" Random weights spread attention almost evenly, and know no words.")
        listed = formats.listed([f"{self.title_of(role)} {count}" for role, count in counts.most_common()])
        none = self.heads_count - sum(counts.values())
        sinks = " A sink is where weight goes that has nowhere else to go." if counts.keys() & set(SINKS) else ""
        return f"Strongest roles of {self.heads_count} heads: {listed}; {none} without any.{sinks}"

    def table(self) -> pd.DataFrame:
        """A row for each head: its strongest role, and its margin in each role."""
        rows = {
            named(*place): {"role": self.strongest[place[0]][place[1]] or NEVER}
            | {role: float(of.margin[place]) for role, of in self.measured.items()}
            for place in self.heads_places
        }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("head")

    def recipe(self) -> str:
        """A script that measures all roles, and leaves the roles in `shown`."""
        if not (self.model.pretrained and is_kept(self.model)):
            return ""
        return script(measured, name=self.model.pretrained.name)


def measured(*, name: str) -> list[list[str]]:
    """The strongest role of each head."""
    model, read = of_model(name)
    roles = strongest(role_scores(model, read))
    return roles


NOT_HERE = {
    **dict.fromkeys(("following", "subject"), "this cannot be measured here: it needs tokens that see what follows."),
    **dict.fromkeys(("previous", "first", "same", "signs", "verb", "article", "pronoun"), "there are too few pairs."),
    "sep": "this model reads no [SEP].",
    "induction": "a model that sees what follows has no need to copy, so this is measured in causal models alone.",
}
