"""The view "compare": who is ahead is shown and said to be ahead, and what is kept beyond the trained length."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.tfm_core.training.comparisons import comparison, outcome
from tests.tfm_ui.lenses.training.asking import MODEL, QUESTIONS, answer, measured
from tests.tfm_ui.pictures.charts import dots, figure, gaps, lines
from tfm_core import POSITIONAL, TASKS
from tfm_core.training.comparison import Comparison, Entry
from tfm_core.training.config import of_task
from tfm_core.training.lengths import lengths_of
from tfm_core.training.outcomes import outcome_store
from tfm_ui.lenses.training.compare.layers import WHY, Layers
from tfm_ui.lenses.training.compare.lengths import NOT_DEFINED, Lengths
from tfm_ui.lenses.training.compare.questions import QUESTIONS as OF_VIEW
from tfm_ui.lenses.training.compare.questions import VERDICTS
from tfm_ui.lenses.training.compare.ranked import MIRROR, Compare
from tfm_ui.lenses.training.outcomes import comparison_of
from tfm_ui.lenses.training.panels import NOTHING
from tfm_ui.lenses.training.state import LONGER, MEASURES, TrainingState

NAMES = [question.name for question in OF_VIEW]
OF_LENGTHS = [question.name for question in OF_VIEW if question.controls.get("tested") == LONGER]
LEARNED = (1.0, None, None, None, None)


def shows(panel, what: Comparison, measure=MEASURES[0]):
    """A panel of a comparison that no link describes."""
    shown = panel(MODEL, TrainingState(task=what.task, measure=measure))
    shown.comparison = what
    return shown


def by_rights(rights, measure=MEASURES[0], **more) -> Compare:
    return shows(Compare, comparison(rights, **more), measure)


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
    header, _ = result.picture()
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
    assert all(end.endswith(", level") for end in ends(result.picture()[0]))


def test_of_one_seed_nobody_is_ahead():
    assert by_rights({"learned": [0.9], "lstm": [0.1]}).verdict == "neither"


def test_who_is_level_is_not_ahead():
    result = by_rights({"learned": [1.0] * 3, "lstm": [1.0, 1.0, 0.2], "rope": [0.3] * 3})
    assert result.verdict == "neither"
    assert "2 of 3 networks are level, with 100%: transformer · learned and LSTM." in result.sentence()
    assert "The LSTM is level with the best transformer." in result.sentence()
    assert ends(result.picture()[0]) == ["100%, level", "100%, level", "30%"]


def test_less_is_better_where_it_is():
    rights = {"learned": [0.5] * 3, "lstm": [0.9] * 3}
    loss = by_rights(rights, "loss")
    assert loss.verdict == "a recurrent network"
    assert [loss.name_of(entry) for entry in loss.entries] == ["LSTM", "transformer · learned"]
    steps = by_rights({"learned": [1.0] * 3, "lstm": [0.9] * 3}, "steps to 99 %")
    assert steps.verdict == "a transformer"
    assert "is ahead, with 100 steps: each of its seeds is better than each seed of any other." in steps.sentence()
    assert "No recurrent network gets there;" in steps.sentence()
    steps = by_rights({"learned": [1.0] * 3, "lstm": [1.0, 0.9, 0.9]}, "steps to 99 %")
    assert steps.verdict == "neither"
    assert "No recurrent network gets there with most of its seeds;" in steps.sentence()
    header, _ = steps.picture()
    assert ends(header) == ["100, level", "never"]
    assert list(dots(header)["recurrent network"]) == [100]  # the one seed that gets there
    nobody = by_rights({"learned": [0.5] * 3, "lstm": [0.9] * 3}, "steps to 99 %")
    assert nobody.sentence().startswith("None of 2 networks gets there in 400 steps.")
    assert nobody.verdict == "neither"
    assert "best" not in " ".join(ends(nobody.picture()[0]))


@pytest.mark.parametrize("name", MEASURES)
def test_each_measure_has_a_sentence_a_table_and_a_picture(name):
    result = by_rights({"learned": [0.9, 0.8, 1.0], "lstm": [1.0, 0.0, 0.5], "slow lstm": [0.1] * 3}, name)
    assert result.sentence()
    assert all(result.laws().values())
    table = result.table()
    assert list(table["in the picture"]) == ["yes"] * 2 + ["no: another rate is better"]
    assert table["right answers, median"].tolist() == [
        entry.median("accuracy") for entry in [*result.entries, result.comparison.entries[2]]
    ]
    assert len(rows(result.picture()[0])) == 2


def test_laws_are_broken_by_an_unfair_comparison():
    fair = comparison({"learned": [0.9] * 3, "rope": [0.9] * 3})
    first, second = fair.entries
    assert all(shows(Compare, fair).laws().values())
    for unfair in (
        replace(second, parameters=2 * second.parameters),
        replace(second, config=replace(second.config, steps=401)),
        replace(second, outcomes=(*second.outcomes[:2], replace(second.outcomes[2], seed=7))),
    ):
        assert not all(shows(Compare, replace(fair, entries=(first, unfair))).laws().values())


def test_a_run_that_diverged_is_named_and_not_drawn():
    config = of_task("reverse", network="lstm")
    broken = Entry(config, 1, (outcome(config, 0, 0.1, loss=math.inf, problem="It diverged."),))
    result = comparison({"learned": [0.9] * 3})
    result = shows(Compare, replace(result, entries=(*result.entries, broken)), "loss")
    assert "Some runs diverged: LSTM. Not all runs have ended yet." in result.sentence()
    assert len(dots(result.picture()[0])["recurrent network"]) == 0


def test_names_say_what_differs_from_the_first_and_the_note_what_that_is(monkeypatch):
    result = by_rights({name: [0.9] * 3 for name in ("learned", "rope", "post", "layers", "gru")})
    assert [result.name_of(entry) for entry in result.comparison.entries] == [
        "transformer · learned",
        "transformer · rope",
        "transformer · learned · post-norm",
        "transformer · learned · 2 layers",
        "GRU",
    ]
    monkeypatch.setattr(outcome_store(), "_memory", {"reverse": (result.comparison, None)})
    note = Compare.conditions(MODEL, TrainingState()).text
    assert "learned positions, pre-norm, 1 layer and 1 head" in note
    assert "With 1 head alibi’s steepest slope is 0.004 a token, so scores fall by at most 0.035" in note


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
    return shows(Layers, replace(comparison({"learned": [0.5] * 3}, "induction"), entries=tuple(entries)))


def test_induction_with_one_layer_and_with_two_and_why():
    result = induction((0.22, 0.13, 0.14), (0.999, 0.98, 0.95))
    assert result.sentence() == (
        "With 1 layer 22% of the held-out answers are right, with 2 layers 99.9%, with about as many parameters. "
        "“induction”: the best head has 0.13 with 1 layer, 0.98 with 2 layers. “token before”: the best head has 0.14 "
        f"with 1 layer, 0.95 with 2 layers. {WHY}"
    )
    header, _ = result.picture()
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
    assert not shows(Layers, comparison({"learned": [0.9] * 3, "lstm": [0.9] * 3})).entries
    assert not shows(Layers, comparison({"learned": [0.9] * 3, "layers": []})).entries


# longer than trained


def stretched(**rows: tuple[float | None, ...]) -> Lengths:
    """A comparison in which all seeds have these shares at the five lengths."""
    made = comparison({name.replace("_", " "): [row[0]] * 3 for name, row in rows.items()})
    entries = [
        replace(entry, outcomes=tuple(replace(outcome, by_length=row) for outcome in entry.outcomes))
        for entry, row in zip(made.entries, rows.values(), strict=True)
    ]
    return shows(Lengths, replace(made, entries=tuple(entries)))


def test_learned_is_not_defined_beyond_and_everywhere_said_to_be_so():
    result = stretched(learned=LEARNED, rope=(0.9, 0.8, 0.7, 0.6, 0.5))
    assert "“learned”: not defined beyond 10, where the table of positions ends." in result.sentence()
    assert list(result.table()["“learned”"]) == ["100%"] + [NOT_DEFINED] * 4
    header, _ = result.picture()
    assert gaps(header) == {"“learned”": ([16, 20, 30, 40], [NOT_DEFINED] * 4)}
    x, y = lines(header)["“learned”"]
    assert list(x) == [10, 16, 20, 30, 40]
    assert y[0] == 1
    assert np.isnan(y[1:]).all()
    np.testing.assert_allclose(lines(header)["“rope”"][1], [0.9, 0.8, 0.7, 0.6, 0.5])
    assert all(result.laws().values())


def test_a_share_where_nothing_is_defined_breaks_the_law():
    assert not all(stretched(learned=(1.0, 0.0, 0.0, 0.0, 0.0)).laws().values())
    assert not all(stretched(learned=LEARNED, rope=(1.0, None, 0.5, 0.5, 0.5)).laws().values())


def test_who_keeps_and_who_loses_is_said():
    kept = stretched(learned=LEARNED, rope=(0.99, 0.9, 0.9, 0.9, 0.95), lstm=(1.0, 0.9, 0.7, 0.6, 0.5)).sentence()
    assert "LSTM and “rope” solve 10. Still right at 40: “rope” 95%; always the same answer would give 10%." in kept
    assert "LSTM loses most: from 100% to 50%." in kept
    lost = stretched(learned=LEARNED, rope=(0.99, 0.9, 0.9, 0.9, 0.1)).sentence()
    assert "“rope” solves 10, but not 40: there it has 10% of the answers right" in lost
    none = stretched(learned=LEARNED, rope=(0.5, 0.5, 0.5, 0.5, 0.5)).sentence()
    assert "None that is defined beyond 10 has 90% of the answers right there: nothing to keep." in none


def test_the_best_recurrent_network_is_beside_the_schemes_and_no_other_transformer():
    result = stretched(learned=LEARNED, layers=LEARNED, post=LEARNED, gru=(0.5,) * 5, lstm=(0.6,) * 5)
    assert list(result.networks) == ["“learned”", "LSTM"]
    header, _ = result.picture()
    assert set(lines(header)) == {"“learned”", "LSTM", "always the same answer"}


def test_the_spread_of_the_seeds_is_in_the_table():
    made = shows(Lengths, comparison({"learned": [0.9] * 3, "rope": [0.5, 0.7, 0.6]}))
    assert list(made.table()["“rope”"]) == ["60% (50% to 70%)"] * 5
    assert list(made.table().index) == list(lengths_of(made.comparison.base))


# questions


def test_reversing_takes_absolute_positions():
    assert "a single layer must be told where a token stands" in answer("Who can reverse?")


def test_of_brackets_three_seeds_do_not_show_who_learns_them_better():
    assert measured("Is attention ahead?") == "neither"
    assert "no difference that 3 seeds and 2,048 examples can show" in answer("Is attention ahead?")
    assert "is ahead" not in answer("Is attention ahead?")


def test_induction_takes_two_layers():
    assert answer("One layer or two?").endswith(WHY)
    few, many = Layers(MODEL, TrainingState(task="induction")).entries
    assert (few.config.num_layers, many.config.num_layers) == (1, 2)
    assert few.median("accuracy") < 0.5
    assert many.median("accuracy") > 0.99


@pytest.mark.parametrize("name", OF_LENGTHS)
def test_lengths_are_those_of_the_question(name):
    question = QUESTIONS[name]
    task = question.controls["task"]
    assert "not defined beyond" in answer(name)
    first, second, *_, last = lengths_of(comparison_of(task).base)
    numbers = {"induction": ("32", "128"), "majority": ("21", "87"), "reverse": ("Ten", "sixteen")}[task]
    assert all(number in question.ask for number in numbers)
    if task == "induction":
        assert (str(first), str(last)) == numbers
    if task == "majority":
        assert (str(first - 1), str(last - 1)) == numbers  # beside CLS
    if task == "reverse":
        assert (first, second) == (10, 16)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("task", TASKS)
def test_each_answer_holds_of_every_task_computed_or_not(name, task):
    text = answer(name, task=task)
    assert text.endswith(".") or text == NOTHING
    if predict := QUESTIONS[name].predict:
        assert predict.options in (VERDICTS, tuple(POSITIONAL))
        assert measured(name, task=task) in predict.options


@pytest.mark.parametrize(
    ("rights", "expected"),
    [({"learned": [0.9] * 3, "lstm": [0.1] * 3}, "a transformer"), ({"learned": [0.1] * 3}, "neither")],
)
def test_the_verdict_is_that_of_what_came_out(monkeypatch, rights, expected):
    monkeypatch.setattr(outcome_store(), "_memory", {"brackets": (comparison(rights, "brackets"), None)})
    assert measured("Is attention ahead?") == expected
