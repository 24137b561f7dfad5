"""The catalogue of mistakes: each is found from its result alone, not confused, and a right result is called right."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tfm_core.study.diagnosis import ASKED, derivation, diagnose
from tfm_core.study.exercise import BATCH, MASKS, NORM_EPS, PAD_ID, POSITIONALS, Exercise, given
from tfm_core.study.mistakes import MISTAKES, mistakes_of
from tfm_core.study.mistakes_masks import FILLS
from tfm_core.study.pieces import Pieces
from tfm_core.study.steps import STEPS, Steps, pieces_of

# Together they have what every mistake needs.
EXERCISES = (
    Exercise(),
    Exercise(positional="RoPE", num_heads=4, cached=2, seq=8),
    Exercise(positional="ALiBi", norm="post", cached=2, num_heads=3, d_model=24, activation="relu"),
    Exercise(positional="ALiBi", num_heads=4, d_model=24),
)
WITH = [(name, exercise) for exercise in EXERCISES for name in mistakes_of(exercise)]
ID = "{0[0]}, {0[1].positional}, {0[1].num_heads} heads"


def wrong(exercise: Exercise, name: str, step: str, fill: Pieces | None = None) -> Tensor:
    """A step's result with a mistake, as float32 code gives it."""
    result: Tensor = Steps(exercise).value(step, {**(fill or {}), **MISTAKES[name].wrong})
    return result.float()


def same(left: Tensor, right: Tensor) -> bool:
    """The same shape and numbers, NaN where NaN is."""
    return left.shape == right.shape and torch.equal(left.nan_to_num(math.pi), right.nan_to_num(math.pi))


def first_step(exercise: Exercise, name: str) -> str:
    """The first step that a mistake changes."""
    steps = Steps(exercise)
    return next(step for step in ASKED if not same(steps.value(step).float(), wrong(exercise, name, step)))


def test_the_catalogue_is_large_and_each_mistake_can_be_made_somewhere():
    assert len(MISTAKES) >= 40
    assert {name for name, _ in WITH} == set(MISTAKES)


@pytest.mark.crossed(
    shape=((8, 1), (8, 2), (8, 4), (8, 8), (12, 3)),  # with heads so narrow that some mistakes are none
    length=((2, 0), (3, 1), (3, 2), (4, 0), (6, 2), (6, 5)),
    positional=POSITIONALS,
    mask=MASKS,
    norm=("pre", "post"),
    activation=("gelu", "relu"),
)
def test_a_mistake_that_can_be_made_makes_a_difference(shape, length, positional, mask, norm, activation):
    width, heads = shape
    if positional == "RoPE" and heads == width:
        heads //= 2  # a head's width is even then
    size = {"d_model": width, "num_heads": heads, "seq": length[0], "cached": length[1]}
    exercise = Exercise(**size, positional=positional, mask=mask, norm=norm, activation=activation)
    steps = Steps(exercise)
    right = {step: steps.value(step) for step in ASKED}
    for name, mistake in mistakes_of(exercise).items():
        assert any(not same(right[step], steps.value(step, mistake.wrong)) for step in ASKED), name


@pytest.mark.parametrize("name", MISTAKES)
def test_each_mistake_says_what_it_is(name):
    mistake = MISTAKES[name]
    assert set(mistake.wrong) <= set(Steps(Exercise()).right)
    for sentence in (mistake.symptom, mistake.cure):
        assert sentence.endswith("."), sentence
    assert mistake.right_is != mistake.wrong_is
    assert mistake.source
    assert mistake.about


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("case", WITH, ids=[ID.format(case) for case in WITH])
def test_each_mistake_is_found_from_its_result_alone(case, seed):
    name, exercise = case
    exercise = Exercise(**{**vars(exercise), "seed": seed})
    step = first_step(exercise, name)
    result = wrong(exercise, name, step)
    explanations = diagnose(exercise, {step: result}, pairs=False).explanations
    names = [each.names[0] for each in explanations]
    assert name in names
    largest = max(1.0, float(result.nan_to_num(0, 0, 0).abs().max()))
    for each in explanations:  # others only where they are equal on this input
        if each.names != (name,) and not each.evidence:
            theirs = Steps(exercise).value(step, each.exchanged).float().reshape(result.shape)
            assert float((theirs - result).abs().nan_to_num(0.0).max()) <= 2e-5 * largest


