"""Lab BERT in the making, on small texts: what is masked, pairs of stretches, a short run, counting, the card."""

import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tfm_core import Transformer
from tfm_core.language import lab_bert, wordpiece
from tfm_core.language.wordpiece import CLS_ID, MASK_ID, PAD_ID, SEP_ID, SPECIAL
from tfm_core.training.__main__ import main
from tfm_core.training.prose import make_masked
from tfm_core.training.prose.corpus import Document
from tfm_core.training.prose.guesses import Guesses, word_vectors
from tfm_core.training.prose.masked import (
    MaskedRecipe,
    MaskedTraining,
    Sentences,
    in_a_row,
    judged,
    mask_words,
    pairs,
    singles,
)
from tfm_core.training.prose.masked_card import masked_card

VOCAB, ROOM, LENGTH = 60, 32, 24
TINY = replace(lab_bert.UNTRAINED, vocab_size=VOCAB, d_model=16, num_heads=2, num_layers=1, max_len=ROOM)
SMALL = MaskedRecipe(steps=6, warmup=2, tokens=128, lengths=(16, 32))


def random_of(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def texts(count: int = 2000) -> Sentences:
    """Tokens that tell their own place, and a sentence every 7 of them; two documents."""
    ids = torch.arange(count) % (VOCAB - 5) + 5
    begins = torch.arange(ROOM + 3, count - ROOM, 7)
    return Sentences(ids, begins, (begins > count // 2).long(), ROOM)


@given(st.integers(0, 10**6), st.sampled_from([0.15, 0.4]))
def test_words_are_masked_by_the_law_of_devlin(seed: int, share: float) -> None:
    tokens = torch.randint(0, VOCAB, (64, 128), generator=random_of(seed))
    read, asked = mask_words(tokens, VOCAB, random_of(seed), share)
    ordinary = tokens >= len(SPECIAL)
    assert not asked[~ordinary].any(), "no special token is asked for"
    assert torch.equal(read[~asked], tokens[~asked]), "what is not asked for is read as it is"
    assert (read[asked] == MASK_ID).logical_or(read[asked] >= len(SPECIAL)).all()
    assert asked.sum() / ordinary.sum() == pytest.approx(share, abs=0.03)
    hidden = (read[asked] == MASK_ID).float().mean()
    stay = (read[asked] == tokens[asked]).float().mean()
    assert hidden == pytest.approx(0.8, abs=0.06)
    assert stay == pytest.approx(0.1 + 0.1 / (VOCAB - len(SPECIAL)), abs=0.05)


@given(st.integers(0, 10**6), st.booleans())
def test_pairs_are_two_stretches_and_the_second_follows_where_it_says_so(seed: int, near: bool) -> None:
    known = texts()
    batch = pairs(known, 32, LENGTH, random_of(seed), near=near)
    assert batch.tokens.shape == batch.types.shape == (32, LENGTH)
    assert batch.follows is not None
    for tokens, types, follows in zip(batch.tokens.tolist(), batch.types.tolist(), batch.follows.tolist(), strict=True):
        ends = [place for place, token in enumerate(tokens) if token == SEP_ID]
        assert tokens[0] == CLS_ID
        assert len(ends) == 2
        assert ends[1] == LENGTH - 1
        assert types == [0] * (ends[0] + 1) + [1] * (LENGTH - ends[0] - 1)
        first, second = tokens[1 : ends[0]], tokens[ends[0] + 1 : ends[1]]
        assert min(len(first), len(second)) >= 6
        for part in (first, second):
            assert all((b - a) % (VOCAB - 5) == 1 for a, b in pairwise(part)), "each part is a stretch of the text"
        if follows:
            assert (second[0] - first[-1]) % (VOCAB - 5) == 1


def test_half_of_the_pairs_follow() -> None:
    follows = pairs(texts(), 2000, LENGTH, random_of(0)).follows
    assert follows is not None
    assert float(follows.float().mean()) == pytest.approx(0.5, abs=0.05)


@given(st.integers(0, 10**6))
def test_singles_are_whole_sentences_and_padding(seed: int) -> None:
    batch = singles(texts(), 16, LENGTH, random_of(seed))
    assert batch.follows is None
    assert not batch.types.any()
    for tokens in batch.tokens.tolist():
        end = tokens.index(SEP_ID)
        assert tokens[0] == CLS_ID
        assert PAD_ID not in tokens[:end]
        assert set(tokens[end + 1 :]) <= {PAD_ID}
        assert (end - 1) % 7 == 0 or end == LENGTH - 1, "sentences have 7 tokens here; the last ones are cut"


def test_sentences_begin_after_their_end_and_what_closes_it() -> None:
    long = 'She said, "He is here!" Then it rained. ' * 20
    words = wordpiece.train([long], 80)
    known = in_a_row([Document("emma", long, False)], words, 4)
    names = [words.id_to_token(int(known.ids[place])) for place in known.begins]
    assert set(names) == {"she", "then"}
    with pytest.raises(ValueError, match="expected sentences with 400 tokens on either side, got"):
        in_a_row([Document("emma", long, False)], words, 400)


def test_a_run_that_was_stopped_comes_out_as_an_unbroken_one(tmp_path: Path) -> None:
    whole = MaskedTraining(SMALL, texts(), texts(), config=TINY)
    assert [point["step"] for point in whole.points()] == [6]
    first = MaskedTraining(SMALL, texts(), texts(), tmp_path / "checkpoint.pt", config=TINY)
    for _ in range(3):
        first._step()
    first._write(tmp_path / "checkpoint.pt")
    second = MaskedTraining(SMALL, texts(), texts(), tmp_path / "checkpoint.pt", config=TINY)
    assert second.step == 3
    list(second.points())
    for part in ("model", "heads"):
        for name, value in getattr(whole, part).state_dict().items():
            assert torch.equal(value, getattr(second, part).state_dict()[name]), name


def test_training_learns_to_fill_gaps_of_a_text_that_counts_on() -> None:
    run = MaskedTraining(replace(SMALL, steps=60, tokens=512, lengths=(32,)), texts(), texts(), config=TINY)
    head = run.heads[lab_bert.NEXT_SENTENCE]
    before = judged(run.model.eval(), head, texts(), batches=1)["masked_loss"]
    run.model.train()
    list(run.points())
    assert judged(run.model.eval(), head, texts(), batches=1)["masked_loss"] < before - 0.3


def test_guesses_are_those_of_counting() -> None:
    tokens = torch.randint(5, 20, (3000,), generator=random_of(1)).sort().values.view(-1, 3).T.flatten()
    guesses, counted = Guesses(tokens, 20), Counter(tokens.tolist())
    assert guesses.most_frequent() == counted.most_common(1)[0][0]
    after = Counter(pairwise(tokens.tolist()))
    for left in (7, 11):
        best = max(range(20), key=lambda t: after[left, t] + 4 * counted[t] / len(tokens))
        assert int(guesses.of_left(torch.tensor([left]))) == best
    for left, right in ((7, 8), (11, 12), (CLS_ID, 9), (9, SEP_ID)):

        def score(t: int, left: int = left, right: int = right) -> float:
            share = counted[t] / len(tokens)
            before = (after[left, t] + 4 * share) / (counted[left] + 4)
            following = (after[t, right] + 4 * counted[right] / len(tokens)) / (counted[t] + 4)
            return before * (following if right >= len(SPECIAL) else 1.0)

        said = int(guesses.of_both(torch.tensor([left]), torch.tensor([right])))
        assert score(said) == pytest.approx(max(map(score, range(20))), rel=1e-4)


def test_tokens_with_the_same_neighbours_have_vectors_alike() -> None:
    random = random_of(3)
    noun, verb = torch.randint(5, 9, (1500,), generator=random), torch.randint(9, 13, (1500,), generator=random)
    vectors = word_vectors(torch.stack([noun, verb], 1).flatten(), 14, 4, random_of(0))
    assert torch.allclose(vectors[5:13].norm(dim=1), torch.ones(8), atol=1e-5)
    cosines = vectors @ vectors.T
    assert cosines[5:9, 5:9].min() > cosines[5:9, 9:13].max()


def test_the_shipped_card_is_that_of_its_figures() -> None:
    figures = json.loads(lab_bert.FIGURES.read_text("utf-8"))
    assert masked_card(figures) == (lab_bert.FOLDER / "README.md").read_text("utf-8")
    assert figures["recipe"] == json.loads(json.dumps(MaskedRecipe().__dict__))
    assert lab_bert.WEIGHTS.stat().st_size == figures["bytes"] <= 4_000_000


def test_the_shipped_model_does_what_its_card_says() -> None:
    import tokenizers

    figures = json.loads(lab_bert.FIGURES.read_text("utf-8"))
    model, words = Transformer(lab_bert.LAB_BERT).eval(), tokenizers.Tokenizer.from_file(str(lab_bert.TOKENIZER))
    for (text, told), (asked, measured) in zip(figures["samples"], make_masked.gaps_filled(model, words), strict=True):
        assert text == asked
        assert [word for word, _ in told] == [word for word, _ in measured]
        assert [share for _, share in told] == pytest.approx([share for _, share in measured], abs=1e-4)


def test_the_shipped_model_is_far_better_than_a_neighbour_and_the_pooler_than_a_coin() -> None:
    figures = json.loads(lab_bert.FIGURES.read_text("utf-8"))
    right = figures["masked"]["right"]
    assert right["Lab BERT"] > 1.5 * right["left neighbour"] > right["most frequent"]
    assert figures["next"]["anywhere"] > 0.7


def test_the_command_refuses_what_it_has_not(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["lab-bert", "--ship"])
    assert "lab-bert: expected no --device cuda, --ship or --again" in capsys.readouterr().err
