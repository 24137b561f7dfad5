"""The configuration: one value, impossible ones cannot be built."""

import dataclasses
import json
import math
import re

import pytest

from tests.tfm_core.toys import tiny
from tfm_core import ACTIVATIONS, ARCHITECTURES, ATTENTION, NORMS, POSITIONAL, TransformerConfig

CHOICES = {
    "architecture": ARCHITECTURES,
    "positional": POSITIONAL,
    "norm": NORMS,
    "activation": ACTIVATIONS,
    "attention": ATTENTION,
}
WHOLE_NUMBERS = dict.fromkeys(["vocab_size", "d_model", "num_heads", "num_layers", "max_len"], 1)
WHOLE_NUMBERS |= dict.fromkeys(["d_ff", "seed"], 0) | {"pad_id": -1}


@pytest.mark.parametrize("field", CHOICES)
@pytest.mark.parametrize("wrong", ["full ", "", "Encoder", None, 1, True])
def test_an_unknown_choice_is_told_all_that_there_are(field, wrong):
    with pytest.raises(ValueError, match=f"{field}: expected one of") as error:
        tiny(**{field: wrong})
    assert all(part in str(error.value) for part in [*CHOICES[field], repr(wrong)])


@pytest.mark.parametrize(("field", "least"), WHOLE_NUMBERS.items())
def test_a_whole_number_is_an_int_and_no_bool_and_not_too_small(field, least):
    for wrong in (least - 1, 2.0, 1.5, "2", None, True, False, math.nan):
        told = f"{field}: expected a whole number of at least {least}, got {wrong!r}"
        with pytest.raises(ValueError, match=re.escape(told)):
            tiny(**{field: wrong})


def test_every_field_but_the_vocabulary_has_a_default():
    fields = {field.name: field.default for field in dataclasses.fields(TransformerConfig)}
    assert [name for name, default in fields.items() if default is dataclasses.MISSING] == ["vocab_size"]
    assert TransformerConfig(vocab_size=5).vocab_size == 5


def test_it_is_one_frozen_value_that_goes_through_a_link():
    config = tiny(positional="rope", dropout=0.25, tie_embeddings=True)
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.seed = 3
    through = TransformerConfig(**json.loads(json.dumps(dataclasses.asdict(config))))
    assert through == config
    assert hash(through) == hash(config)
    assert all(type(value) in (int, float, str, bool) for value in dataclasses.asdict(config).values())


def test_it_takes_keywords_only():
    with pytest.raises(TypeError):
        TransformerConfig(23)


@pytest.mark.parametrize(("d_ff", "hidden"), [(0, 64), (1, 1), (20, 20)])
def test_derived_widths(d_ff, hidden):
    assert tiny(d_ff=d_ff).feed_forward_dim == hidden
    assert tiny().head_dim == 4
