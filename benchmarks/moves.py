"""What a move of a view's own controls costs a hosted server: processor time of the pictures and words that follow it.

`tick` moves the seed of the weights, which texts that Lab GPT writes and runs that are trained do not depend on. Here
their own controls are moved to random places. The views take turns, as several visitors' would, so that the small cache
of a worker holds what each of them needs, or does not.
"""

import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from http.client import HTTPConnection
from urllib.parse import urlencode, urlsplit

from benchmarks.live.process_tree import ProcessTree
from benchmarks.live.serve import running_server
from benchmarks.load import as_hosted
from benchmarks.measure import Figure, Figures, show
from tfm_ui.lenses import lens
from tfm_ui.lenses.generate.panel import LAB
from tfm_ui.pictures.panel import panels_in
from tfm_ui.pictures.registry import Asked
from tfm_ui.settings import ENTRIES

MOVES = 24
BAR = 40.0  # milliseconds of the dearest control
TEMPERATURES = [f"{hundredth / 100:.2f}" for hundredth in range(30, 200)]


@dataclass(frozen=True)
class Control:
    """A control of a view, and where it may be put.

    Attributes:
        name: what is moved, as a row of a table calls it.
        link: of the view, without the control.
        parameter: of the link.
        values: as a link writes them.
    """

    name: str
    link: str
    parameter: str
    values: Sequence[str]


def _generate(name: str, parameter: str, values: Sequence[str], **more: str) -> Control:
    """A control of the Generate lens, where Lab GPT writes after the prompt of its questions."""
    query = LAB | {f"generate_{field}": value for field, value in more.items()}
    return Control(f"generate, {name}", f"/generate?{urlencode(query)}", f"generate_{parameter}", values)


def _classify(name: str, parameter: str, values: Sequence[str]) -> Control:
    return Control(f"training, classify: {name}", "/training?training_view=classify", f"training_{parameter}", values)


SEEDS = [str(seed) for seed in range(2, 9999)]
TOKENS = [str(tokens) for tokens in range(1, 201)]
PUT = [f"9.{token}" for token in range(300, 500)]
CONTROLS = (
    _generate("write: tokens", "steps", TOKENS),
    _generate("write: temperature", "temperature", TEMPERATURES),
    _generate("write: seed of the draws", "seed", SEEDS),
    _generate("write: seed of 20 draws", "seed", SEEDS, steps="20"),
    _generate("write: token put there", "forced", PUT),
    _generate("write: tokens of beams", "steps", TOKENS, method="beam"),
    _generate("attention: head", "head", "12345", shows="attention"),
    _generate("attention: tokens", "steps", TOKENS, shows="attention"),
    _generate("kept: layer", "layer", "1234", view="kept"),
    _generate("kept: tokens", "steps", TOKENS, view="kept"),
    _generate("kept: seed of the draws", "seed", SEEDS, view="kept"),
    _generate("surprise: memory", "memory", [*map(str, range(1, 65))], view="surprise", against="short memory"),
    _classify("seed", "seed", SEEDS),
    _classify("example", "example", "123456789"),
)
OF_CONTROL = {control.name: Figure(f"Pictures and words of a move, {control.name}", "", "ms") for control in CONTROLS}
FIGURES = list(OF_CONTROL.values())


def names_of(link: str) -> list[str]:
    """What a browser asks for at each move in this view: its pictures that are not slow, and its words."""
    shown, asked = lens(urlsplit(link).path.strip("/")), Asked(urlsplit(link).query)
    panels = panels_in(shown.blocks(asked.model, asked.lens(shown.state, shown.prefix)))
    pictures = dict.fromkeys(panel.picture_name for panel in panels if panel.picture_name and not panel.slow)
    return [*pictures, f"{shown.name}.words"]


def main(moves: int = MOVES) -> Figures:
    """Measure each control in turn, round after round."""
    as_hosted()
    chance = random.Random(0)
    spent: dict[str, list[float]] = {control.name: [] for control in CONTROLS}
    asked = {control.name: "+".join(names_of(control.link)) for control in CONTROLS}
    with running_server(settings={ENTRIES["workers"].variable: "2"}) as (address, process):
        tree, connection = ProcessTree(process), HTTPConnection(urlsplit(address).netloc)
        for _ in range(moves + 1):
            for control in CONTROLS:
                moved = urlencode({control.parameter: chance.choice(control.values)})
                query = f"{urlsplit(control.link).query}&{moved}"
                before = tree.processor_seconds()
                connection.request("POST", f"/pictures/{asked[control.name]}", query, {"Origin": address})
                answer = connection.getresponse()
                if answer.read() and answer.status != 200:
                    raise ValueError(f"expected status 200 for {control.link} at {moved}, got {answer.status}")
                spent[control.name].append(1000 * (tree.processor_seconds() - before))
    means = {name: statistics.mean(times[1:]) for name, times in spent.items()}
    rows = [[name, f"{ms:.0f}", f"{max(spent[name][1:]):.0f}"] for name, ms in means.items()]
    rows.append(["mean", f"{statistics.mean(means.values()):.0f}"])
    show(f"Pictures and words of {moves} moves, ms of processor (bar: a mean of {BAR:g})", ["", "mean", "most"], rows)
    return {OF_CONTROL[name]: ms for name, ms in means.items()}


if __name__ == "__main__":
    main()
