"""The view "lengths": what is kept and lost beyond the trained length, and what is not defined there."""

from dataclasses import replace

import numpy as np

from tests.tfm_core.training.comparisons import comparison
from tests.tfm_ui.pictures.charts import gaps, lines
from tfm_core.training.comparison import Comparison
from tfm_core.training.lengths import lengths_of
from tfm_ui.lenses.training.lengths.numbers import NOT_DEFINED, ByLength
from tfm_ui.lenses.training.lengths.pictures import by_length


def stretched(**rows: tuple[float | None, ...]) -> ByLength:
    """A comparison in which all seeds have these shares at the five lengths."""
    made = comparison({name.replace("_", " "): [row[0]] * 3 for name, row in rows.items()})
    entries = [
        replace(entry, outcomes=tuple(replace(outcome, by_length=row) for outcome in entry.outcomes))
        for entry, row in zip(made.entries, rows.values(), strict=True)
    ]
    return ByLength(replace(made, entries=tuple(entries)))


LEARNED = (1.0, None, None, None, None)


def test_learned_is_not_defined_beyond_and_everywhere_said_to_be_so():
    result = stretched(learned=LEARNED, rope=(0.9, 0.8, 0.7, 0.6, 0.5))
    assert "“learned”: not defined beyond 10, where the table of positions ends." in result.sentence()
    assert list(result.table()["“learned”"]) == ["100%"] + [NOT_DEFINED] * 4
    header, _ = by_length(result)
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
    assert [network.name for network in result.networks] == ["“learned”", "LSTM"]
    header, _ = by_length(result)
    assert set(lines(header)) == {"“learned”", "LSTM", "always the same answer"}


def test_the_spread_of_the_seeds_is_in_the_table():
    made: Comparison = comparison({"learned": [0.9] * 3, "rope": [0.5, 0.7, 0.6]})
    assert list(ByLength(made).table()["“rope”"]) == ["60% (50% to 70%)"] * 5
    assert list(ByLength(made).table().index) == list(lengths_of(made.base))
