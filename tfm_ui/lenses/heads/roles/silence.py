"""What breaks when all heads with a role are silent, beside as many random heads; and whether heads learn grammar."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from tfm_core.language.kept_roles import COMMAND
from tfm_core.language.marked import marked_sentences
from tfm_core.language.roles import ROLES
from tfm_core.language.silenced import DRAWS, MEASURES, Silenced, silenced
from tfm_core.profiling.units import in_seconds
from tfm_ui.lenses.heads.roles.panel import RolesPanel
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.pictures import strips
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.panel import Note
from tfm_ui.pictures.strips import Group, Strip
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

RANDOM = "random heads"
CHANCE = 0.6  # of two forms one is right half of the time: up to here a share is about that


class Silence(RolesPanel):
    """What changes without the heads of each role."""

    key = "roles_silence"
    canvas = CHART
    sources = (silenced,)

    @property
    def is_shown(self) -> bool:
        return bool(self.results)

    def instead(self) -> Note | None:
        if self.model.is_random:
            return None
        of = self.model.pretrained
        if of is None or not self.measured:
            return None
        return Note(
            f"What breaks without a role’s heads has not been measured for {of.within}. "
            f"{'To measure it, run: ' + COMMAND + ' ' + of.name if not self.slow else ''}".strip(),
            "plain",
        )

    @property
    def results(self) -> Mapping[str, Silenced]:
        """Role -> what breaks without its heads."""
        return self.kept.silenced

    @property
    def measure(self) -> str:
        """What is measured: what the link asks for, or what this model has in its place."""
        if not self.results:
            return str(self.state.breaks)
        has = [name for name in MEASURES if name in next(iter(self.results.values())).silent]
        return self.state.breaks if self.state.breaks in has else has[-1]

    @property
    def title(self) -> str:
        return "Silence a role, and see what breaks"

    @property
    def how_to_read(self) -> str:
        return (
            f"Change in {MEASURES[self.measure]}. Bar: all heads with this role are silent. Dots: as many random other "
            f"heads, {DRAWS} draws. Dashed: the model as it is."
        )

    def picture(self) -> Content:
        """A strip for each role: dots for the draws of random heads, a bar for the role's own heads."""
        made = []
        for role, result in self.results.items():
            change = result.change(self.measure)
            worse = result.is_worse(self.measure)
            made.append(
                Strip(
                    ROLES[role].title,
                    formats.plural(len(result.heads), "head"),
                    RANDOM,
                    result.random_changes(self.measure),
                    range(len(result.random)),
                    np.nan,
                    change,
                    np.nan,
                    f"{formats.number(change)}{' – worse than each draw' if worse else ''}",
                    f"Without the role {self.title_of(role)}: {formats.number(change)}",
                )
            )
        axis = f"change in {MEASURES[self.measure]}"
        line = ("nothing silent", 0.0)
        return strips.content(
            made, {RANDOM: Group("key")}, axis=axis, unit="", about=self.sentence(), line=line, each=("draw", 1)
        )

    def sentence(self) -> str:
        """Which role's silence does most harm, and which none."""
        if not self.results:
            return "Nothing was silenced: no head has a role, or it has not been measured."
        worse = [role for role, result in self.results.items() if result.is_worse(self.measure)]
        whole = next(iter(self.results.values())).whole[self.measure]
        begins = f"As it is: {formats.number(whole)} {MEASURES[self.measure]}."
        if not worse:
            return f"{begins} No role’s heads do more harm when they are silent than each draw of random heads."
        changes = {role: formats.number(self.results[role].change(self.measure)) for role in worse}
        listed = formats.listed([f"{self.title_of(role)} ({change})" for role, change in changes.items()])
        all_else = [role for role, result in self.results.items() if not result.are_others]
        few = (
            f" Of {formats.listed([self.title_of(role) for role in all_else])} too few other heads are left, so the "
            "draws are from all heads."
            if all_else
            else ""
        )
        harm = f"To silence the heads of these roles does more harm than each draw of random heads: {listed}."
        return f"{begins} {harm}{few}"

    def table(self) -> pd.DataFrame:
        """A row for each role and measure."""
        rows = [
            {
                "role": ROLES[role].title,
                "heads": len(result.heads),
                "measure": measure,
                "as it is": result.whole[measure],
                "silent": value,
                "random, lowest": min(each[measure] for each in result.random),
                "random, highest": max(each[measure] for each in result.random),
            }
            for role, result in self.results.items()
            for measure, value in result.silent.items()
        ]
        return pd.DataFrame(rows)


