"""The Attention lens: one head number by number, what it looks at and what it writes, and what becomes of changes."""

from collections.abc import Callable
from html import escape

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfm_core import (
    MultiHeadAttention,
    Transformer,
    TransformerLayer,
    attention_scores,
    attention_weights,
    experiments,
    scaled_dot_product_attention,
)
from tfm_core.analysis import entropy
from tfm_core.contribution import contribution_norms
from tfm_ui import change_buttons, compute, controls, frame
from tfm_ui.attention_lens import arcs as arcs_of
from tfm_ui.attention_lens import change as change_view
from tfm_ui.attention_lens import change_recipe
from tfm_ui.attention_lens import contribution as contribution_view
from tfm_ui.attention_lens.contribution import ContributionView
from tfm_ui.attention_lens.derivations import derivation
from tfm_ui.attention_lens.dictionary import look_up
from tfm_ui.attention_lens.formula import LINES, latex
from tfm_ui.attention_lens.scale import scale_view, score_variances
from tfm_ui.attention_lens.state import STEPS, AttentionState
from tfm_ui.attention_lens.steps import WHAT
from tfm_ui.attention_lens.steps import steps as lens_steps
from tfm_ui.compared import compare
from tfm_ui.inside import Inside
from tfm_ui.model_state import ModelState
from tfm_ui.panels import panel
from tfm_ui.pictures import Drawing
from tfm_ui.presets import ATTENTION
from tfm_ui.recipe import recipe

PREFIX = "attention_"


def boxes(model: ModelState, where: DeltaGenerator, *names: str) -> AttentionState:
    """Draw these controls, and return what all of the lens's controls hold."""
    limits = AttentionState.limits(model)
    for name in names:
        if name != "kind" or model.is_encoder_decoder:
            controls.draw(AttentionState, name, where, prefix=PREFIX, limits=limits)
    return controls.current(AttentionState, PREFIX, limits)


def row(key: str) -> DeltaGenerator:
    """A line of controls above a picture; hidden while presenting."""
    return st.container(horizontal=True, gap="small", vertical_alignment="center", key=f"line_{key}")


def steps(model: ModelState, shown: compute.Pass) -> None:
    """One head, from its input to its output, number by number."""
    with panel("steps") as show:
        where = row("steps")
        state = boxes(model, where, "kind", "layer", "head", "scaled", "masked")
        seen = lens_steps(model, state)
        mode, one = frame.mode(), seen.one
        with st.container(horizontal=True, horizontal_alignment="center", key="formulas"):
            bias = one.bias is not None
            for formula in latex(state.step, mode, scaled=one.scaled, bias=bias, temperature=one.temperature):
                st.latex(formula, width="content")
        show(
            title=f"Layer {state.layer}, head {state.head}",
            shape=f"step {STEPS.index(state.step) + 1} of {len(STEPS)}: {state.step}",
            how_to_read=f"{WHAT[state.step]} Click a cell: what fed it is outlined, back to the input.",
            locked=True,
            picture=Drawing("steps", ((model, ""), (state, PREFIX))),
            sentence=f"{seen.sentence} {seen.note}",
            laws=seen.laws(),
            table=seen.table,
            sources=[LINES[state.step][0], derivation],
            mode=mode,
        )


def arcs(model: ModelState, shown: compute.Pass) -> None:
    """Who looks at whom, as lines."""
    with panel("arcs") as show:
        state = boxes(model, row("arcs"), "kind", "layer", "lines")
        seen = arcs_of.view(model, state)
        lines, first = seen.kept(), seen.chosen(state.heads)[0]
        show(
            title=seen.title,
            how_to_read=seen.how_to_read(state.lines),
            shape=f"query × key = {len(seen.queries)} × {len(seen.keys)}",
            picture=Drawing("arcs", ((model, ""), (state, PREFIX))),
            sentence=seen.sentence(lines, state.heads),
            laws=seen.laws(lines),
            table=lambda: seen.table(first),
            sources=arcs_of.SOURCES[seen.lines],
            recipe=recipe(model, seen.place, first) if seen.lines == "heads" else "",
            mode=frame.mode(),
        )


def contribution(model: ModelState, shown: compute.Pass) -> None:
    """What a head looks at beside what it writes."""
    state = boxes(model, row("contribution"), "kind", "layer", "head")
    seen = contribution_view.view(model, state)
    states = ((model, ""), (state, PREFIX))
    sources = [contribution_norms, Inside.weights, Inside.output_weight, MultiHeadAttention.forward]
    left, right = st.columns([7, 3], gap="medium")
    with left, panel("contribution") as show:
        show(
            title="Looking is not contributing",
            how_to_read="Left, whom each query looks at. Right, how long the vector is that it gets from there. "
            "Click a cell to choose its row.",
            shape=f"query × key = {len(seen.queries)} × {len(seen.keys)}",
            picture=Drawing("contribution", states),
            sentence=seen.sentence,
            laws=contribution_view.laws(model, state),
            table=seen.table,
            sources=[*sources, ContributionView.sink],
            recipe=contribution_view.recipe_of(model, state),
            mode=frame.mode(),
        )
    with right, panel("contribution_row") as show:
        show(
            title=f"The row of “{seen.queries[seen.row]}”",
            how_to_read="Lengths as shares of their sum; vectors that point apart take from each other.",
            locked=True,
            picture=Drawing("contribution_row", states),
            sentence=seen.sentence_of(seen.row),
            table=seen.row_table,
            sources=sources,
            mode=frame.mode(),
        )
    st.html(f'<p class="note">{contribution_view.caveat(model)}</p>')


