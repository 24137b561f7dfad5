"""How the benchmark of the arcs compares its measurements. Neither BertViz nor npm is needed."""

from benchmarks.arcs import PATIENCE, Visit, compared


def test_the_better_of_the_others_counts():
    ours = Visit(size=100_000, first=2.0, again=0.1, file=0.2, hover=0.01)
    fast, dead = Visit(400_000, 1.0, 1.0, 0.4, 0.03), Visit(300_000, PATIENCE, PATIENCE, PATIENCE, PATIENCE)
    rows = list(compared(ours, [fast, dead]))
    assert [row[1:4] for row in rows] == [
        ["0.1", "0.4", "0.3"],
        ["2", "1", "60"],
        ["0.1", "1", "60"],
        ["0.2", "0.4", "60"],
        ["10", "30", "6e+04"],
    ]
    assert [row[4] for row in rows] == ["3.0 ≥ 1 ✓", "0.5 ≥ 1 ✕", "10.0 ≥ 1 ✓", "2.0 ≥ 1 ✓", "3.0 ≥ 1 ✓"]
