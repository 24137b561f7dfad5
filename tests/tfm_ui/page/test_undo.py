"""What Undo takes back, in words."""

from tfm_ui.page.undo import difference, in_words


def test_only_what_both_know_and_what_differs_is_taken_back():
    now = {"seed": 8, "num_heads": 4, "heads_head": 2}
    assert difference(now, {"seed": 7, "num_heads": 4}) == {"seed": (8, 7)}
    assert difference(now, {"target": "x"}) == {}


def test_it_is_said_in_a_line():
    assert in_words({"num_heads": (8, 4)}) == "num_heads 8 → 4"
    assert (
        in_words({"text": ("", "the cat sat on the mat because it was tired")}) == "text “” → “the cat sat on the ma…”"
    )
    many = dict.fromkeys("abcde", (1, 2))
    assert in_words(many) == "a 1 → 2, b 1 → 2, c 1 → 2 and 2 more"