@pytest.mark.parametrize("step", ["output", "layer output", "logits", "loss"])
def test_mistakes_are_found_far_from_where_they_are_made(step):
    exercise, lost, hit = Exercise(seed=3), [], 0
    for name in mistakes_of(exercise):
        if MISTAKES[name].recognise:
            continue
        diagnosis = diagnose(exercise, {step: wrong(exercise, name, step)}, pairs=False)
        names = [each.names[0] for each in diagnosis.explanations]
        hit += name in names
        if not diagnosis.ok and name not in names:  # where it changes nothing, it is right
            lost.append(name)
    assert not lost
    assert hit > 30


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_right_results_are_called_right(seed, dtype):
    for exercise in EXERCISES:
        exercise = Exercise(**{**vars(exercise), "seed": seed})
        steps = Steps(exercise)
        results = {step: steps.value(step) for step in ASKED}
        handed = {step: result.to(dtype) if result.is_floating_point() else result for step, result in results.items()}
        assert diagnose(exercise, handed).ok, [each for each in diagnose(exercise, handed).compared if not each.ok]


@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("name", ["diagonal hidden", "mask inverted", "padding on the query axis"])
def test_rows_without_a_key_are_recognized_however_they_are_filled(name, fill):
    exercise = Exercise()
    for step in ("weights", "output"):
        explanations = diagnose(exercise, {step: wrong(exercise, name, step, FILLS[fill])}).explanations
        assert (name, fill) in [(each.names[0], each.fill) for each in explanations]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("no scale", "mask inverted"),
        ("embedding not scaled", "W_O missing"),
        ("heads split without transpose", "bias forgotten"),
        ("unbiased variance", "GELU by tanh"),
        ("positions from 1", "softmax over the heads"),
    ],
)
def test_two_mistakes_at_once_are_found(first, second):
    exercise = Exercise(seed=5)
    exchanged = {**MISTAKES[first].wrong, **MISTAKES[second].wrong}
    step = "layer output" if "GELU by tanh" in (first, second) else "output"
    result = Steps(exercise).value(step, {**FILLS["−1e9"], **exchanged}).float()
    diagnosis = diagnose(exercise, {step: result})
    assert {first, second} in [set(each.names) for each in diagnosis.explanations]


def test_what_no_mistake_gives_is_told_with_its_place():
    exercise = Exercise()
    result = Steps(exercise).value("scores").clone()
    result[1, 0, 3, 2] += 0.5
    diagnosis = diagnose(exercise, {"scores": result})
    (compared,) = diagnosis.compared
    assert not diagnosis.ok
    assert not diagnosis.explanations
    assert diagnosis.step == "scores"
    assert compared.first == (1, 0, 3, 2)
    assert compared.got - compared.expected == pytest.approx(0.5)


def test_a_result_of_another_shape_is_told_with_both_shapes():
    diagnosis = diagnose(Exercise(), {"output": torch.zeros(3, 3)}, pairs=False)
    assert diagnosis.compared[0].shapes == ((BATCH, 6, 16), (3, 3))
    assert math.isnan(diagnosis.compared[0].difference)


def test_the_first_sentence_alone_may_be_handed_in():
    exercise = Exercise()
    assert diagnose(exercise, {"output": Steps(exercise).value("output")[0]}).ok
    result = wrong(exercise, "no scale", "weights")[0]
    assert "no scale" in [each.names[0] for each in diagnose(exercise, {"weights": result}).explanations]


def test_several_results_are_explained_together():
    exercise = Exercise()
    results = {step: wrong(exercise, "values from the keys", step) for step in ("weights", "output")}
    diagnosis = diagnose(exercise, results)
    assert diagnosis.step == "output"
    assert [each.ok for each in diagnosis.compared] == [True, False]
    assert diagnosis.explanations[0].names == ("values from the keys",)


def test_minus_1e9_in_handed_masked_scores_is_minus_infinity():
    exercise = Exercise()
    masked = Steps(exercise).value("masked scores")
    assert diagnose(exercise, {"masked scores": masked.masked_fill(masked == -math.inf, -1e9).float()}).ok


@pytest.mark.parametrize(("results", "part"), [({}, "none"), ({"weight": torch.zeros(1)}, "weight")])
def test_unknown_names_are_refused(results, part):
    with pytest.raises(ValueError, match=f"got {part}"):
        diagnose(Exercise(), results)


@pytest.mark.parametrize(
    "bad",
    [{"d_model": 15}, {"positional": "RoPE", "num_heads": 16}, {"cached": 6}, {"mask": "all"}, {"seq": 0}, {"seq": 99}],
)
def test_impossible_exercises_are_refused(bad):
    with pytest.raises(ValueError, match="Exercise: expected"):
        Exercise(**bad)


def test_the_derivation_parts_where_the_mistake_is():
    exercise = Exercise()
    lines = derivation(Steps(exercise), "weights", (1, 1, 4, 2), MISTAKES["no scale"].wrong)
    assert [line.step for line in lines if line.differs] == ["scores", "masked scores", "weights"]
    right, unscaled = (float(next(line for line in lines if line.step == "scores").__dict__[side].replace("−", "-"))
                       for side in ("right", "wrong"))  # fmt: skip
    assert unscaled == pytest.approx(right * math.sqrt(exercise.head_dim), abs=1e-4)


