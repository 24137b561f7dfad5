"""What panels on roles share: the scores of all heads, and which role is shown."""

from functools import cached_property

import torch

from tfm_core.language.kept_roles import KeptRoles
from tfm_core.language.marked import OTHER_NUMBER, marked_sentences
from tfm_core.language.roles import ROLES, Measured, strongest
from tfm_ui.lenses.heads.panels import HeadsPanel
from tfm_ui.lenses.heads.state import ALL_ROLES, HeadsState
from tfm_ui.live.head_roles import is_kept, needs, roles_of, why_not
from tfm_ui.state.model_state import ModelState

NOTHING = KeptRoles({}, {}, 0.0)  # of a model whose roles cannot be measured: a picture of it is empty


class RolesPanel(HeadsPanel):
    """A panel on the roles of heads, whatever the text in the sidebar is."""

    works_on_weights_alone = False
    needs = needs
    ignores = frozenset({"text", "target", "seq_len"})

    @property
    def title(self) -> str:
        return ""

    def sentence(self) -> str:
        """Nothing: panels say what they show, and what notes and questions need is not drawn."""
        return ""

    @property
    def tensors(self) -> None:  # type: ignore[override]
        """None: what is shown are means over many texts, and the file beside the weights has them."""

    @property
    def slow(self) -> bool:
        return not is_kept(self.model)

    @cached_property
    def kept(self) -> KeptRoles:  # type: ignore[override]
        """What was measured; nothing where it cannot be."""
        return NOTHING if why_not(self.model) else roles_of(self.model)

    @property
    def measured(self) -> Measured:
        """Role -> its scores; roles that the model cannot have are not there."""
        return self.kept.measured

    @cached_property
    def strongest(self) -> list[list[str]]:
        """The role of each head, (layer, head); "" where it has none."""
        if not self.measured:
            return [[""] * self.model.num_heads] * self.model.num_layers
        return strongest(self.measured)

    @property
    def role(self) -> str:
        """The one role that is shown; "" for the strongest of each head."""
        return self.state.role if self.state.role != ALL_ROLES else ""

    @property
    def can_be(self) -> bool:
        """Whether the chosen role can be measured of this model."""
        return not self.role or self.role in self.measured

    @property
    def name_of_model(self) -> str:
        """The model, within a sentence."""
        return self.model.pretrained.within if self.model.pretrained else "this model, whose weights are random,"

    @property
    def choices(self) -> int:
        """How many verbs of the marked sentences have a form that tells the number of their subject."""
        verbs = [
            sentence.words[looks]
            for sentence in marked_sentences()
            for relation, looks, _ in sentence.pairs
            if relation == "verb"
        ]
        return sum(verb in OTHER_NUMBER for verb in verbs)

    @property
    def heads_count(self) -> int:
        """How many heads there are."""
        return self.model.num_layers * self.model.num_heads

    @cached_property
    def looked_at(self) -> str:
        """The role whose sentences are listed: the chosen one, or the locked head's, or that of its largest margin."""
        if self.role and self.can_be:
            return self.role
        if has := self.strongest[self.layer][self.head]:
            return has
        at = (self.layer, self.head)
        return max(self.measured, key=lambda role: float(self.measured[role].margin[at]))

    def title_of(self, role: str) -> str:
        """A role's name within a sentence."""
        title = ROLES[role].title
        return title if title.startswith("[") else title[0].lower() + title[1:]


def named(layer: int, head: int) -> str:
    """A head's name; layer and head from 0."""
    return f"L{layer + 1} h{head + 1}"


def with_syntax(model: ModelState, state: HeadsState) -> float:
    """How many heads have at least one role of syntax."""
    panel = RolesPanel(model, state)
    has = [of.has for role, of in panel.measured.items() if ROLES[role].is_syntax]
    return float(torch.stack(has).any(0).sum()) if has else 0.0
