"""The condition of a task in words."""

import pytest

from tfm_ui.lenses import lens
from tfm_ui.lessons.expressions import read
from tfm_ui.lessons.reached_words import in_words


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("attention_temperature < 0.3", "“Temperature” is below 0.3"),
        ("d_k == 2", "the width of one head is 2"),
        ("attention_query == 5 and attention_key == 2", "“Query” is 5; “Key” is 2"),
        ("tokens >= 256", "how many tokens the model reads of the text: at least 256"),
        ('attention_step == "heads"', "“Step” is “heads”"),
    ],
)
def test_a_condition_of_names_and_values_is_a_sentence(condition, words):
    assert in_words(read(condition), lens("attention")) == words


@pytest.mark.parametrize(
    "condition",
    [
        "not attention_scaled",
        "attention_key < attention_query",
        'attention_tokens == "q11"',
        "d_k == 2 and abs(d_model - 8) < 2",
        "nothing_of_this_page == 1",
    ],
)
def test_what_would_be_no_sentence_is_left_out(condition):
    assert in_words(read(condition), lens("attention")) == ""
