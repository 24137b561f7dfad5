"""One block of a shape that is only counted: what it has and costs, as there are no tensors to show."""

from dataclasses import dataclass

import pandas as pd

from tfm_ui.lenses.model.diagram.numbers import Machine
from tfm_ui.lenses.model.diagram.rows import costs_in_words, kind_of_block
from tfm_ui.pictures.panel import Result
from tfm_ui.text import formats


@dataclass(frozen=True)
class Bare(Result):
    """The picked block, counted.

    Attributes:
        machine: the diagram, of a shape without weights.
    """

    machine: Machine

    def sentence(self) -> str:
        """Its parameters beside those of all blocks of its kind, and its costs as formulas with their values."""
        block = self.machine.picked.block
        kind = kind_of_block(block.name)
        alike = [item.block for item in self.machine.items if kind_of_block(item.block.name) == kind]
        has = f"This block has {formats.plural(block.parameters, 'parameter')}"
        if len(alike) > 1:
            total = formats.count(sum(each.parameters for each in alike))
            has += f"; the {formats.count(len(alike))} of its kind have {total} together"
        return f"{has}. {costs_in_words(self.machine.picked)} No weight is made, so there are no tensors to show."

    def table(self) -> pd.DataFrame:
        """The diagram's table, of blocks of this kind."""
        kind = kind_of_block(self.machine.picked.block.name)
        table = self.machine.table()
        return table[[kind_of_block(name) == kind for name in table.index]]

    def recipe(self) -> str:
        """The diagram's script counts this block, too."""
        return self.machine.recipe()
