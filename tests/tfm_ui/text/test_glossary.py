"""The glossary: words are explained where they mean what it explains, once a text; whatever a visitor types is text."""

import json
import re
from collections.abc import Iterator
from html import escape, unescape
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.explanations import without_explanations
from tests.record.addresses import FOLDER
from tfm_ui.lenses import lenses
from tfm_ui.text.glossary import explained, marked, plain_of
from tfm_ui.text.glossary_words import GLOSSARY

# What nobody knows who has not heard of transformers.
FIRST = (
    "query key value head layer token embedding attention residual d_model vocabulary weight parameter position mask"
)
FIRST += (
    " encoder decoder logits softmax training loss batch vector matrix norm perplexity temperature probability seed"
)
FIRST += " epoch dₖ dropout activation top-k top-p cache prompt pretrained tokenizer context self-attention WordPiece"
# Where a word is explained that has another meaning elsewhere, and where it is not.
MEANT = {
    "bias": ["What is added to the score: the {}."],
    "bits": ["Surprise is −log₂ of its probability, in {}."],
    "cache": ["How many bytes does each token add to the {}?"],
    "context": ["At step 9 the {} of 256 tokens was full.", "Its weight on the first token of the {}."],
    "cosine": ["The {} of their directions.", "The {} between the vectors."],
    "head": ["Layer 1, {} 2 looks most at the token before.", "Which {} looks back?"],
    "key": ["A query and a {} have one score.", "Without any {}: its weights are all 0.", "(batch, {}) = (2, 3), bool"],
    "leak": ["When does the {} end?"],
    "norm": ["Before the {} the means differ.", "After the final {}, the logits."],
    "score": ["The {} of a key that the query may not see is −∞."],
    "stack": ["Its length at the end of the {}."],
    "tied": ["These weights were trained with {} embeddings."],
    "transformer": ["Best of the {}s: the one with 2 heads.", "Every {} here is level with it."],
    "value": [
        "Each {} times its weight, for one query.",
        "No text is read: the query, the keys and the {}s are yours.",
    ],
    "weight": [
        "Every row of {}s sums to 1.",
        "The largest {} of its rows is 0.76.",
        "Head 2 puts 0.98 of its {} on the mirror.",
        "The attention {}s of all layers.",
        "Scores come before the softmax, {}s after it.",
    ],
}
NOT_MEANT = {
    "bias": ["Matrices and their {}es are counted."],
    "bits": ["Numbers of 16 {}."],
    "context": ["Other {}s."],
    "cosine": ["Sines in even columns, {}s in odd ones.", "A {} wave."],
    "head": ["A linear {} for 10 classes.", "A {} for 2 classes.", "Click the {} of a column to sort by it."],
    "key": ["Walk with the arrow {}s, and see all weights.", "Press the {} of your choice."],
    "leak": ["How many pairs {}?"],
    "norm": ["Gradients are cut to a {} of 1.", "A: every {} is √32.", "The {}s are all 5.657: rows have one length."],
    "score": [
        "So that token {}s high.",
        "It gives each token of its vocabulary a {}, the logit.",
        "The last vector becomes a {} for each of the 2,048 tokens.",
    ],
    "stack": ["{}.layers.0 is random."],
    "tied": ["Of 3 tokens that {}."],
    "transformer": ["The weights of {}s’ model.", "{}s is not installed here.", "As {}s stores them."],
    "value": [
        "All 320 {}s lie from −1 to 1; queries and keys are turned.",
        "Each cell the {} furthest from 0, of keys, too.",
        "A query before its first tile has no {}: a cross.",
        "Its vector times its {}, whatever its weights.",
    ],
    "weight": [
        "Random {}s: no head has learned anything.",
        "The {}s are random, and so are the heads.",
        "No {} was trained, so no layer has learned to look.",
        "Without {} decay, the head reads the mean.",
        "Choose {}s that need fewer than 10 tokens.",
        "The {}s here are random: the heads differ.",
        "Choose Lab GPT as {}s, whose tokens see those after them, too.",
        "Under each scheme all {} tensors are the same in each head.",
        "The same {}s without positions: how much of it still looks there?",
        "Every {} has to be read once, for all tokens.",
        "stack.layers.0.{} of each head",
    ],
}