def change(model: ModelState, shown: compute.Pass) -> None:
    """Reach into the model, and see what becomes of it."""
    state = boxes(model, row("change"), "kind", "layer", "head", "rescale")
    seen = change_view.view(model, state)
    states = ((model, ""), (state, PREFIX))
    with st.container(key="change_buttons"):
        change_buttons.acts(seen)
        change_buttons.done(seen)
        st.html(f'<p class="note">{escape(seen.naming.aside(state.changes, state.pinned))}</p>')
    with panel("change_weights") as show:
        show(
            title=f"Layer {state.layer}, head {state.head}",
            how_to_read="Two runs of the model, and what differs; tokens stand as in the text, wherever B reads them. "
            "Click a cell to lock it, then drag its weight.",
            shape=f"query × key = {len(seen.queries)} × {len(seen.keys)}",
            locked=True,
            picture=Drawing("change_weights", states),
            sentence=seen.about_weights(),
            laws=seen.laws(),
            table=seen.weights_table,
            sources=[*change_view.SOURCES, compare],
            recipe=change_recipe.recipe_of(seen),
            mode=frame.mode(),
        )
    left, right = st.columns([1, 1], gap="medium")
    with left, panel("change_stream") as show:
        show(
            title="The residual stream",
            how_to_read="How far each token’s vector moved, as a share of its length in A: to the right, on its way "
            "through the model.",
            picture=Drawing("change_stream", states),
            sentence=seen.about_stream(),
            table=seen.stream_table,
            sources=[compare, TransformerLayer.forward],
            mode=frame.mode(),
        )
    with right, panel("change_output") as show:
        show(
            title="What it would say next" if model.looks_back_only else "What it makes of the last token",
            how_to_read="Softmax of the logits at the last token, in A and in B: the tokens that moved most.",
            picture=Drawing("change_output", states),
            sentence=seen.about_output(),
            table=seen.output_table,
            sources=[compare, Transformer.forward],
            mode=frame.mode(),
        )


def scale(model: ModelState, shown: compute.Pass) -> None:
    """Why the scores are divided by the root of d_k: an experiment."""
    with panel("scale") as show:
        state = boxes(model, row("scale"), "draws", "draw_keys", "draw_seed", "kind", "layer")
        view = scale_view(model, state)
        show(
            title="Why √dₖ",
            how_to_read="Queries and keys of independent standard normal numbers, drawn anew at each dₖ. "
            "Gradient: the largest |∂ weight / ∂ score|. Circles: your model’s heads.",
            shape=f"{state.draws} draws × {state.draw_keys} keys",
            picture=Drawing("scale", ((model, ""), (state, PREFIX))),
            sentence=view.sentence,
            laws=view.laws(),
            table=view.table,
            sources=[
                experiments.scale_experiment,
                experiments.measure_width,
                experiments.largest_gradient,
                entropy,
                attention_scores,
                attention_weights,
                score_variances,
            ],
            recipe=view.recipe,
            mode=frame.mode(),
        )


def dictionary(model: ModelState, shown: compute.Pass) -> None:
    """Attention as a look-up that blends."""
    state = controls.current(AttentionState, PREFIX)
    lookup = look_up(state)
    with panel("dictionary") as show:
        show(
            title="A soft dictionary",
            how_to_read="Drag the query or a key, change a value: the answer is the sum of weight × value. Dotted: how "
            "far each key reaches along the query, which is what q·k measures.",
            shape="softmax(q·k / (√2 · temperature)) · value",
            picture=Drawing("dictionary", ((model, ""), (state, PREFIX))),
            sentence=lookup.sentence,
            laws=lookup.laws(),
            table=lookup.table,
            sources=[look_up, scaled_dot_product_attention, attention_scores, attention_weights],
            recipe=lookup.recipe,
            mode=frame.mode(),
        )


VIEWS: dict[str, Callable[[ModelState, compute.Pass], None]] = {
    "steps": steps,
    "arcs": arcs,
    "contribution": contribution,
    "change": change,
    "scale": scale,
    "dictionary": dictionary,
}


@st.fragment(key="attention")
def lens(model: ModelState, shown: compute.Pass) -> None:
    """The view that was chosen; a change of the lens's own controls runs this alone."""
    pills = st.container()
    state = boxes(model, st.container(key="view"), "view")
    VIEWS[state.view](model, shown)
    with pills:
        frame.presets(ATTENTION, AttentionState, PREFIX)


model = frame.model()
controls.open_link(AttentionState, PREFIX, AttentionState.limits(model))
shown = frame.run(model)
frame.title("Attention", shown)
if not frame.asks_for_text(model):
    lens(model, shown)
