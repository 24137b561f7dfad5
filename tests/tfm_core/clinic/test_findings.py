"""What the mask doctor finds is what happens in torch, and its fixes, run, yield what they promise."""

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from torch import Tensor, nn

from tfm_core.clinic.finding import SEVERITIES, Finding
from tfm_core.clinic.findings import findings, verdict
from tfm_core.clinic.mask_code import read_code
from tfm_core.clinic.reading import Meaning, Reading

N = 6
TRIL = torch.ones(N, N).tril().bool()
INF = math.inf


def reading(mask: Tensor, meaning: Meaning, *, more: tuple[Finding, ...] = ()) -> Reading:
    """The reading of a mask, as the reader would hand it over."""
    values = mask.double().numpy()
    hidden = {"attend": values == 0, "ignore": values != 0, "added": np.exp(values.clip(max=0)) == 0}
    if meaning == "added" and mask.dtype == torch.float32:
        hidden["added"] = values < -104
    kind = "booleans" if mask.dtype == torch.bool else "numbers" if mask.is_floating_point() else "whole numbers"
    precision = str(mask.dtype).removeprefix("torch.") if mask.is_floating_point() else "float64"
    visible = (~hidden[meaning],) if meaning in hidden else ()
    return Reading(meaning, (meaning,), (values,), visible, kind=kind, precision=precision, findings=more)


def told(mask: Tensor, meaning: Meaning) -> dict[str, Finding]:
    """The findings by topic."""
    return {finding.topic: finding for finding in findings(reading(mask, meaning))}


def in_all_meanings(visible: Tensor) -> list[tuple[Tensor, Meaning]]:
    """A mask as booleans of both kinds, as floats that are added, and as floats that stand for booleans."""
    added = torch.zeros(visible.shape).masked_fill(~visible, -INF)
    return [(visible, "attend"), (~visible, "ignore"), (added, "added"), (visible.float(), "attend")]


