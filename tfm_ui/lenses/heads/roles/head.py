"""The locked head: its scores in all roles beside their baselines, and the sentences where it does best and worst."""

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from tfm_core.language.marked import EDGES, marked_sentences
from tfm_core.language.role_scores import role_scores
from tfm_core.language.roles import MARGIN, ROLES, bootstrapped
from tfm_ui.lenses.heads.roles.panel import RolesPanel, named
from tfm_ui.live.head_roles import why_not
from tfm_ui.pictures import chart
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.figures import INK, MUTED, SMALL, axis_title, colour_of, plain
from tfm_ui.pictures.panel import OpenTable
from tfm_ui.pictures.rows import End, Name, in_rows
from tfm_ui.text import formats

ROW = 30  # pixels
BEST = 3  # sentences of each kind


class OneHead(RolesPanel):
    """What the locked head does."""

    key = "roles_head"
    locked = True
    canvas = CHART
    sources = (role_scores, bootstrapped)
    how_to_read = (
        "Bar: mean weight on what the role looks at. Ring: its baseline. Line: baseline + margin, 95% of a bootstrap "
        "over texts."
    )

    @property
    def title(self) -> str:
        return f"Layer {self.layer + 1}, head {self.head + 1}"

    def values(self, role: str) -> tuple[float, float, float, float]:
        """Score, baseline, and the ends of the margin's interval."""
        of, at = self.measured[role], (self.layer, self.head)
        low, high = of.interval
        return float(of.score[at]), float(of.baseline[at]), float(low[at]), float(high[at])

    def has(self, role: str) -> bool:
        """Whether the locked head has the role."""
        return bool(self.measured[role].has[self.layer, self.head])

    def picture(self) -> Content:
        """A bar for each role."""
        roles = list(self.measured)
        at = np.arange(len(roles))
        values = np.array([self.values(role) for role in roles], np.float64).reshape(-1, 4)
        scores, bases, lows, highs = values.T
        said = [self.said(role) for role in roles]
        ends = np.stack([bases + lows, bases + highs])
        bars: dict[str, Any] = {
            "type": "bar",
            "name": "score",
            "orientation": "h",
            "y": at,
            "x": scores,
            "width": 0.62,
            "marker": {"color": [colour_of("query" if self.has(role) else "muted") for role in roles], "opacity": 0.75},
            "customdata": [plain(text) for text in said],
            "hovertemplate": "%{customdata}<extra></extra>",
            "showlegend": False,
        }
        lines: dict[str, Any] = {
            "type": "scatter",
            "mode": "lines",
            "name": "interval",
            "hoverinfo": "skip",
            "showlegend": False,
            "x": np.array([x for low, high in ends.T for x in (low, high, np.nan)]),
            "y": np.array([y for row in at for y in (row, row, np.nan)], np.float64),
            "line": {"color": INK, "width": 3},
        }
        rings: dict[str, Any] = {
            "type": "scatter",
            "mode": "markers",
            "name": "baseline",
            "hoverinfo": "skip",
            "showlegend": False,
            "cliponaxis": False,
            "x": bases,
            "y": at.astype(np.float64),
            "marker": {"symbol": "circle-open", "size": 11, "color": INK, "line": {"width": 2}},
        }
        reach = np.concatenate([scores, bases, ends.ravel()])
        most, least = float(reach.max(initial=0.2)), float(reach.min(initial=0.0))
        figure = in_rows(
            [bars, lines, rings],
            names=[Name(plain(f"{ROLES[role].letter}  {ROLES[role].title}"), row) for row, role in enumerate(roles)],
            ends=[
                End("has it" if self.has(role) else "–", row, colour=INK if self.has(role) else MUTED, size=SMALL)
                for row, role in enumerate(roles)
            ],
            last=len(roles) - 1,
            pixels=ROW,
            rows="role",
            axis={"title": axis_title("mean weight"), "range": [least, 1.04 * most], "tickformat": ".2~f"},
        )
        return chart.content(figure, about=self.sentence())

    def said(self, role: str) -> str:
        """A role's numbers in words."""
        score, base, low, high = self.values(role)
        margin = f"margin {formats.number(low)} to {formats.number(high)}"
        return f"{ROLES[role].title}: {formats.weight(score)}, baseline {formats.weight(base)}, {margin}"

    def sentence(self) -> str:
        """Which roles the head has."""
        if not self.measured:
            return why_not(self.model)
        has = [role for role in self.measured if self.has(role)]
        if not has:
            best = max(self.measured, key=lambda role: float(self.measured[role].margin[self.layer, self.head]))
            return (
                f"{named(self.layer, self.head)} has none of these roles: no margin is above {formats.percent(MARGIN)} "
                f"with 95% of a bootstrap. The nearest: {self.said(best)}."
            )
        roles = formats.listed([self.title_of(role) for role in has])
        return f"{named(self.layer, self.head)} has {'this role' if len(has) == 1 else 'these roles'}: {roles}."

    def table(self) -> pd.DataFrame:
        """A row for each role."""
        columns = ["score", "baseline", "margin from", "margin to"]
        table = pd.DataFrame([self.values(role) for role in self.measured], columns=columns)
        table["has it"] = [self.has(role) for role in self.measured]
        table["pairs"] = [int(of.pairs.sum()) for of in self.measured.values()]
        table["baseline is"] = [ROLES[role].baseline for role in self.measured]
        table.index = pd.Index([ROLES[role].title for role in self.measured], name="role")
        return table