def without_marks(html: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", without_explanations(html)))


def words_of(text: str) -> dict[str, str]:
    """The words that are marked in this text, and their explanations."""
    return {piece[0]: piece[1] for piece in marked(text) if isinstance(piece, tuple)}


def texts_of(content: Any) -> Iterator[str]:
    """All sentences that a link has shown."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict | list):
        for inside in content.values() if isinstance(content, dict) else content:
            yield from texts_of(inside)


def said() -> list[str]:
    """What the app has said: the sentences of all recorded links, and all questions."""
    contents = (json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.rglob("*.json"))
    parts = (content.get(name) for content in contents for name in ("question", "panels", "order", "texts"))
    sentences = {text for part in parts for text in texts_of(part) if " " in text}
    return sorted(sentences | {question.ask for lens in lenses() for question in lens.questions})


SAID = said()


@pytest.mark.parametrize("word", FIRST.split())
def test_the_words_that_a_beginner_meets_first_are_explained(word):
    assert word in GLOSSARY


@pytest.mark.parametrize("word", GLOSSARY)
def test_each_word_is_explained_where_it_first_stands(word):
    about = escape(GLOSSARY[word].about)
    for sentence in MEANT.get(word, ["The {} here."]):
        text = f"{sentence} And once more: {sentence}".replace("{}", word)
        html = explained(text)
        assert html.count(about) == 2, text  # for the eye, and as the label for the ear
        assert html.index(about) < html.index("And once more"), text
        assert without_marks(html) == text


def test_it_is_explained_in_the_plural_and_at_the_beginning_of_a_sentence():
    for form, word in {
        "Queries": "query",
        "keys": "key",
        "Heads": "head",
        "matrices": "matrix",
        "Probabilities": "probability",
        "Logit": "logits",
        "PADs": "PAD",
        "gelu": "GELU",
        "attention weights": "attention weight",
        "feed-forward network": "feed-forward",
    }.items():
        assert words_of(f"{form} of a query and a key, or a value, by softmax.")[form] == GLOSSARY[word].about


def test_a_word_with_another_meaning_is_explained_only_where_it_has_the_one_that_is_explained():
    rules = {word for word, about in GLOSSARY.items() if about.needs or about.only or about.never}
    assert rules == set(MEANT)
    assert set(NOT_MEANT) <= rules
    for word, sentences in NOT_MEANT.items():
        for sentence in sentences:
            text = sentence.replace("{}", word)
            assert GLOSSARY[word].about not in words_of(text).values(), text


def test_what_stands_in_quotes_and_beside_an_arrow_is_a_token_and_no_word():
    assert words_of("“key” looks at “query” and “the softmax” with 0.4") == {}
    assert words_of("Strongest: head → key, 0.91, token → value, 0.8") == {}
    assert words_of("·key and ·softmax") == {}
    assert set(words_of("“key” gets most of the softmax")) == {"softmax"}


def test_a_capital_within_a_sentence_makes_a_name_of_it():
    assert words_of("What these weights do opens in Heads; in Attention it is changed.") == {}
    assert set(words_of("Heads look. ✓ Softmax and norms; Queries: none")) == {"Heads", "Softmax", "norms", "Queries"}
    assert set(words_of("An LSTM and PADs")) == {"LSTM", "PADs"}


def test_a_part_of_a_word_is_none():
    for text in ("biased heading and non-causal", "stack.layers.0", "self.softmax", "d_model_2", "the₂ token₂"):
        assert explained(text) == escape(text)


@given(st.text() | st.lists(st.sampled_from([*GLOSSARY, "“", "”", " ", " → ", ".", "<b>"])).map("".join))
def test_the_text_stays_what_it_is(text):
    html = explained(text)
    assert without_marks(html) == text
    if not words_of(text):
        assert html == escape(text)


def test_an_explanation_is_a_short_sentence():
    for word, entry in GLOSSARY.items():
        assert entry.about.endswith("."), word
        assert len(entry.about) <= 110, word
        assert len(entry.about.split()) <= 24, word
        assert entry.about[0] not in "abcdefghijklmnopqrstuvwxyz", word


def test_words_are_in_the_order_of_a_dictionary():
    names = [word.replace("dₖ", "d_k").casefold() for word in GLOSSARY]
    for before, after in pairwise(names):
        assert before < after


def test_nothing_that_the_app_has_said_has_a_word_marked_in_quotes_or_twice():
    assert len(SAID) > 1000
    for text in SAID:
        pieces = marked(text)
        abouts = [piece[1] for piece in pieces if isinstance(piece, tuple)]
        assert len(abouts) == len(set(abouts)), text
        before = ""
        for piece in pieces:
            if isinstance(piece, tuple):
                assert before.count("“") <= before.count("”"), (text, piece[0])
            before += plain_of(piece)


def test_weights_are_never_taken_for_parameters_nor_parameters_for_weights():
    """The words beside a marked one tell of it, in all that the app has said."""
    attention, parameters = GLOSSARY["weight"].about, GLOSSARY["random weights"].about
    for text in SAID:
        before = ""
        for piece in marked(text):
            word, about = piece if isinstance(piece, tuple) else (plain_of(piece), "")
            beside = f"{before[-24:]}{word}"
            if about == attention:
                assert not re.search(r"(?i)(random|trained|these|as) weights$", beside), (text, beside)
            if about == parameters:
                assert "random" in word.casefold()
            before += word
