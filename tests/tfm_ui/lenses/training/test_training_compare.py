"""The view "compare": who is ahead is shown and said to be ahead, whoever it is."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.tfm_core.training.comparisons import comparison, outcome
from tests.tfm_ui.pictures.charts import dots, figure
from tfm_core.training.comparison import Entry
from tfm_core.training.config import of_task
from tfm_ui.lenses.training.compare.layers import WHY, Layers
from tfm_ui.lenses.training.compare.measures import MEASURES
from tfm_ui.lenses.training.compare.numbers import MIRROR, Ranked
from tfm_ui.lenses.training.compare.pictures import layered, ranked
from tfm_ui.lenses.training.outcomes import common, name_of
from tfm_ui.lenses.training.state import MEASURES as NAMES

RIGHT = MEASURES["right answers"]


def by_rights(rights, measure=RIGHT, **more) -> Ranked:
    return Ranked(comparison(rights, **more), measure)


def rows(header) -> list[str]:
    return list(figure(header).layout.yaxis.ticktext)


def ends(header) -> list[str]:
    return [text.text for text in figure(header).layout.annotations if text.name == "end"]


def test_where_the_lstm_is_ahead_the_page_shows_that_it_is_ahead():
    result = by_rights({"learned": [0.9, 0.91, 0.92], "rope": [0.5] * 3, "lstm": [0.97, 0.98, 0.99], "gru": [0.2] * 3})
    assert result.sentence() == (
        "The LSTM, 98%, is ahead of every transformer here: each of its seeds is better than each seed of a "
        "transformer. Best of the transformers is the transformer with learned positions: 91%. Medians over the seeds, "
        "after 400 steps, on 2,048 held-out examples."
    )
    assert result.verdict == "a recurrent network"
    header, _ = ranked(result)
    assert [row.partition(" (")[0] for row in rows(header)] == ["LSTM", "learned", "rope", "GRU"]
    assert ends(header) == ["98%, best", "91%", "50%", "20%"]
    drawn = dots(header)
    np.testing.assert_allclose(drawn["recurrent network"], [0.97, 0.98, 0.99, 0.2, 0.2, 0.2])
    np.testing.assert_allclose(drawn["transformer"], [0.9, 0.91, 0.92, 0.5, 0.5, 0.5])


def test_where_a_transformer_is_ahead_it_is_the_transformer():
    result = by_rights({"learned": [0.8, 0.81, 0.82], "post": [0.93, 0.94, 0.95], "lstm": [0.1, 0.85, 0.2]})
    assert result.verdict == "a transformer"
    assert result.sentence().startswith(
        "Of 3 networks the transformer with learned positions and post-norm is ahead, with 94%: each of its seeds is "
        "better than each seed of any other."
    )
    assert "Best of the recurrent networks is the LSTM: 20%" in result.sentence()


@pytest.mark.parametrize("lstm", [[0.1, 0.95, 0.2], [0.92, 0.925, 0.929]])
def test_where_seeds_overlap_or_chance_can_explain_it_nobody_is_ahead(lstm):
    """No seeds overlap in the second case, but shares of 2,048 examples lie less than chance apart."""
    result = by_rights({"learned": [0.93, 0.94, 0.95], "lstm": lstm})
    assert result.verdict == "neither"
    assert "ahead" not in result.sentence()
    assert "there is no difference that 3 seeds and 2,048 examples can show" in result.sentence()
    assert all(end.endswith(", level") for end in ends(ranked(result)[0]))


def test_of_one_seed_nobody_is_ahead():
    assert by_rights({"learned": [0.9], "lstm": [0.1]}).verdict == "neither"


def test_who_is_level_is_not_ahead():
    result = by_rights({"learned": [1.0] * 3, "lstm": [1.0, 1.0, 0.2], "rope": [0.3] * 3})
    assert result.verdict == "neither"
    assert "2 of 3 networks are level, with 100%: transformer · learned and LSTM." in result.sentence()
    assert "The LSTM is level with the best transformer." in result.sentence()
    assert ends(ranked(result)[0]) == ["100%, level", "100%, level", "30%"]


def test_less_is_better_where_it_is():
    rights = {"learned": [0.5] * 3, "lstm": [0.9] * 3}
    loss = by_rights(rights, MEASURES["loss"])
    assert loss.verdict == "a recurrent network"
    assert [loss.name(entry) for entry in loss.entries] == ["LSTM", "transformer · learned"]
    steps = by_rights({"learned": [1.0] * 3, "lstm": [0.9] * 3}, MEASURES["steps to 99 %"])
    assert steps.verdict == "a transformer"
    assert "is ahead, with 100 steps: each of its seeds is better than each seed of any other." in steps.sentence()
    assert "No recurrent network gets there;" in steps.sentence()
    steps = by_rights({"learned": [1.0] * 3, "lstm": [1.0, 0.9, 0.9]}, MEASURES["steps to 99 %"])
    assert steps.verdict == "neither"
    assert "No recurrent network gets there with most of its seeds;" in steps.sentence()
    header, _ = ranked(steps)
    assert ends(header) == ["100, level", "never"]
    assert list(dots(header)["recurrent network"]) == [100]  # the one seed that gets there
    nobody = by_rights({"learned": [0.5] * 3, "lstm": [0.9] * 3}, MEASURES["steps to 99 %"])
    assert nobody.sentence().startswith("None of 2 networks gets there in 400 steps.")
    assert nobody.verdict == "neither"
    assert "best" not in " ".join(ends(ranked(nobody)[0]))


@pytest.mark.parametrize("name", NAMES)
def test_each_measure_has_a_sentence_a_table_and_a_picture(name):
    result = by_rights({"learned": [0.9, 0.8, 1.0], "lstm": [1.0, 0.0, 0.5], "slow lstm": [0.1] * 3}, MEASURES[name])
    assert result.sentence()
    assert all(result.laws().values())
    table = result.table()
    assert list(table["in the picture"]) == ["yes"] * 2 + ["no: another rate is better"]
    assert table["right answers, median"].tolist() == [
        entry.median("accuracy") for entry in [*result.entries, result.comparison.entries[2]]
    ]
    assert len(rows(ranked(result)[0])) == 2


def test_laws_are_broken_by_an_unfair_comparison():
    fair = comparison({"learned": [0.9] * 3, "rope": [0.9] * 3})
    first, second = fair.entries
    assert all(Ranked(fair, RIGHT).laws().values())
    for unfair in (
        replace(second, parameters=2 * second.parameters),
        replace(second, config=replace(second.config, steps=401)),
        replace(second, outcomes=(*second.outcomes[:2], replace(second.outcomes[2], seed=7))),
    ):
        assert not all(Ranked(replace(fair, entries=(first, unfair)), RIGHT).laws().values())


def test_a_run_that_diverged_is_named_and_not_drawn():
    config = of_task("reverse", network="lstm")
    broken = Entry(config, 1, (outcome(config, 0, 0.1, loss=math.inf, problem="It diverged."),))
    result = comparison({"learned": [0.9] * 3})
    result = Ranked(replace(result, entries=(*result.entries, broken)), MEASURES["loss"])
    assert "Some runs diverged: LSTM. Not all runs have ended yet." in result.sentence()
    assert len(dots(ranked(result)[0])["recurrent network"]) == 0


def test_names_say_what_differs_from_the_first_and_the_note_what_that_is():
    result = comparison(
        {"learned": [0.9] * 3, "rope": [0.9] * 3, "post": [0.9] * 3, "layers": [0.9] * 3, "gru": [0.9] * 3}
    )
    assert [name_of(entry, result) for entry in result.entries] == [
        "transformer · learned",
        "transformer · rope",
        "transformer · learned · post-norm",
        "transformer · learned · 2 layers",
        "GRU",
    ]
    assert "learned positions, pre-norm, 1 layer and 1 head" in common(result)
    assert "With 1 head alibi’s steepest slope is 0.004 a token, so scores fall by at most 0.035" in common(result)


def test_positions_are_ranked_and_the_reason_is_given_where_it_was_measured():
    reverse = by_rights({"learned": [0.9] * 3, "rope": [0.5] * 3})
    assert reverse.positions() == f"Positional schemes: learned 90%, rope 50%. {MIRROR}"
    assert MIRROR not in by_rights({"learned": [0.9] * 3, "rope": [0.95] * 3}).positions()
    assert MIRROR not in by_rights({"learned": [0.9] * 3, "rope": [0.5] * 3}, task="majority").positions()


# one layer and two


def induction(single: tuple[float, float, float], double: tuple[float, float, float]) -> Layers:
    """Induction with one layer and with two: the share of right answers, and both patterns."""
    entries = []
    for layers, (accuracy, *patterns) in ((2, double), (1, single)):
        config = of_task("induction", num_layers=layers)
        outcomes = tuple(outcome(config, seed, accuracy, patterns=tuple(patterns)) for seed in range(3))
        entries.append(Entry(config, 100, outcomes))
    return Layers(replace(comparison({"learned": [0.5] * 3}, "induction"), entries=tuple(entries)))


def test_induction_with_one_layer_and_with_two_and_why():
    result = induction((0.22, 0.13, 0.14), (0.999, 0.98, 0.95))
    assert result.sentence() == (
        "With 1 layer 22% of the held-out answers are right, with 2 layers 99.9%, with about as many parameters. "
        "“induction”: the best head has 0.13 with 1 layer, 0.98 with 2 layers. “token before”: the best head has 0.14 "
        f"with 1 layer, 0.95 with 2 layers. {WHY}"
    )
    header, _ = layered(result)
    np.testing.assert_allclose(dots(header)["1 layer"], [0.22] * 3 + [0.13] * 3 + [0.14] * 3)
    np.testing.assert_allclose(dots(header)["2 layers"], [0.999] * 3 + [0.98] * 3 + [0.95] * 3)
    assert rows(header) == ["right answers", "induction", "token before"]
    assert all(result.laws().values())
    assert len(result.table()) == 6


@pytest.mark.parametrize(
    ("single", "double"),
    [
        ((0.99, 0.13, 0.14), (0.9, 0.98, 0.95)),  # one layer does better
        ((0.22, 0.9, 0.14), (0.99, 0.98, 0.95)),  # one layer has the pattern
        ((0.22, 0.1, 0.14), (0.99, 0.3, 0.95)),  # two layers do not have it
    ],
)
def test_no_reason_is_given_for_what_was_not_measured(single, double):
    assert WHY not in induction(single, double).sentence()


def test_without_another_number_of_layers_there_is_no_such_panel():
    assert not Layers(comparison({"learned": [0.9] * 3, "lstm": [0.9] * 3})).entries
    assert not Layers(comparison({"learned": [0.9] * 3, "layers": []})).entries
