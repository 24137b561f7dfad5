"""A positional scheme in a notebook: its numbers are the library's, and what the reader chooses is heard."""

import numpy as np
import pytest
import torch
from torch import Tensor

import attention_lab
from tests.attention_lab.test_pictures import decoded
from tfm_core import POSITIONAL, Positional, apply_rotary, sinusoidal_encoding
from tfm_core.positional.schemes import Sinusoidal


def numbers_of(picture, *shape: int) -> np.ndarray:
    """The numbers of the first canvas."""
    return np.frombuffer(decoded(picture.first)[1], np.float32).reshape(shape)


def test_vectors_are_those_of_the_paper():
    picture = attention_lab.positions("sinusoidal", length=20, d_model=8, base=100.0)
    expected = sinusoidal_encoding(20, 8, base=100.0).numpy()
    np.testing.assert_allclose(picture.values, expected)
    np.testing.assert_allclose(numbers_of(picture, 1, 20, 8)[0], expected)


def test_a_table_ends_at_max_len():
    picture = attention_lab.positions("learned", length=20, max_len=12, d_model=8)
    assert np.isnan(picture.values[12:]).all()
    assert np.isfinite(picture.values[:12]).all()
    assert "From position 12 on, 8 positions are not defined." in picture.parts[0]["sentence"]
    again = attention_lab.positions("learned", length=20, max_len=12, d_model=8)
    np.testing.assert_array_equal(picture.values, again.values)
    assert not np.array_equal(picture.values[:12], attention_lab.positions("learned", d_model=8, seed=1).values[:12])


def test_clocks_are_turned_as_queries_and_keys_of_a_head_are():
    picture = attention_lab.positions("rope", d_model=32, num_heads=4, position=9, key=2)
    for hand, at in zip(picture.hands, (9, 2), strict=True):
        unit = torch.cat([torch.ones(4), torch.zeros(4)]).expand(1, 1, 10, -1)
        turned = apply_rotary(unit)[0, 0, at]
        assert torch.allclose(hand, torch.stack([turned[:4], turned[4:]], -1), atol=1e-6)
    hands = numbers_of(picture, 4, 5)
    np.testing.assert_allclose(hands[:, :2], picture.hands[0])
    np.testing.assert_allclose(hands[:, 4], 7 / 10000 ** (np.arange(4) / 4), rtol=1e-5)


@pytest.mark.parametrize("name", ["alibi", "t5"])
def test_biases_are_what_the_scheme_adds(name):
    picture = attention_lab.positions(name, length=24, num_heads=4)
    expected = picture.scheme.bias(24, 24).detach().numpy()
    np.testing.assert_array_equal(picture.values, expected)
    np.testing.assert_allclose(numbers_of(picture, 4, 24, 24), expected)
    names = [each["name"] for each in decoded(picture.first)[0]["maps"]]
    picture.alone = True
    assert [each["name"] for each in decoded(picture.first)[0]["maps"]] != names


def test_what_the_reader_does_arrives_in_python_and_what_python_sets_is_drawn():
    added = attention_lab.positions("sinusoidal", length=16, d_model=8, dims="0")
    header, _ = decoded(added.first)
    assert header["asks"] == ["position", "dims"]
    assert added.parts[0]["sets"] == {"position": "position", "dims": "dims", "part": "part"}
    before = added.second
    added.set_state({"position": 5, "dims": header["places"][1][3]})  # a click on a cell
    assert (added.position, added.dims) == (5, "0 3")
    assert decoded(added.first)[0]["picked"] == [5, 0]
    assert added.second != before
    added.part = "0,0,4,4"
    assert numbers_of(added, 1, 4, 4).shape == (1, 4, 4)
    added.dims = ""
    assert added.parts[1]["sentence"].startswith("No dimension is chosen")
    turned = attention_lab.positions("rope")
    assert decoded(turned.first)[0]["parameters"] == {"query": "position", "key": "key"}
    turned.set_state({"position": 20, "key": 20})
    assert torch.equal(*turned.hands)
    bias = attention_lab.positions("alibi", length=300)
    assert decoded(bias.first)[0]["part"]["parameter"] == "square"
    assert bias.parts[0]["sets"] == {"square": "part"}
    bias.set_state({"part": "0,0,8,8"})
    assert numbers_of(bias, 4, 8, 8)[0, 7, 0] == bias.values[0, 7, 0]


@pytest.mark.parametrize("name", [name for name, scheme in POSITIONAL.items() if scheme.enters()])
def test_each_scheme_has_a_page_and_a_png(name):
    for made in (POSITIONAL[name], POSITIONAL[name](d_model=8, num_heads=2, max_len=64)):
        picture = attention_lab.positions(made)
        assert picture.parts[0]["title"].startswith(name)
        assert "</html>" in picture.to_html()
        assert picture.png().startswith(b"\x89PNG")


class Stripes(Sinusoidal):
    """Waves that are added, and a bias for near keys."""

    def bias_at(self, distance: Tensor) -> Tensor:
        """A number for each head, where the key is next to the query."""
        return (distance.abs() <= 1).float().expand(self.num_heads, *distance.shape)


def test_a_scheme_of_ones_own_is_shown_at_each_place():
    added = attention_lab.positions(Stripes)
    assert added.parts[0]["title"] == "Stripes: added to embeddings"
    bias = attention_lab.positions(Stripes, place="bias_at", length=5)
    np.testing.assert_array_equal(bias.values[0], np.tri(5, k=1) - np.tri(5, k=-2))


class Silent(Positional):
    """Turns, and does not say how."""

    def rotate(self, x: Tensor, start: int = 0) -> Tensor:
        """The vectors as they are."""
        return x


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"scheme": "none"}, "expected one that enters at one of encode, rotate, bias_at; got none"),
        ({"scheme": "rotary"}, "expected one of none, sinusoidal"),
        ({"scheme": 3}, "expected a name, a class or an object of Positional, got int"),
        ({"scheme": Silent}, "expected one that tells its wavelengths"),
        ({"place": "rotate"}, "got sinusoidal, which enters at encode"),
        ({"scheme": "rope", "d_model": 12}, "expected an even d_model / num_heads"),
        ({"length": 0}, "length: expected a whole number of at least 1, got 0"),
        ({"position": 64}, "position: expected a position of 0 to 63, got 64"),
        ({"dims": "1 64"}, "dims: expected at most 8 dimensions of 0 to 63, got '1 64'"),
    ],
)
def test_what_cannot_be_shown_is_refused(given, told):
    with pytest.raises(ValueError, match=told):
        attention_lab.positions(**{"scheme": "sinusoidal"} | given)
