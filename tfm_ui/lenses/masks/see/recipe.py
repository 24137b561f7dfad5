"""The mask, and the weights under it, as a script of plain Python."""

from tfm_core.model.tokens import FIRST_ID
from tfm_ui.lenses.masks.code_lines import composed, imports, painted, sizes
from tfm_ui.lenses.masks.passes import LENGTHS, at
from tfm_ui.lenses.masks.see.numbers import Seen
from tfm_ui.lenses.masks.see.terms import Terms
from tfm_ui.live.recipe import script, weights_of


def recipe_of(seen: Seen) -> str:
    """Leaves `mask` and `weights`, both (query, key)."""
    setting = seen.setting
    which = "cross_mask" if setting.place == "cross" else "mask"
    return script(
        setting.model,
        weights_of(at(setting, seen.layer, "weights"), seen.head),
        imports=imports(setting),
        before=[*sizes(setting), *composed(setting), *painted(setting)],
        recorded=f'"*.weights", {{"{at(setting, "*", "mask")}": lambda own: mask.expand_as(own)}}',
        given=f"{which}=mask",
    )


def growth_recipe(terms: Terms) -> str:
    """Leaves `kept`: length -> pairs."""
    return "\n".join(
        [
            "import torch",
            "from tfm_core import causal_mask",
            *imports(terms.setting),
            "",
            "kept = {}",
            f"for rows in {LENGTHS}:",
            "    columns = rows",
            f"    queries = keys = torch.full((1, rows), {FIRST_ID})  # no padding",
            *(f"    {line}" for line in composed(terms.setting)),
            "    kept[rows] = int(mask.sum())",
        ]
    )
