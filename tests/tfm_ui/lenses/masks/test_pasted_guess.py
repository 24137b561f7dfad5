"""What a table from elsewhere is taken for, and what is said of it."""

import numpy as np
import pytest
import torch
from hypothesis import assume, given

from tests.tfm_ui.lenses.masks.test_pasted import CAUSAL, MASKS, minus_inf, npy
from tfm_core import causal_mask, document_mask, window_mask
from tfm_ui.lenses.masks.conventions.pasted_file import read_file
from tfm_ui.lenses.masks.conventions.pasted_guess import ADDED, ATTEND, IGNORE, facts, guess, mask_of, odd_values

LOWER, UPPER = CAUSAL.numpy(), np.triu(np.ones((4, 4), bool), 1)


@pytest.mark.parametrize(
    ("values", "way", "why"),
    [
        (LOWER, ATTEND, "the diagonal and below"),
        (LOWER.astype(int), ATTEND, "1 stands only on the diagonal and below"),
        (UPPER, IGNORE, "above the diagonal"),
        (UPPER.astype(float), IGNORE, "nn.MultiheadAttention"),
        (np.tril(np.ones((4, 4), bool), -1), ATTEND, "below the diagonal"),
        (window_mask(5, window=2).numpy(), ATTEND, "the diagonal is True throughout"),
        (~window_mask(5, window=2).numpy(), IGNORE, "the diagonal is False throughout"),
        (document_mask(5, lengths=[2]).numpy(), ATTEND, "the diagonal is True"),
        (np.ones((3, 3), bool), ATTEND, "all is True"),
        (np.zeros((3, 3), bool), IGNORE, "all is False"),
        (np.zeros((3, 3)), ADDED, "all is 0"),
        (np.array([[1, 1, 0, 0]]), ATTEND, "padding at the end is hidden"),
        (np.array([[True, True, False], [True, False, False]]), ATTEND, "padding at the end"),
        (np.array([[False, False, True], [False, True, True]]), IGNORE, "key_padding_mask"),
        (np.array([[0, 0, 1], [0, 1, 1]]), ATTEND, "padding at the beginning"),
        (np.array([[1, 1, 1, 1], [1, 1, 0, 0]]), ATTEND, "in no row does 1 stand after a 0"),
        (np.array([[False] * 4, [False, False, True, True]]), IGNORE, "where True stands, it stands last"),
        (np.tri(3, 6, 3, dtype=bool), ATTEND, "a causal mask, with keys of the past"),
        (~np.tri(3, 6, 3, dtype=bool), IGNORE, "a causal mask, with keys of the past"),
        (np.array([[0, 0, 0], [1, 1, 0], [1, 1, 1]]), ATTEND, "1 stands only on or below the diagonal"),
        (np.array([[0, 0.5], [0, 0]]), ADDED, "other numbers than 0 and 1"),
        (np.array([[0, -1e9], [0, 0]]), ADDED, "such as −1e+09"),
        (np.array([[0, 1, 0], [1, 1, 1], [0, 1, 1]]), ATTEND, "1 query would see nothing"),
        (np.array([[1, 0, 1], [0, 0, 0], [1, 0, 0]]), IGNORE, "1 query would see nothing"),
        (np.array([[0, 1], [1, 1]]), ATTEND, "1 query would see nothing"),
        (np.array([[0, 1, 0], [1, 1, 0], [1, 0, 0]]), ATTEND, "nothing in it tells"),
        (np.array([[1, 0, 1], [0, 1, 1]]), ATTEND, "nothing in it tells"),
    ],
)  # fmt: skip
def test_conventions_are_guessed_with_the_reason(values, way, why):
    table = read_file(npy(values))
    assert guess(table)[0] == way
    assert why in guess(table)[1]


@given(MASKS)
def test_facts_against_naive_loops(mask):
    rows, columns = mask.shape
    about = facts(mask)
    assert about.causal == all(not mask[i, j] for i in range(rows) for j in range(columns) if j > i + columns - rows)
    if rows == columns:
        bounds = [0, *np.cumsum(about.blocks)]
        assert bounds[-1] == rows
        block = [next(k for k, end in enumerate(bounds[1:]) if i < end) for i in range(rows)]
        assert all(block[i] == block[j] for i in range(rows) for j in range(rows) if mask[i, j])
        for cut in range(1, rows):  # no finer parts
            apart = not mask[:cut, cut:].any() and not mask[cut:, :cut].any()
            assert apart == (cut in bounds)


