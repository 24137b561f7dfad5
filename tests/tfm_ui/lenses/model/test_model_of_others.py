"""Models as others have trained them, in every view: RMS norms, shared keys, token types, a norm of the embeddings, a
pooler, no logits. Small random ones, which are always there, and the two that can be installed.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import pytest
import torch
from torch import nn

from tests.tfm_ui.lenses.model.any_link import left_by, panels_that_hold
from tfm_core import Transformer, TransformerConfig, logit_lens, recording
from tfm_core.model.layer import TransformerLayer
from tfm_core.model.transformer import OutputTransform
from tfm_core.pretrained.offered import OFFERED
from tfm_core.study.blocks import stack_blocks
from tfm_core.study.depth import parameter_gradients
from tfm_core.study.logit_lens import each_read_out
from tfm_ui.lenses.model import LENS
from tfm_ui.lenses.model.block.cell import BlockCell, last_sum
from tfm_ui.lenses.model.block.chain import rms_norm
from tfm_ui.lenses.model.block.steps import Block, BlockMoments
from tfm_ui.lenses.model.depth.wirings import Wirings
from tfm_ui.lenses.model.diagram.block import Flow, formulas
from tfm_ui.lenses.model.diagram.drawing import Diagram
from tfm_ui.lenses.model.diagram.path import Path
from tfm_ui.lenses.model.diagram.questions import layer_and_word, the_end, where_parameters_are
from tfm_ui.lenses.model.distance.reach import MOST, transformer_of
from tfm_ui.lenses.model.efficient.compared import Efficient
from tfm_ui.lenses.model.efficient.tiling import first_of_head
from tfm_ui.lenses.model.output.lens import OutputLens
from tfm_ui.lenses.model.output.likeliest import Output
from tfm_ui.lenses.model.state import OUTSIDE_LAYERS, VIEWS, ModelLensState
from tfm_ui.page import lens as pages
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pass_cost import weight_bytes

CHANGES = {
    "decoder": {
        "normalization": "rms",
        "num_kv_heads": 2,
        "qkv_bias": False,
        "output_bias": False,
        "feed_forward_bias": False,
        "scale_embeddings": False,
        "rope_pairing": "neighbours",
        "positional_base": 100_000.0,
    },
    "encoder": {
        "scale_embeddings": False,
        "embedding_norm": True,
        "num_token_types": 2,
        "head": "none",
        "pooler": True,
        "tie_embeddings": False,
    },
}


@dataclass(frozen=True, kw_only=True)
class Like(ModelState):
    """A small random model of the kind of SmolLM2, if it is a decoder, or of MiniLM."""

    @cached_property
    def config(self) -> TransformerConfig:
        made: TransformerConfig = ModelState.config.func(self)
        return replace(made, **CHANGES[self.architecture])


DECODER = Like(
    architecture="decoder", positional="rope", activation="swiglu", num_layers=3, num_heads=4, text="one two three four"
)
ENCODER = Like(
    architecture="encoder", causal=False, positional="learned", norm="post", num_layers=2, text="one two six"
)
INSTALLED = [
    pytest.param(
        ModelState(weights=name, text="The cat sat."),
        marks=pytest.mark.skipif(not model.is_there, reason=f"{name} is not installed: python3 run.py --models"),
        id=name,
    )
    for name, model in OFFERED.items()
]
QUICK = ("diagram", "block", "feed_forward", "efficient")


def is_shown(model: ModelState, state: ModelLensState) -> bool:
    return not LENS.view_of(state).why_not_shown(model, state)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("model", [DECODER, ENCODER], ids=["decoder", "encoder"])
def test_each_view_holds_and_its_recipes_run(model, view):
    state = ModelLensState(view=view, depth=3, reach_length=8, reach_seeds=3, layer=2, head=4, token=3)
    if not is_shown(model, state):
        assert (view, model) == ("output", ENCODER)
        return
    for panel in panels_that_hold(model, state):
        assert not panel.recipe() or left_by(panel)


@pytest.mark.parametrize("view", QUICK)
@pytest.mark.parametrize("model", INSTALLED)
def test_each_quick_view_of_an_installed_model_holds(model, view):
    panels_that_hold(model, ModelLensState(view=view, layer=2, head=5, token=3))


@pytest.mark.parametrize("model", INSTALLED)
def test_all_parameters_of_an_installed_model_are_in_its_blocks(model):
    counted = {"smollm2": 134_515_008, "minilm": 22_713_216}
    assert Diagram(model, ModelLensState()).parameters == counted[model.weights]


@pytest.mark.parametrize("block", list(OUTSIDE_LAYERS))
@pytest.mark.parametrize("model", [DECODER, ENCODER], ids=["decoder", "encoder"])
def test_each_block_outside_the_layers_is_opened(model, block):
    state = ModelLensState(view="block", sub_layer=block)
    panels = panels_that_hold(model, state)
    has = {item.name_in_link for item in Diagram(model, state).items}
    assert (type(panels[0]) is Flow) == (OUTSIDE_LAYERS[block] in has)


def test_blocks_are_drawn_by_their_names():
    names = [row.text for row in Diagram(DECODER, ModelLensState()).rows_of("decoder")]
    assert names[:3] == ["4 tokens", "Embedding", "RMSNorm"]
    assert names[-2:] == ["Final RMSNorm", "Logits"]
    names = [row.text for row in Diagram(ENCODER, ModelLensState()).rows_of("encoder")]
    assert names[:6] == [
        *("3 tokens", "Embedding", "+ token types", "+ learned positions", "Embedding norm", "Self-attention"),
    ]
    assert names[-1] == "Pooler"


def test_heads_that_share_keys_are_told():
    diagram = Diagram(DECODER, ModelLensState())
    assert "4 heads, 2 key-value heads" in diagram.shape
    assert "4 heads share 2 key-value heads: heads 1 to 2 the first, heads 3 to 4 the second. " in diagram.sentence()
    header, _ = diagram.picture()
    assert header["stacks"][0]["title"] == "Decoder-only, pre-norm, 4 heads, 2 key-value heads"
    assert "d_kv" in Flow(DECODER, ModelLensState()).how_to_read
    assert "Heads 3 and 4 share their keys and values: key-value head 2." in (
        Efficient(DECODER, ModelLensState(view="efficient", head=3)).how_to_read
    )
    plain = Diagram(ModelState(), ModelLensState())
    assert "share" not in plain.sentence()
    assert not plain.shared_in_words()


def test_where_no_head_shares_nothing_is_said():
    model = replace(DECODER, num_heads=2)
    assert Diagram(model, ModelLensState()).shared_in_words() == ""


def test_formulas_are_those_of_the_model():
    of = {block.kind: formulas(block, DECODER.config) for block in stack_blocks(DECODER.config)["decoder"]}
    assert "sqrt{d_" not in of["embedding"][0]
    assert "RMSNorm" in of["norm"][0]
    assert r"\mu" not in of["norm"][0]
    assert not any("b^" in formula for formula in of["self_attention"])
    assert any(r"\lceil i / 2 \rceil" in formula for formula in of["self_attention"])
    assert "b_1" not in of["feed_forward"][0]
    assert "RMSNorm" in of["sum"][0]
    of = {block.kind: formulas(block, ENCODER.config) for block in stack_blocks(ENCODER.config)["encoder"]}
    assert r"\tanh" in of["pooler"][0]
    assert "t_0" in of["token_types"][0]


def test_a_masked_word_head_is_drawn_and_computed():
    config = replace(ENCODER.config, head="masked", pooler=False, tie_embeddings=True)
    blocks = {block.kind: block for block in stack_blocks(config)["encoder"]}
    assert "LayerNorm" in formulas(blocks["transform"], config)[0]
    assert formulas(blocks["logits"], config)[0].endswith("+ b")
    model, tokens = Transformer(config).eval(), torch.tensor([[1, 2, 3]])
    assert isinstance(model.transform, OutputTransform)
    logits = model(tokens).detach()
    torch.testing.assert_close(logit_lens(model, tokens)[f"layer {config.num_layers}"], logits)


def test_a_model_without_logits_says_so():
    state = ModelLensState(view="output")
    assert LENS.view_of(state).why_not_shown(ENCODER, state) == (
        "This model has no output matrix: it gives the last hidden states, and no logits."
    )
    assert isinstance(LENS.view_of(state), pages.View)
    diagram = ModelLensState()
    assert "not in the embedding." in Diagram(ENCODER, diagram).sentence()
    assert "token types and the pooler have the other" in where_parameters_are(ENCODER, diagram)
    assert "last hidden states" in the_end(ENCODER, diagram)
    assert "one matrix" in layer_and_word(ENCODER, diagram)
    assert Path(ENCODER, diagram).logits is None
    columns = Efficient(ENCODER, ModelLensState(view="efficient")).table().columns
    assert "largest difference of the last hidden states" in columns


def test_the_pooler_reads_the_first_token():
    flow = Flow(ENCODER, ModelLensState(view="block", sub_layer="pooler"))
    assert [x.shape for x in flow.ends.values()] == [(1, 32), (1, 32)]
    assert flow.sentence().startswith("The last hidden state of the first token, “one”, makes one vector")
    assert all(flow.laws().values())


def test_steps_of_an_rms_norm_are_torchs():
    norm, x = nn.RMSNorm(16, eps=1e-5), torch.randn(5, 16)
    nn.init.uniform_(norm.weight, -1, 1)
    mean_square, normalised, result = rms_norm(x, norm)
    torch.testing.assert_close(result, norm(x).detach())
    torch.testing.assert_close(normalised.square().mean(-1, keepdim=True), mean_square / (mean_square + 1e-5))


def test_a_last_sum_without_bias():
    torch.manual_seed(0)
    with_bias, without = nn.Linear(6, 4), nn.Linear(6, 4, bias=False)
    inner = torch.randn(3, 6)
    for projection in (with_bias, without):
        products, written = last_sum(inner, projection, 1, 2)
        assert len(products) == 6
        assert float(written) == pytest.approx(projection(inner)[1, 2].item(), abs=1e-6)


def test_an_rms_norm_is_called_what_it_is():
    state = ModelLensState(view="block")
    block = Block(DECODER, state)
    assert "root of their mean square" in block.sentence()
    assert "× gain" in " ".join(block.tables)
    assert "shift" not in " ".join((*block.tables, block.sentence(), BlockMoments(DECODER, state).sentence()))
    assert BlockMoments(DECODER, state).title == "Mean and mean square"
    steps = {step.name: step.value for step in BlockCell(DECODER, state).lines}
    assert list(steps) == ["x", "mean square", "norm", "gain", "sub-layer", "dropout", "sum"]
    assert steps["norm"] == pytest.approx(steps["x"] / (steps["mean square"] + DECODER.config.norm_eps) ** 0.5)


def test_tiles_are_those_of_the_heads_own_keys():
    model, site = Transformer(DECODER.config).eval(), "layers.1.self_attention"
    with torch.no_grad(), recording(f"{site}.*") as trace:
        model(DECODER.source_tokens.batch)
    for head in range(4):
        query, key, _, visible = first_of_head(trace, site, head, 4)
        scores = (query @ key.T / query.shape[-1] ** 0.5).masked_fill(~visible, -torch.inf)
        torch.testing.assert_close(scores.softmax(-1).float(), trace[f"{site}.weights"][0, head])


def test_read_outs_come_one_by_one():
    model, tokens = Transformer(DECODER.config).eval(), DECODER.source_tokens.batch
    whole = logit_lens(model, tokens)
    for place, logits in each_read_out(model, tokens, count=2):
        torch.testing.assert_close(logits, whole[place][:, :2])
    with pytest.raises(ValueError, match="expected a model with logits"):
        logit_lens(Transformer(ENCODER.config).eval(), tokens)


def test_a_final_norm_is_of_the_layers_kind():
    layers = [TransformerLayer(8, 2, 16, normalization=kind) for kind in ("layer", "rms")]
    x = 3 + torch.randn(1, 3, 8, dtype=torch.float64)
    layer, rms = (parameter_gradients([each], x, ["pre-norm"], seed=1)["pre-norm"] for each in layers)
    again = parameter_gradients([layers[1]], x, ["pre-norm"], seed=1)["pre-norm"]
    assert torch.equal(rms, again)
    assert not torch.allclose(layer, rms)


def test_only_what_is_long_is_slow():
    assert not OutputLens(DECODER, ModelLensState(view="output")).slow
    assert not OutputLens(ModelState(), ModelLensState(view="output")).slow
    assert Output(DECODER, ModelLensState(view="output")).laws()


def test_a_large_model_is_compared_narrower():
    for name in OFFERED:
        model, state = ModelState(weights=name), ModelLensState(view="distance")
        config = transformer_of(model, state)
        assert (config.num_layers, config.num_heads) == (model.num_layers, model.num_heads)
        assert config.d_model % config.num_heads == 0
        assert (config.d_model < model.d_model) == (name == "smollm2")
    plain = ModelState(d_model=256, num_layers=8, d_ff=1024)
    assert transformer_of(plain, ModelLensState()).d_model == 256
    assert MOST > 10_000_000


def test_no_memory_is_counted_for_keys_that_heads_share():
    config = replace(Wirings(DECODER, ModelLensState()).config, vocab_size=1)
    counted = sum(each.numel() for each in Transformer(config).parameters() if each.dim() == 2)
    assert weight_bytes(config) == 4 * counted
