"""Roles of heads: scores beside naive loops, heads that are built by hand, and the law of the baseline."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from tfm_core import LAB_GPT, Transformer, TransformerConfig, encode, lab_prompt, recording
from tfm_core.language import role_scores as measuring
from tfm_core.language.head_scores import BATCH, LENGTH, repeated_tokens
from tfm_core.language.kept_roles import keep_roles, kept_roles
from tfm_core.language.lab_gpt import FOLDER
from tfm_core.language.marked import ReadSentences, read_sentences
from tfm_core.language.role_scores import Rows, by_position_alone, role_scores, rows_of
from tfm_core.language.roles import MARGIN, ROLES, RoleScores, strongest
from tfm_core.language.silenced import silenced, without

SMALL = TransformerConfig(vocab_size=4096, d_model=16, num_heads=2, num_layers=2, architecture="decoder", max_len=128)
READ = read_sentences(encode, first_id=4)


def small(**changes: object) -> Transformer:
    return Transformer(replace(SMALL, **changes)).eval()


@pytest.mark.parametrize("architecture", ["decoder", "encoder"])
def test_scores_beside_naive_loops(architecture: str) -> None:
    """Positions, copies, punctuation and verbs, one weight after the other."""
    model = small(architecture=architecture)
    measured = role_scores(model, READ)
    tokens = repeated_tokens(4096, first_id=4)
    with torch.no_grad(), recording("*.self_attention.weights") as trace:
        model(tokens)
    weights = trace["layers.1.self_attention.weights"][3, 1]
    total = 2 * LENGTH
    previous = sum(float(weights[at, at - 1]) for at in range(1, total)) / (total - 1)
    assert float(measured["previous"].scores[3, 1, 1]) == pytest.approx(previous, rel=1e-4)
    first = sum(float(weights[at, 0]) for at in range(1, total)) / (total - 1)
    assert float(measured["first"].scores[3, 1, 1]) == pytest.approx(first, rel=1e-4)
    if architecture == "decoder":
        after = [float(weights[at, at - LENGTH + 1]) for at in range(LENGTH, total)]
        assert float(measured["induction"].scores[3, 1, 1]) == pytest.approx(sum(after) / LENGTH, rel=1e-4)
        assert "following" not in measured
        assert "subject" not in measured
    else:
        assert "induction" not in measured
    number = next(at for at, each in enumerate(READ.sentences) if each.signs and len(each.pairs) > 3)
    sentence = READ.sentences[number]
    with torch.no_grad(), recording("*.self_attention.weights") as trace:
        model(torch.tensor([sentence.ids]))
    weights = trace["layers.0.self_attention.weights"][0, 1]
    verbs = [
        sum(float(weights[query, key]) for query in looks for key in target) / len(looks)
        for name, looks, target in sentence.pairs
        if name == "verb" and (architecture == "encoder" or max(target) < min(looks))
    ]
    assert float(measured["verb"].scores[number, 0, 1]) == pytest.approx(sum(verbs) / len(verbs), rel=1e-4)
    assert int(measured["verb"].pairs[number]) == len(verbs)


def test_a_causal_mask_makes_an_encoder_look_back() -> None:
    """Then there is no role of looking ahead, and the scores are those of the decoder with the same weights."""
    of_encoder = role_scores(small(architecture="encoder"), READ, causal=True)
    of_decoder = role_scores(small(), READ)
    assert of_encoder.keys() == of_decoder.keys()
    for role, of in of_encoder.items():
        torch.testing.assert_close(of.scores, of_decoder[role].scores)


def test_random_weights_have_no_role() -> None:
    """Whatever the seed is."""
    for seed in (0, 1):
        measured = role_scores(small(seed=seed, num_heads=4), READ)
        assert not any(of.heads for of in measured.values())
        assert strongest(measured) == [[""] * 4] * 2


def handmade(scores: Tensor, read: ReadSentences, monkeypatch: pytest.MonkeyPatch) -> dict[str, RoleScores]:
    """The roles of a model whose heads have these scores, (head, query, key), in every text, under a causal mask."""
    original = rows_of

    def made(*args: object, **more: object) -> Rows:
        rows = original(*args, **more)  # type: ignore[arg-type]
        places = torch.cat([torch.arange(len(each.ids)) for each in read.sentences])
        keys = torch.arange(rows.visible.shape[1])
        weights = scores[:, places[:, None], keys].masked_fill(~rows.visible, float("-inf")).softmax(-1)
        return replace(rows, weights=weights)

    monkeypatch.setattr(measuring, "rows_of", made)
    return dict(role_scores(small(num_heads=len(scores), num_layers=1), read))


def test_a_head_that_attends_by_distance_alone_never_has_a_syntax_role(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor one that has a sink at the first token, too: the baseline is the head itself."""
    distance = torch.arange(40)[:, None] - torch.arange(40)
    sharp = torch.where(distance == 1, 6.0, 0.0)
    alibi = -0.7 * distance.float()
    sink = alibi + torch.where(torch.arange(40) == 0, 4.0, 0.0)
    random = torch.randn(40, generator=torch.Generator().manual_seed(0))[distance.abs()]
    measured = handmade(torch.stack([sharp, alibi, sink, 3 * random]), READ, monkeypatch)
    for role, of in measured.items():
        if ROLES[role].is_syntax or role == "signs":
            assert not of.heads, role
            assert float(of.margin.abs().max()) < MARGIN / 4, role