def grammar(model: ModelState, state: HeadsState) -> Note | None:
    """Whether heads learn grammar, as a sentence measured for the model on screen."""
    panel = RolesPanel(model, state)
    syntax = {role: len(of.heads) for role, of in panel.measured.items() if ROLES[role].is_syntax}
    with_role = {role: count for role, count in syntax.items() if count}
    look = formats.listed([f"{panel.title_of(role)} {count or 'none'}" for role, count in syntax.items()])
    begins = (
        f"“Heads learn grammar”, measured for {panel.name_of_model.rstrip(',')}: of {panel.heads_count} heads {look}."
    )
    if not with_role:
        return Note(f"{begins} So for these roles it is denied here.", "plain")
    results = {role: panel.kept.silenced[role] for role in with_role if role in panel.kept.silenced}
    asked = {role: result for role, result in results.items() if "agreement" in result.silent}
    if not asked:
        return Note(f"{begins} That they look so is measured; what breaks without them is not.", "plain")
    told = []
    for role, result in asked.items():
        random = [each["agreement"] for each in result.random]
        told.append(
            f"{formats.number(result.silent['agreement'])} without {panel.title_of(role)} (random heads: "
            f"{formats.number(min(random))} to {formats.number(max(random))})"
        )
    whole = next(iter(asked.values())).whole
    agrees = (
        f"The model as it is prefers the verb’s right form in {formats.percent(whole['right'])} of "
        f"{panel.choices} verbs, with log-odds of {formats.number(whole['agreement'])}: {formats.listed(told)}."
    )
    harm = [role for role, result in asked.items() if result.is_worse("agreement")]
    if whole["right"] <= CHANCE:
        means = (
            "So it has hardly learned to agree, and there is little that could break: where heads look is not a rule."
        )
    elif harm:
        shares = formats.listed([formats.percent(asked[role].silent["right"]) for role in harm])
        means = (
            f"So agreement leans on the heads of {formats.listed([panel.title_of(role) for role in harm])} more than "
            f"on those of each draw; without them the right form is the likelier one in {shares}."
        )
    else:
        means = "So they look where grammar says, but agreement needs them no more than random heads."
    return Note(f"{begins} {agrees} {means} {_dearest(panel) if whole['right'] > CHANCE else ''}".strip(), "plain")


def _dearest(panel: RolesPanel) -> str:
    """The role without which agreement suffers most, where it is none of grammar and worse than each draw."""
    results = {role: each for role, each in panel.kept.silenced.items() if each.is_worse("agreement")}
    worst = min(results, key=lambda role: results[role].silent["agreement"], default="")
    if not worst or ROLES[worst].is_syntax:
        return ""
    heads, share = len(results[worst].heads), formats.percent(results[worst].silent["right"])
    return (
        f"Of all roles it depends most on {panel.title_of(worst)}, which is none of grammar: without its "
        f"{formats.plural(heads, 'head')} {share} are right."
    )


def how_measured(model: ModelState, state: HeadsState) -> Note:
    """What this was measured on, and by which command."""
    panel = RolesPanel(model, state)
    pairs = sum(len(sentence.pairs) for sentence in marked_sentences())
    made = (
        f" Kept results of “{COMMAND}”{f', {in_seconds(panel.kept.seconds)}' if panel.kept.seconds else ''}; seed 0."
        if not panel.slow
        else " Measured on this page; seed 0."
    )
    of_ours = f"{len(marked_sentences())} sentences of ours with {pairs} marked pairs"
    return Note(
        f"Measured on {of_ours} (tfm_core/language/marked_sentences.txt tells who marked them and who agrees), and on "
        f"16 texts of 50 random tokens that come twice.{made} A head that looks at any noun before it, not at the "
        "subject alone, passes, too: the baseline is position, not word class.",
        "plain",
    )