class RoleSentences(RolesPanel):
    """Where the locked head does best and worst."""

    key = "roles_sentences"

    @property
    def is_shown(self) -> bool:
        return bool(self.measured)

    @property
    def title(self) -> str:
        return f"Best and worst sentences: {self.title_of(self.of_sentences)}"

    @property
    def how_to_read(self) -> str:
        why = (
            ""
            if self.looked_at == self.of_sentences
            else " Of the roles measured on sentences it comes closest to this."
        )
        return (
            f"The sentences in which {named(self.layer, self.head)} gives the pairs of this role most of its weight "
            f"beyond the baseline, and least.{why} Marked pairs stand in brackets: query → key."
        )

    @property
    def of_sentences(self) -> str:
        """A role that is measured on sentences: the one that is looked at, or the one with the largest margin."""
        on = [role for role, of in self.measured.items() if len(of.pairs) == len(marked_sentences())]
        at = (self.layer, self.head)
        return (
            self.looked_at if self.looked_at in on else max(on, key=lambda role: float(self.measured[role].margin[at]))
        )

    def rows(self) -> list[int]:
        """The numbers of the sentences, the best first."""
        of = self.measured[self.of_sentences]
        margins = (of.scores - of.baselines)[:, self.layer, self.head]
        order = [at for at in margins.argsort(descending=True, stable=True).tolist() if of.pairs[at]]
        return order if len(order) <= 2 * BEST else [*order[:BEST], *order[-BEST:]]

    def table(self) -> pd.DataFrame:
        """A row for each of them."""
        of, at = self.measured[self.of_sentences], (self.layer, self.head)
        rows = [
            {
                "pairs": self.pairs(number),
                "weight": 100 * float(of.scores[(number, *at)]),
                "baseline": 100 * float(of.baselines[(number, *at)]),
            }
            for number in self.rows()
        ]
        return pd.DataFrame(rows, index=pd.Index([marked_sentences()[at].text for at in self.rows()], name="sentence"))

    def pairs(self, number: int) -> str:
        """The pairs of the role in a sentence, in words."""
        sentence, role = marked_sentences()[number], self.of_sentences
        relation = "verb" if role == "subject" else role
        pairs = [(looks, target) for name, looks, target in sentence.pairs if name == relation]
        if role == "subject":
            pairs = [(target, looks) for looks, target in pairs]
        if not pairs:
            return " ".join(word[-1] for word in sentence.text.split() if word[-1] in EDGES)
        if self.model.looks_back_only:
            pairs = [(looks, target) for looks, target in pairs if target < looks]
        return ", ".join(f"[{sentence.words[looks]} → {sentence.words[target]}]" for looks, target in pairs)

    @property
    def open_table(self) -> OpenTable:
        """Bars of the weights."""
        columns = {
            name: st.column_config.ProgressColumn(format="%.0f%%", min_value=0, max_value=100)
            for name in ("weight", "baseline")
        }
        return OpenTable(columns, not_on_phones=("pairs",))

    def sentence(self) -> str:
        """The best and the worst one."""
        table = self.table()
        best, worst = table.iloc[0], table.iloc[-1]
        return (
            f"Furthest above its baseline: “{table.index[0]}”, {_beside(best)}. Least: “{table.index[-1]}”, "
            f"{_beside(worst)}."
        )


def _beside(row: pd.Series) -> str:
    return f"{formats.percent(row['weight'] / 100)} of the weight beside {formats.percent(row['baseline'] / 100)}"