def test_a_head_that_looks_at_subjects_has_that_role(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no other relation of grammar."""
    original = rows_of

    def made(*args: object, **more: object) -> Rows:
        rows = original(*args, **more)  # type: ignore[arg-type]
        scores = torch.zeros(rows.visible.shape)
        for start, sentence in zip(rows.starts, READ.sentences, strict=True):
            for name, looks, target in sentence.pairs:
                if name == "verb":
                    scores[start + looks[0], target[0]] = 5.0
        weights = scores.masked_fill(~rows.visible, float("-inf")).softmax(-1)
        return replace(rows, weights=weights.expand(2, -1, -1))

    monkeypatch.setattr(measuring, "rows_of", made)
    measured = role_scores(small(num_layers=1), READ)
    syntax = {role for role, of in measured.items() if of.heads and ROLES[role].is_syntax}
    assert syntax == {"verb"}


def test_the_fit_has_the_sums_of_the_head() -> None:
    """Attention by position alone gives each distance as much as the head does; its rows sum to 1."""
    rows = rows_of(small(), READ)
    alone = by_position_alone(rows)
    visible = rows.visible.any(-1)
    torch.testing.assert_close(alone.sum(-1)[:, visible], torch.ones(len(alone), int(visible.sum())))
    for distance in rows.distance[rows.visible].unique().tolist():
        cells = (rows.distance == distance) & rows.visible
        assert float(alone[0][cells].sum()) == pytest.approx(float(rows.weights[0][cells].sum()), rel=0.02, abs=0.02)


def test_a_head_that_looks_one_back_on_random_tokens() -> None:
    """Scores of exactly 1 beside even attention: previous token is its only role there."""
    scores = torch.ones(BATCH, 1, 1)
    of = RoleScores(scores, torch.full_like(scores, 0.04), torch.ones(BATCH, dtype=torch.int64))
    assert of.heads == [(0, 0)]
    assert float(of.interval[0]) == pytest.approx(0.96, abs=1e-4)
    near = RoleScores(scores * 0.13, scores * 0.04, of.pairs)
    assert not near.heads, "sure, but too little"


def test_an_encoder_decoder_is_refused() -> None:
    """Its heads read two texts."""
    with pytest.raises(ValueError, match="expected an encoder or a decoder"):
        role_scores(small(architecture="encoder-decoder"), READ)


def test_silence_is_a_projection_without_columns() -> None:
    """Heads that are silent add nothing: the same as zero columns in the output projection."""
    model, twin = small(), small()
    tokens, width = torch.tensor([READ.sentences[0].ids]), SMALL.d_model // SMALL.num_heads
    with torch.no_grad():
        twin.get_parameter("stack.layers.1.self_attention.output_projection.weight")[:, :width] = 0
        with recording((), edits=without([(1, 0)])):
            silent = model(tokens)
        torch.testing.assert_close(silent, twin(tokens))


def test_the_kept_roles_of_lab_gpt_are_current() -> None:
    """What comes with the package is what is measured, and the silence of each role has its draws."""
    kept = kept_roles(FOLDER)
    measured = role_scores(Transformer(LAB_GPT).eval(), read_sentences(lab_prompt, first_id=2))
    assert measured.keys() == kept.measured.keys()
    for role, of in measured.items():
        torch.testing.assert_close(of.score, kept.measured[role].score, atol=2e-3, rtol=0)
        torch.testing.assert_close(of.baseline, kept.measured[role].baseline, atol=2e-3, rtol=0)
    assert {role for role, of in measured.items() if of.heads} == set(kept.silenced)
    assert all(result.heads == tuple(kept.measured[role].heads) for role, result in kept.silenced.items())


def test_what_is_kept_comes_back(tmp_path: Path) -> None:
    """Files of scores; a folder without them is refused."""
    model = small()
    keep_roles(tmp_path, model, READ)
    kept, measured = kept_roles(tmp_path), role_scores(model, READ)
    assert not kept.silenced
    assert not list(silenced(model, READ, measured))
    for role, of in measured.items():
        torch.testing.assert_close(of.scores, kept.measured[role].scores)
    with pytest.raises(ValueError, match="expected what heads do"):
        kept_roles(tmp_path / "none")
