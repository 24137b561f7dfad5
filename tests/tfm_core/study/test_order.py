"""Experiments on order, beside plain loops; and the law that attention without positions knows none."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tfm_core.study.order import along_batch, along_sequence, apart, difference, moved, shuffle_order


@given(ids=st.lists(st.integers(0, 3), min_size=1, max_size=9), seed=st.integers(0, 99))
def test_a_shuffle_is_another_text_of_the_same_words_where_there_is_one(ids, seed):
    order = shuffle_order(ids, seed)
    assert sorted(order) == list(range(len(ids)))
    assert order == shuffle_order(tuple(ids), seed)
    shuffled = [ids[i] for i in order]
    assert (shuffled != ids) == (len(set(ids)) > 1)


def test_another_seed_is_another_shuffle():
    assert len({tuple(shuffle_order(range(10), seed)) for seed in range(20)}) == 20


@given(seq=st.integers(1, 6), width=st.integers(1, 5), seed=st.integers(0, 99))
def test_moves_are_lengths_of_differences_between_a_words_own_rows(seq, width, seed):
    numbers = torch.Generator().manual_seed(seed)
    before, after = torch.randn(2, seq, width, generator=numbers)
    order = shuffle_order(range(seq), seed)
    shares, differences = moved(before, after, order), difference(before, after, order)
    apart = after - before[order]  # a word's row now, less its row before
    torch.testing.assert_close(differences[order], apart)
    torch.testing.assert_close(shares[order], apart.norm(dim=-1) / before[order].norm(dim=-1))


@given(batch=st.integers(1, 4), seq=st.integers(1, 5), width=st.integers(1, 4))
def test_along_the_sequence_each_position_has_its_own_along_the_batch_each_sentence(batch, seq, width):
    x, pe = torch.rand(batch, seq, width), torch.rand(max(batch, seq) + 2, width)
    assert torch.equal(along_sequence(x, pe), x + pe[:seq])
    assert torch.equal(along_batch(x, pe), x + pe[:batch, None])


def test_apart_is_a_share_of_the_length():
    vectors = torch.tensor([[3.0, 4.0], [0.0, 2.0]])
    assert apart(vectors, vectors + torch.tensor([0.0, 1.0])).tolist() == pytest.approx([0.2, 0.5])