@pytest.mark.parametrize("cached", [0, 2])
def test_a_derivation_looks_at_the_same_token_before_and_after_the_cache(cached):
    exercise = Exercise(cached=cached, seq=8, mask="causal")
    steps = Steps(exercise)
    lines = {
        line.step: line for line in derivation(steps, "scores", (0, 0, 1, 3), MISTAKES["weights transposed"].wrong)
    }
    query = steps.value("query")[0, 1 + cached, :4]
    key = steps.value("key")[0, 3, :4]
    for name, numbers in (("query", query), ("key", key)):
        written = lines[name].right.split(", …")[0].replace("−", "-").split(", ")
        assert [float(number) for number in written] == pytest.approx(numbers.tolist(), abs=1e-5)


# the right steps, beside torch's own


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("activation", ["gelu", "relu"])
@pytest.mark.parametrize("mask", MASKS)
def test_the_layer_is_torchs(norm, activation, mask):
    exercise = Exercise(norm=norm, activation=activation, mask=mask)
    steps, tensors = Steps(exercise), given(exercise)
    layer = nn.TransformerEncoderLayer(
        16, 2, 64, 0.0, activation, NORM_EPS, batch_first=True, norm_first=norm == "pre", dtype=torch.float64
    ).eval()
    names = {"self_attn.out_proj.weight": tensors["W_O"], "self_attn.out_proj.bias": tensors["b_O"]}
    for part, letter in (("weight", "W"), ("bias", "b")):
        names[f"self_attn.in_proj_{part}"] = torch.cat([tensors[f"{letter}_{name}"] for name in "QKV"])
        names |= {f"linear{number}.{part}": tensors[f"{letter}_{number}"] for number in (1, 2)}
    for part, kind in (("weight", "gain"), ("bias", "shift")):
        names |= {f"norm{number}.{part}": tensors[f"{kind}_{number}"] for number in (1, 2)}
    layer.load_state_dict(names)
    ignored = ~steps.value("mask")[:, 0].repeat_interleave(2, 0)
    with torch.enable_grad():  # torch's fast path is for inference
        output = layer(steps.value("x"), src_mask=ignored)
    torch.testing.assert_close(output, steps.value("layer output"), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("positional", POSITIONALS)
@pytest.mark.parametrize("cached", [0, 3])
def test_weights_and_heads_are_those_of_torchs_function(positional, cached):
    exercise = Exercise(positional=positional, cached=cached, seq=8)
    steps = Steps(exercise)
    query, key, value = (steps.value(f"{name} of each head") for name in ("query", "key", "value"))
    bias = steps.value("scores") - query @ key.mT / math.sqrt(exercise.head_dim)
    bias = bias.masked_fill(~steps.value("mask"), -math.inf)
    heads = F.scaled_dot_product_attention(query, key, value, attn_mask=bias)
    torch.testing.assert_close(heads, steps.value("head outputs"), rtol=1e-9, atol=1e-9)


def test_the_loss_is_the_mean_over_next_tokens_without_padding():
    steps = Steps(Exercise())
    logits, ids = steps.value("logits"), steps.value("ids")
    asked = [
        -logits[sentence, place].log_softmax(-1)[ids[sentence, place + 1]]
        for sentence in range(BATCH)
        for place in range(5)
        if ids[sentence, place + 1] != PAD_ID
    ]
    assert float(steps.value("loss")) == pytest.approx(float(torch.stack(asked).mean()))


def test_the_last_queries_with_a_cache_are_those_of_the_whole_text():
    whole, later = (Steps(Exercise(cached=cached, seq=8, positional="RoPE", mask="causal")) for cached in (0, 3))
    for step in ("weights", "output", "layer output", "logits"):
        full = whole.value(step)
        part = full[:, :, 3:] if step == "weights" else full[:, 3:]
        torch.testing.assert_close(later.value(step), part, rtol=1e-9, atol=1e-9)


def test_each_step_knows_the_pieces_that_it_depends_on():
    steps = Steps(Exercise())
    for step in STEPS:
        if step == "in heads":
            continue
        for name, mistake in mistakes_of(steps.exercise).items():
            if not pieces_of(step) & set(mistake.wrong):
                assert steps.value(step, mistake.wrong) is steps.value(step), (step, name)


def test_what_is_kept_can_be_dropped():
    steps = Steps(Exercise())
    exchanged = MISTAKES["no scale"].wrong
    before = steps.value("output", exchanged)
    right = steps.value("output")
    steps.forget(exchanged)
    assert steps.value("output", exchanged) is not before
    assert steps.value("output") is right
    torch.testing.assert_close(steps.value("output", exchanged), before)