def scores(rows: int, columns: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(1, 1, rows, 8, generator=generator), torch.randn(1, 1, columns, 8, generator=generator)


def weights(mask: Tensor) -> Tensor:
    """What torch's function makes of a mask: the weights, (query, key)."""
    rows, columns = mask.shape
    query, key = scores(rows, columns)
    return F.scaled_dot_product_attention(query, key, torch.eye(columns)[None, None], attn_mask=mask)[0, 0]


def written(mask: Tensor, meaning: Meaning) -> Tensor:
    """The weights of a softmax written by hand, (query, key)."""
    query, key = scores(*mask.shape)
    products = (query @ key.mT)[0, 0] / math.sqrt(8)
    if meaning == "added":
        return (products + mask).softmax(-1)
    hidden = ~mask.bool() if meaning == "attend" else mask.bool()
    return products.masked_fill(hidden, -INF).softmax(-1)


@cache
def bert() -> nn.Module:
    """A model of Hugging Face of one small layer."""
    import transformers  # here, as it takes seconds

    config = transformers.BertConfig(
        vocab_size=16, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8,
        attn_implementation="sdpa",
    )  # fmt: skip
    torch.manual_seed(0)
    return transformers.BertModel(config, add_pooling_layer=False).eval()


def run_fix(finding: Finding, call: str, mask: Tensor) -> dict[str, Any]:
    """The names after a fix has run: `mask` is mended, `out` is what the call gives."""
    rows, columns = mask.shape
    torch.manual_seed(0)
    sentence_rows = "key_padding_mask" in finding.fixes.get("nn.MultiheadAttention", "")
    if columns == 1 < rows:  # the rows become the keys of a sentence
        rows, columns = 1, rows
    batch, queries = (rows, columns) if sentence_rows else (2, rows)
    x, y = torch.randn(batch, queries, 8), torch.randn(batch, columns, 8)
    query, key = (torch.zeros(batch, 1, each.shape[1], 8) for each in (x, y))
    names = {
        **{"torch": torch, "F": F, "mask": mask, "x": x, "y": y, "q": query, "k": key},
        "v": torch.eye(columns).expand(batch, 1, columns, columns),
        "attention": nn.MultiheadAttention(8, 2, batch_first=True).eval(),
        "input_ids": torch.ones(batch, columns, dtype=torch.int64),
    }
    if call == "Hugging Face":
        names["model"] = bert()
    assert len(finding.fixes[call].splitlines()) == 2
    with torch.no_grad():
        exec(finding.fixes[call], names)
    return names


def check_fixes(finding: Finding, mask: Tensor, visible: Tensor, calls: int = 3) -> None:
    """Each fix runs without a NaN, and torch's function then shows what should be visible."""
    assert len(finding.fixes) >= calls, finding
    for call in finding.fixes:
        names = run_fix(finding, call, mask)
        made = names["out"]
        if call == "torch":
            shown = made[:, 0] > 0
            assert torch.equal(shown, (visible[:, None] if len(made) != 2 else visible).expand_as(shown))
        elif call == "nn.MultiheadAttention":
            assert not made.isnan().any(), finding.title
            shown = names["weights"] > 0
            assert torch.equal(shown, (visible[:, None] if len(made) != 2 else visible).expand_as(shown))
        else:
            handed = visible[:, None, None] if len(names["input_ids"]) != 2 else visible[None, None]
            with torch.no_grad():
                expected = bert()(names["input_ids"], attention_mask=handed)
            assert torch.allclose(made.last_hidden_state, expected.last_hidden_state, atol=1e-5)


@pytest.mark.parametrize("visible", [torch.ones(N, N).tril(-1).bool(), torch.ones(N, N).tril(-2).bool()])
def test_a_hidden_diagonal(visible):
    for mask, meaning in in_all_meanings(visible):
        topics = told(mask, meaning)
        assert topics["diagonal hidden"].severity == "error"
        assert topics["diagonal hidden"].cell == (0, 0)
        assert "Row 1" in topics["diagonal hidden"].consequence
        check_fixes(topics["diagonal hidden"], mask, TRIL)
        assert written(mask, meaning)[0].isnan().all()


@pytest.mark.parametrize("ahead", [1, 2])
def test_a_diagonal_that_shows_the_next_token(ahead):
    for mask, meaning in in_all_meanings(torch.ones(N, N).tril(ahead).bool()):
        finding = told(mask, meaning)["one ahead"]
        assert finding.severity == "error"
        assert finding.cell == (0, ahead)
        assert written(mask, meaning)[finding.cell] > 0
        check_fixes(finding, mask, TRIL)


@pytest.mark.parametrize("diagonal", [0, 1])
def test_an_inverted_causal_mask(diagonal):
    visible = torch.ones(N, N).triu(diagonal).bool()
    for mask, meaning in in_all_meanings(visible):
        finding = told(mask, meaning)["looks only ahead"]
        assert finding.severity == "error"
        assert ("not itself" in finding.title) == bool(diagonal)
        assert not written(mask, meaning).nan_to_num().tril(-1).any()
        check_fixes(finding, mask, TRIL)


@pytest.mark.parametrize("rows", [[4, 5], [0], [2]])
def test_rows_without_a_key(rows):
    visible = torch.rand(N, N, generator=torch.Generator().manual_seed(1)) < 0.5
    visible |= torch.eye(N).bool()
    visible[rows] = False
    for mask, meaning in in_all_meanings(visible):
        finding = told(mask, meaning)["row without a key"]
        assert finding.severity == "error"
        assert finding.title == f"Row{'s' * (len(rows) > 1)} {' and '.join(str(row + 1) for row in rows)} " + (
            "have no key." if len(rows) > 1 else "has no key."
        )
        assert finding.where == f"row {rows[0] + 1}"
        assert written(mask, meaning).isnan().all(-1).nonzero().flatten().tolist() == rows
        opened = visible.clone()
        opened[rows] = True
        check_fixes(finding, mask, opened)


def test_what_a_row_without_a_key_becomes_by_call_and_in_the_next_layer():
    visible = torch.ones(N, N).bool()
    visible[4:] = False
    words = told(visible, "attend")["row without a key"].consequence
    assert "nn.MultiheadAttention with its weights; F.scaled_dot_product_attention gives zeros" in words
    x = torch.randn(1, N, 8)
    attention = nn.MultiheadAttention(8, 2, batch_first=True)
    first, _ = attention(x, x, x, attn_mask=~visible, need_weights=True)
    assert first.isnan().any(-1)[0].tolist() == [False] * 4 + [True] * 2
    second, _ = attention(first, first, first, attn_mask=~visible, need_weights=True)
    assert second.isnan().all()
    assert not weights(visible)[4:].any()


@pytest.mark.parametrize(("number", "uniform"), [(-1e9, True), (-1e4, False)])
def test_finite_numbers_in_a_row_without_a_key_hide_nothing(number, uniform):
    visible = TRIL.clone()
    visible[3] = False
    mask = torch.zeros(N, N).masked_fill(~visible, number)
    finding = told(mask, "added")["row without a key"]
    made = weights(mask)[3]
    assert ("each key gets the same weight" in finding.consequence) is uniform
    assert torch.allclose(made, torch.full((N,), 1 / N)) is uniform
    assert torch.allclose(made, weights(torch.zeros(N, N))[3], atol=1e-3) is not uniform
    assert told(mask, "added")["finite stand-in"].severity == "note"
    opened = visible.clone()
    opened[3] = True
    check_fixes(finding, mask, opened)


@pytest.mark.parametrize(
    ("dtype", "number", "uniform"),
    [
        (torch.float16, -1e4, True),
        (torch.bfloat16, -1e4, True),
        (torch.float32, -1e4, False),
        (torch.float64, -1e9, False),
        (torch.float64, -1e30, True),
    ],
)
def test_what_a_finite_number_does_depends_on_the_precision(dtype, number, uniform):
    mask = torch.full((1, 3, 4), number, dtype=dtype)[0]
    products = torch.tensor([0.0, 0.25, 0.5, -0.5], dtype=dtype)
    assert ((products + mask).softmax(-1)[0] == 0.25).all() == uniform
    assert ("each key gets the same weight" in told(mask, "added")["row without a key"].consequence) is uniform


def test_the_largest_of_several_numbers_takes_the_weight_of_an_empty_row():
    mask = torch.zeros(N, N).masked_fill(~TRIL, -1e9)
    mask[2] = torch.tensor([-1e9, -1e4, -1e9, -INF, -1e9, -1e9])
    words = told(mask, "added")["row without a key"].consequence
    assert "−10,000, takes the weight" in words
    assert weights(mask)[2].argmax() == 1
    assert weights(mask)[2, 1] == 1
    assert told(mask, "added")["several stand-ins"].severity == "note"


def test_floats_0_and_1_hide_nothing():
    finding = told(TRIL.float(), "attend")["floats added"]
    assert finding.severity == "warning"
    assert told(TRIL.float(), "added")["floats added"].severity == "error"
    assert (weights(TRIL.float()) > 0).all()
    query = torch.zeros(1, 1, N, 8)
    equal = F.scaled_dot_product_attention(query, query, torch.eye(N)[None, None], attn_mask=TRIL.float())[0, 0]
    assert float(equal[2, 0] / equal[2, 5]) == pytest.approx(math.e)
    check_fixes(finding, TRIL.float(), TRIL)
    check_fixes(told(TRIL.float(), "added")["floats added"], TRIL.float(), TRIL)
    upper = (~TRIL).float()
    check_fixes(told(upper, "ignore")["floats added"], upper, TRIL)
    check_fixes(told(upper, "added")["floats added"], upper, TRIL)
    for mask in (TRIL, ~TRIL):
        assert "floats added" not in told(mask, "attend")


def test_whole_numbers_are_refused_by_torch():
    finding = told(TRIL.long(), "attend")["whole numbers handed"]
    with pytest.raises(RuntimeError):
        weights(TRIL.long())
    x = torch.randn(1, N, 8)
    with pytest.raises(AssertionError):
        nn.MultiheadAttention(8, 2, batch_first=True)(x, x, x, attn_mask=TRIL.long())
    check_fixes(finding, TRIL.long(), TRIL)


def test_masks_of_everything_and_of_nothing():
    assert told(torch.ones(N, N).bool(), "attend").keys() == {"hides nothing"}
    nothing = told(torch.zeros(N, N).bool(), "attend")
    assert nothing.keys() == {"hides everything", "row without a key"}
    assert written(torch.zeros(N, N).bool(), "attend").isnan().all()
    check_fixes(nothing["hides everything"], torch.zeros(N, N).bool(), torch.ones(N, N).bool())
    assert "1, 2, 3, 4 and 2 more" in nothing["row without a key"].title


def test_looking_ahead_in_an_otherwise_causal_mask():
    visible = TRIL.clone()
    visible[2, 4] = visible[0, 3] = True
    for mask, meaning in in_all_meanings(visible):
        finding = told(mask, meaning)["looks ahead"]
        assert finding.where == "row 1, column 4"
        assert "row 3, column 5" in finding.title
        assert written(mask, meaning)[2, 4] > 0
        check_fixes(finding, mask, TRIL)


def test_a_prefix_and_symmetric_masks_do_not_look_ahead():
    prefix = TRIL.clone()
    prefix[:3, :3] = True
    assert told(prefix, "attend").keys() == {"prefix"}
    places = torch.arange(20)
    near = (places[:, None] - places).abs() <= 1
    assert not told(near, "attend")


def test_causal_from_the_upper_left_corner():
    visible = torch.ones(3, 5).tril().bool()
    assert told(visible, "attend")["upper left"].severity == "warning"
    query, key = torch.zeros(1, 1, 3, 4), torch.zeros(1, 1, 5, 4)
    ours = F.scaled_dot_product_attention(query, key, torch.eye(5)[None, None], is_causal=True)[0, 0] > 0
    assert torch.equal(ours, visible)
    cache_mask = torch.ones(3, 5).tril(2).bool()
    assert told(cache_mask, "attend").keys() == {"cache"}


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("real", [4, 5])
def test_padding_on_the_query_axis(causal, real):
    keys = torch.arange(N) < real
    allowed = TRIL if causal else torch.ones(N, N).bool()
    for mask, meaning in in_all_meanings(keys[:, None] & allowed):
        topics = told(mask, meaning)
        assert {"padding on queries", "row without a key"} <= topics.keys()
        assert written(mask, meaning).isnan().all(-1).tolist() == (~keys).tolist()
        check_fixes(topics["padding on queries"], mask, keys & allowed)
    assert not told(keys & allowed, "attend")


def test_a_single_column_hides_queries():
    visible = (torch.arange(N) < 4)[:, None]
    for mask, meaning in in_all_meanings(visible):
        topics = told(mask, meaning)
        assert topics.keys() >= {"padding on queries", "row without a key"}
        assert run_fix(topics["padding on queries"], "torch", mask)["mask"].shape == (1, N)
        assert not topics["row without a key"].fixes


def test_padding_as_a_row_per_sentence():
    visible = torch.tensor([[1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 0]]).bool()
    topics = told(visible, "attend")
    assert topics.keys() == {"row without a key"}
    assert topics["row without a key"].title == "Sentence 3 has no key."
    opened = visible.clone()
    opened[2] = True
    check_fixes(topics["row without a key"], visible, opened)
    check_fixes(told(~visible, "ignore")["row without a key"], ~visible, opened)


def test_a_column_that_is_hidden_from_some_queries_only():
    visible = torch.ones(N, N).bool()
    visible[:4, 5] = False
    finding = told(visible, "attend")["column partly hidden"]
    assert (finding.severity, finding.where) == ("note", "row 1, column 6")
    assert "column partly hidden" not in told(TRIL, "attend")
    window = TRIL & torch.ones(N, N).triu(-2).bool()
    assert not told(window, "attend")


def test_negative_numbers_that_are_almost_0_hide_nothing():
    mask = torch.zeros(N, N).masked_fill(~TRIL, -1e-9)
    finding = told(mask, "added")["tiny negative"]
    assert finding.severity == "error"
    assert torch.allclose(weights(mask), weights(torch.zeros(N, N)))
    check_fixes(finding, mask, TRIL)


def test_numbers_that_hide_almost():
    mask = torch.zeros(N, N).masked_fill(~TRIL, -20.0)
    finding = told(mask, "added")["weak stand-in"]
    assert finding.severity == "warning"
    assert (weights(mask) > 0).all()
    assert "2.061e-9".replace("-", "−") in finding.consequence
    check_fixes(finding, mask, TRIL)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_a_finite_number_hides_exactly_beside_a_visible_key(dtype):
    mask = torch.zeros(N, N, dtype=dtype).masked_fill(~TRIL, -1e4)
    words = told(mask, "added")["finite stand-in"].consequence
    assert f"exactly 0 in {str(dtype).removeprefix('torch.')}" in words
    assert not mask.softmax(-1)[~TRIL].any()


def test_numbers_beyond_float16():
    mask = torch.zeros(N, N).masked_fill(~TRIL, -1e9)
    assert "Below −65,504 float16 ends" in told(mask, "added")["finite stand-in"].consequence
    assert torch.isneginf(mask.half()[~TRIL]).all()
    with pytest.raises(RuntimeError):
        torch.zeros(N, N).half().masked_fill(~TRIL, -1e9)
    check_fixes(told(mask, "added")["finite stand-in"], mask, TRIL)


@pytest.mark.parametrize("number", [INF, math.nan])
def test_infinity_and_nan_make_their_row_nan(number):
    mask = torch.zeros(N, N).masked_fill(~TRIL, -INF)
    mask[3, 1] = number
    finding = told(mask, "added")["NaN or infinity"]
    assert (finding.severity, finding.where, finding.cell) == ("error", "row 4, column 2", (3, 1))
    assert written(mask, "added").isnan().any(-1).nonzero().flatten().tolist() == [3]
    check_fixes(finding, mask, TRIL)


def test_positive_numbers():
    mask = torch.zeros(N, N).masked_fill(~TRIL, 1e9)
    assert told(mask, "added")["sign lost"].severity == "error"
    assert not weights(mask)[:-1][TRIL[:-1]].any()
    check_fixes(told(mask, "added")["sign lost"], mask, TRIL)
    biased = torch.zeros(N, N).masked_fill(~TRIL, -INF)
    biased[2, 1] = 0.5
    assert told(biased, "added")["positive bias"].cell == (2, 1)
    assert weights(biased)[2, 1] > weights(biased.clamp(max=0))[2, 1]


def test_right_masks_have_no_findings():
    for mask, meaning in in_all_meanings(TRIL)[:3]:
        assert not told(mask, meaning)
    keys = (torch.arange(N) < 4).expand(N, N)
    assert not told(keys, "attend")
    alibi = (torch.arange(N) - torch.arange(N)[:, None]).float() * 0.5
    assert not told(alibi.masked_fill(~TRIL, -INF), "added")
    blocks = torch.block_diag(torch.ones(2, 2), torch.ones(4, 4)).bool()
    assert not told(blocks, "attend")
    assert not told(blocks & TRIL, "attend")


def test_token_ids_become_a_mask():
    ids = torch.tensor([[5, 3, 0], [7, 0, 0]])
    finding = told(ids, "token ids")["token ids"]
    check_fixes(finding, torch.cat([ids, ids]), torch.cat([ids, ids]) != 0)
    assert verdict(reading(ids, "token ids")) == "Token ids, 2 × 3: nothing wrong was noticed."


def test_verdicts():
    assert verdict(reading(TRIL, "attend")) == "Causal, 6 × 6, 21 of 36 pairs may attend: nothing wrong was noticed."
    empty = TRIL.clone()
    empty[4:] = False
    assert verdict(reading(empty, "attend")).startswith("Two errors: rows 5 and 6 have no key; padding is on") or (
        verdict(reading(empty, "attend")).startswith("Two errors: padding is on the query axis")
    )
    assert verdict(reading(TRIL.float(), "attend")).startswith("One warning: the mask is of the floats 0 and 1")
    assert verdict(reading(torch.rand(2, 6).softmax(-1), "weights")) == (
        "Weights, 2 × 6: nothing wrong was noticed."
    )  # fmt: skip


NUMBERS = st.sampled_from([0.0, 1.0, -INF, INF, math.nan, -1e9, -1e4, -9999.0, -65504.0, -1e-9, -20.0, 0.5, -0.5, 1e9])


@given(arrays.arrays(np.float32, st.tuples(st.integers(1, 5), st.integers(1, 5)), elements=NUMBERS))
def test_any_numbers_are_looked_at(values):
    mask = torch.from_numpy(values)
    made = findings(reading(mask, "added"))
    wrong = [each for each in made if each.topic == "NaN or infinity"]
    bad = mask.isnan() | (mask == INF)
    assert bool(wrong) == bool(bad.any())
    if wrong:
        assert written(mask, "added")[wrong[0].cell[0]].isnan().all()
    else:
        for finding in made:
            for call in set(finding.fixes) - {"Hugging Face"}:
                run_fix(finding, call, mask)


def test_a_table_that_is_not_there():
    with pytest.raises(ValueError, match=r"^Expected a table from 0 to 0; 3 stands there\.$"):
        findings(reading(TRIL, "attend"), 3)


def test_what_code_and_mask_both_show_is_told_once_with_both_places():
    read = read_code("mask = torch.triu(torch.ones(n, n)).bool()")
    both = findings(reading(torch.from_numpy(read.values), "ignore", more=read.findings))
    (finding,) = [each for each in both if each.topic == "diagonal hidden"]
    assert (finding.where, finding.cell) == ("line 1, column 8", (0, 0))
    assert finding.fixes["torch"].startswith("mask = torch.triu(torch.ones(n, n), diagonal=1).bool()")


MASKS = arrays.arrays(np.bool_, st.tuples(st.integers(1, 7), st.integers(1, 7)))


@given(MASKS, st.sampled_from(["attend", "ignore", "added"]), st.booleans())
def test_any_mask_is_looked_at_and_its_fixes_run(values, meaning, floats):
    mask = torch.from_numpy(values)
    if meaning == "added":
        mask = torch.zeros(mask.shape).masked_fill(mask, -INF)
    elif floats:
        mask = mask.float()
    read = reading(mask, meaning)
    made = findings(read)
    assert [SEVERITIES.index(each.severity) for each in made] == sorted(SEVERITIES.index(x.severity) for x in made)
    assert verdict(read).endswith(".")
    empty = ~read.visible[0].any(1)
    topics = {each.topic: each for each in made}
    assert ("row without a key" in topics) == empty.any()
    assert torch.equal(written(mask, meaning).isnan().all(-1), torch.from_numpy(empty))
    for finding in made:
        assert finding.title[0].isupper()
        assert finding.consequence[0].isupper()
        assert finding.title.endswith(".")
        assert finding.consequence.endswith(".")
        for call in set(finding.fixes) - {"Hugging Face"}:  # its model takes long
            mended = run_fix(finding, call, mask)["mask"]
            assert mended.shape == mask.shape or "mT" in finding.fixes[call]