@pytest.mark.parametrize(
    ("mask", "said"),
    [
        (causal_mask(4), "Causal: nobody looks ahead."),
        (causal_mask(4, diagonal=1), "Not causal: 3 pairs look ahead."),
        (causal_mask(2, diagonal=1), "Not causal: 1 pair looks ahead."),
        (causal_mask(4, diagonal=-1), "Strictly lower triangular: nobody sees itself, or what comes later. Row 1"),
        (~torch.eye(3).bool(), "The diagonal is hidden: nobody sees itself."),
        (document_mask(5, lengths=[2, 3]), "Block-diagonal: 2 blocks of 2, 3 tokens"),
        (document_mask(5, lengths=[2, 3]) & causal_mask(5), "Block-diagonal: 2 blocks of 2, 3 tokens"),
        (torch.eye(3).bool(), "Diagonal: everybody sees at most itself."),
        (torch.tensor([[True, False]]), "Taken as padding: a row of keys for all queries."),
        (torch.tensor([[True, True, False], [True, False, False]]), "Taken as padding: a row of keys per sentence."),
        (causal_mask(2, 5), "No query looks ahead."),
        (torch.tensor([[True, False], [True, True], [False, True]]), "Some queries look ahead."),
        (torch.tensor([True, True, False]).expand(3, 3), "All rows are alike"),
        (torch.zeros(3, 3).bool(), "0 of 9 pairs kept (0%). No row has any key: it hides everything."),
        (torch.zeros(9, 9).bool() | (torch.arange(9) < 3)[:, None], "Rows 4, 5, 6, 7 and 2 more without any key."),
        (torch.tensor([[True, True], [True, False]]), "Not causal: 1 pair looks ahead. 1 token cannot see itself."),
        (torch.eye(4).bool() & (torch.arange(4) < 2), "Causal: nobody looks ahead. 2 tokens cannot see themselves."),
    ],
)  # fmt: skip
def test_what_is_said_of_a_mask(mask, said):
    assert said in facts(mask.numpy()).sentence()


@pytest.mark.parametrize(
    ("values", "way", "said"),
    [
        ([[0, -np.inf]], ADDED, ""),
        ([[0, -1e9]], ADDED, "−1e+09 (1 cell) is as good as −∞, and taken as hidden, because e to its"),
        ([[0, -1000, -745, -746]], ADDED, "−1000, −746 (2 cells) are as good as −∞"),
        ([[0, -1000, -745, -746]], ADDED, "−745 (1 cell) is neither 0 nor −∞"),
        ([[0, 0.5, -3]], ADDED, "−3, 0.5 (2 cells) are neither 0 nor −∞: a bias, and taken as seen."),
        ([[0, np.inf]], ADDED, "∞ (1 cell) is what makes every weight of its row NaN"),
        ([[0, 0.5, 1]], ATTEND, "0.5 (1 cell) is neither 0 nor 1, and taken as 1."),
        ([[2, 3, 4, 5, 1]], IGNORE, "2, 3, 4 and 1 more value (4 cells) are neither"),
        ([[0, 1]], IGNORE, ""),
    ],
)  # fmt: skip
def test_values_beyond_the_convention_are_named(values, way, said):
    said_of_it = odd_values(read_file(npy(np.array(values, float))), way)
    assert said in said_of_it
    assert bool(said_of_it) == bool(said)


@given(MASKS)
def test_readings_are_opposites_and_agree_with_torch(mask):
    table = read_file(npy(mask))
    np.testing.assert_array_equal(mask_of(table, ATTEND), ~mask_of(table, IGNORE))
    added = read_file(npy(minus_inf(torch.from_numpy(mask)).numpy()))
    assume(not mask.all())
    np.testing.assert_array_equal(mask_of(added, guess(added)[0]), mask)
