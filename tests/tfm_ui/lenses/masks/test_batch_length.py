"""How many places the sentences of the Masks lens's batch have."""

from dataclasses import replace

from tfm_ui.lenses.masks.padding.beside import run_beside
from tfm_ui.lenses.masks.padding.padded import batch_of
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.state.model_state import ModelState


def test_a_batch_is_as_long_as_its_longest_sentence_or_as_the_link_says():
    texts = MasksState(texts="a b c d e\nf g h i j k l m n o p q\nr")
    short = ModelState(text="one two three")
    batch = batch_of(short, texts)
    assert [len(setting.model.source_tokens.pieces) for setting in batch.settings] == [3, 5, 12, 1]
    assert batch.source.shape == (4, 12)
    assert batch_of(replace(short, seq_len=4), texts).source.shape == (4, 4)
    assert run_beside(short, texts).aside() == ""
    target = replace(short, architecture="encoder-decoder", target="one two three four")
    assert batch_of(target, MasksState(texts="")).setting.model.target_tokens.pieces == ("one", "two", "three", "four")
