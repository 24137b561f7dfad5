"""The cards of Home: a question and a live picture for each lens, all but that of Training of the sidebar's model."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st
import torch
from numpy.typing import NDArray

from tfm_core import Sampling, generate, run_store
from tfm_core.profiling.closed_forms_transformer import Transformer as ClosedForm
from tfm_core.profiling.size import OF_CONFIG, Size
from tfm_core.study.mask_conventions import CONVENTIONS
from tfm_core.training.config import of_task
from tfm_core.training.examples import EVALUATED, FINAL
from tfm_ui.lenses.heads.panels import Head, Heads
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.live import passes, places, tables, windows
from tfm_ui.live.cache import cached
from tfm_ui.live.memory import little
from tfm_ui.live.writing import prompt_of, why_not_write
from tfm_ui.page import controls, frame
from tfm_ui.page.drawing import Drawing
from tfm_ui.pictures import bars, lines, maps
from tfm_ui.pictures.canvas import Canvas, Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.head_grid import GRID
from tfm_ui.pictures.head_map import MAP
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.map_scale import SHARES, around_zero
from tfm_ui.pictures.maps import MAPS, MASKED, Axis, Map
from tfm_ui.pictures.picture import Picture
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats
from tfm_ui.text.token_labels import named

PARTS = {  # part of the model -> signs of it in the names of its modules
    "embedding": ("embedding", "token_types"),
    "positions": ("positional",),
    "attention": ("attention",),
    "feed-forward": ("feed_forward",),
}
REST = "norms and the rest"
WRITTEN = 5  # tokens that a card writes
LENGTHS = [2**power for power in range(1, 11)]  # of texts whose cost a card shows
CORNER = 8  # tokens of the mask that a card shows in two conventions
LEARNED = of_task("reverse")  # the run that the Training lens opens on; it comes with the app


def home_heads(model: ModelState, state: LensState) -> Content:
    """The grid of all heads, none of them locked."""
    header, maps = Heads.content(model, HeadsState())
    return {**header, "picked": None}, maps


def home_attention(model: ModelState, state: LensState) -> Content:
    """The first head, exact."""
    return Head.content(model, HeadsState())


def home_positions(model: ModelState, state: LensState) -> Content:
    """What the model's positional scheme adds or turns, at each position."""
    name, column, values = positions(model)
    part = windows.part_of(windows.WHOLE, *values.shape)
    scale = around_zero(float(np.abs(values).max()))
    return maps.content(
        [Map(name=name, values=windows.pooled(tables.matrix(values), part), scale=scale, unit="value")],
        rows=Axis(part.row_names(), "position", "position", counted=True),
        columns=Axis(part.column_names(), column, column, counted=True),
        about=name,
        square=False,
        part=part,
        counted_from=0,
    )


def positions(model: ModelState) -> tuple[str, str, NDArray[np.float32]]:
    """What the model's own scheme does: the vectors that it adds, a vector that it turns, or the bias of head 1.

    Returns:
        what is shown; what a column is; the values, float32 (position, column).
    """
    scheme = passes.scheme(model, places.kind_of(model, "encoder"))
    assert scheme is not None  # only cross-attention has none
    length, name = model.length, model.positional
    with torch.no_grad():
        if (added := scheme.encode(length)) is not None:
            return f"{name}: added to each token", "dimension", added.numpy()
        ones = torch.ones(1, 1, length, model.config.head_dim)
        if (turned := scheme.rotate(ones)) is not None:
            return f"{name}: a vector of ones, turned", "dimension", turned[0, 0].numpy()
        if (bias := scheme.bias(length, length)) is not None:
            return f"{name}: added to the scores of head 1", "key", bias[0].numpy()
    return f"{name}: nothing is added", "dimension", np.zeros((length, model.d_model), np.float32)


def home_masks(model: ModelState, state: LensState) -> Content:
    """Who may see whom in the model's first attention."""
    heads = Heads(model, HeadsState())
    visible = heads.attention.visible
    kept = f"{formats.count(int(visible.sum()))} of {formats.count(visible.size)} pairs kept"
    part = windows.part_of(windows.WHOLE, *visible.shape)
    values = np.where(visible, np.float32(1), MASKED)
    exact = part.exact
    return maps.content(
        [Map(name="Mask", values=windows.pooled(tables.matrix(values), part), scale=SHARES, unit=kept, ticks=True)],
        rows=Axis(heads.queries if exact else part.row_names(), "query (row): looks", "query", "query"),
        columns=Axis(heads.keys if exact else part.column_names(), "key (column): is looked at", "key", "key"),
        about=kept,
        part=None if exact else part,
    )


def home_model(model: ModelState, state: LensState) -> Content:
    """Where the parameters are."""
    counts = parameters_by_part(model)
    total = sum(counts.values())
    values, about = [formats.count(count) for count in counts.values()], f"{formats.count(total)} parameters."
    shares = [count / total for count in counts.values()]
    return bars.content(list(counts), shares, values=values, about=about, rows="part")


def parameters_by_part(model: ModelState) -> dict[str, int]:
    """Part of the model -> how many parameters it has; parts without a parameter are left out."""
    counts = dict.fromkeys([*PARTS, REST], 0)
    for name, parameter in passes.transformer(model.config).named_parameters():
        counts[_part_of(name)] += parameter.numel()
    return {part: count for part, count in counts.items() if count}


def _part_of(name: str) -> str:
    *modules, _ = name.split(".")
    if any("norm" in module for module in modules):
        return REST
    known = ((part, sign) for part, signs in PARTS.items() for sign in signs)
    return next((part for part, sign in known if any(sign in module for module in modules)), REST)


def home_training(model: ModelState, state: LensState) -> Content:
    """How the answers became right of a model that comes with the app, whatever the sidebar's model is."""
    run = run_store().find(LEARNED)
    assert run is not None  # shipped
    first, last = run.points[0], run.points[-1]
    accuracies = [point.accuracy for point in run.points]
    shares = Line("right answers", [point.step for point in run.points], accuracies, "ink")
    about = (
        f"Trained on “{LEARNED.task}”, not the model in the sidebar: before training "
        f"{formats.percent(first.accuracy)} of the answers to {formats.count(EVALUATED)} held-out examples are right, "
        f"after {formats.count(last.step)} steps {formats.percent(last.accuracy)} of those to {formats.count(FINAL)}."
    )
    chart = Chart("step of training", f"right answers, trained on “{LEARNED.task}”", [shares], reach=(0, 1))
    return lines.content([chart], about=about)


def home_generate(model: ModelState, state: LensState) -> Content:
    """How sure the model is of each of the tokens that it writes next, always the likeliest; none if it does not write.

    The shares are of different wholes: each step has its own probabilities.
    """
    if reason := why_not_write(model):
        return bars.content([], [], about=reason, rows="token")
    written = write_on(model)
    names = [f"“{named(model.tokens_by.pieces[token])}”" for token, _ in written]
    said = [f"{name}, {formats.percent(share, 3)}" for name, (_, share) in zip(names, written, strict=True)]
    about = f"Always the likeliest token: {'; '.join(said)}."
    return bars.content(names, [share for _, share in written], about=about, rows="token", of_one_whole=False)


@cached()
def write_on(model: ModelState) -> list[tuple[int, float]]:
    """The ids of the tokens that a decoder writes after its text, always the likeliest, each with its probability."""
    decoder, greedy = passes.transformer(model.config), Sampling(greedy=True)
    with torch.no_grad():
        steps = list(generate(decoder, prompt_of(model), greedy, steps=WRITTEN, context=model.most_tokens))
    return [(step.token, float(step.logits.double().softmax(-1)[step.token])) for step in steps]


def home_profiling(model: ModelState, state: LensState) -> Content:
    """What a pass costs by the length of its text, in closed form: what is done for pairs of tokens, and all else."""
    lengths = [length for length in LENGTHS if length <= model.most_tokens] or [model.most_tokens]
    pairs, others = (np.array(part, np.float64) for part in zip(*(flops(model, n) for n in lengths), strict=True))
    share = formats.percent(float(pairs[-1] / (pairs[-1] + others[-1])))
    about = f"Of a text of {formats.count(lengths[-1])} tokens, pairs of tokens take {share} of the operations."
    lines_of = [
        Line("each token alone", lengths, (others / 1e6).tolist(), "head 1"),
        Line("pairs", lengths, (pairs / 1e6).tolist(), "head 2"),
    ]
    return lines.content([Chart("length, tokens", "millions of operations", lines_of, reach=(0,))], about=about)


def flops(model: ModelState, length: int) -> tuple[int, int]:
    """Operations of one pass, in closed form: those for pairs of tokens, and those for each token alone."""
    config = model.config
    kind = {name: getattr(config, name) for name in ("head", *OF_CONFIG)}
    parts = ClosedForm().flops(Size(**kind, vocab_size=config.vocab_size, seq_len=length, batch=1))
    return parts["products"], sum(count for part, count in parts.items() if part != "products")


def home_clinic(model: ModelState, state: LensState) -> Content:
    """A corner of the model's mask as two calls of PyTorch want it: True for the first is False for the other."""
    heads = Heads(model, HeadsState())
    mask = torch.from_numpy(heads.attention.visible[:CORNER, :CORNER])
    sdpa = CONVENTIONS["SDPA, boolean"].to(mask[None], 1)[0, 0]
    mha = CONVENTIONS["MHA, attn_mask"].to(mask[None], 1)
    about = (
        f"Of {formats.count(mask.numel())} pairs {formats.count(int(sdpa.sum()))} are True in a mask for "
        f"F.scaled_dot_product_attention, and {formats.count(int(mha.sum()))} in the same mask for "
        "nn.MultiheadAttention, where True hides."
    )
    return maps.content(
        [
            Map(name=name, values=values.float().numpy(), scale=SHARES, unit="mask", words=("False", "True"))
            for name, values in (("for F.sdpa", sdpa), ("for nn.MHA", mha))
        ],
        rows=Axis([str(place) for place in range(1, len(mask) + 1)], "query", "query", "query", counted=True),
        columns=Axis([str(place) for place in range(1, mask.shape[1] + 1)], "key", "key", "key", counted=True),
        about=about,
    )


def _always(model: ModelState) -> str:
    return ""


@dataclass(frozen=True, kw_only=True)
class Card:
    """A card.

    Attributes:
        title: the name of what it leads to.
        asks: a question that is answered there, in plain words.
        picture: what is seen of it here.
        why_not: returns why there is no picture, in a sentence; "" if there is one.
        slow: returns whether the picture comes at rest alone.
    """

    title: str
    asks: str
    picture: Picture
    why_not: Callable[[ModelState], str] = _always
    slow: Callable[[ModelState], bool] = lambda model: False


def _of_pass(canvas: Canvas, content: Callable[[ModelState, LensState], Content], *, alone: bool = False) -> Picture:
    return Picture(canvas, content, needs=passes.needs, works_on_weights_alone=alone)


CARDS = {
    "heads": Card(
        title="Heads",
        asks="Where does each head look? Press one to open it.",
        picture=_of_pass(GRID, home_heads, alone=True),
    ),
    "attention": Card(
        title="Attention", asks="How does one head get its numbers?", picture=_of_pass(MAP, home_attention)
    ),
    "positions": Card(
        title="Positions", asks="How does it know where a word stands?", picture=_of_pass(MAPS, home_positions)
    ),
    "masks": Card(title="Masks", asks="Which words may see which?", picture=_of_pass(MAPS, home_masks)),
    "model": Card(
        title="Model", asks="What is it made of, and where are its numbers?", picture=_of_pass(CHART, home_model)
    ),
    "generate": Card(
        title="Generate",
        asks="How does it go on, and how sure is it of each token?",
        picture=_of_pass(CHART, home_generate),
        why_not=why_not_write,
        slow=lambda model: model.is_heavy,
    ),
    "training": Card(
        title="Training",
        asks=f"A small model was trained on “{LEARNED.task}”: when did its answers become right?",
        picture=Picture(CHART, home_training, uses_model=False, needs=little),
    ),
    "clinic": Card(
        title="Clinic",
        asks="My model gives NaN, sees the future, or differs from the paper: which mistake is it?",
        picture=_of_pass(MAPS, home_clinic),
    ),
    "profiling": Card(title="Profiling", asks="What does a longer text cost?", picture=_of_pass(CHART, home_profiling)),
}
PICTURES = {f"home_{name}": card.picture for name, card in CARDS.items()}


def card(name: str) -> Callable[[ModelState, LensState], Callable[[], None]]:
    """The block of a card: what leads to its lens, its question, and its picture."""
    return lambda model, state: partial(_draw, name, CARDS[name], model, state)


def _draw(name: str, card: Card, model: ModelState, state: LensState) -> None:
    with st.container(border=True, key=f"card_{name}"):
        icon = ":material/arrow_forward:"
        st.page_link(frame.page_of(name), label=card.title, icon=icon, icon_position="right")
        st.html(f'<p class="note">{card.asks}</p>')
        if reason := card.picture.why_not_drawn(model) or card.why_not(model):
            st.html(f'<p class="note">{reason}</p>')
            return
        states = ((model, ""), (state, "home_"))
        clicked = Drawing(f"home_{name}", states, slow=card.slow(model)).draw(f"home_{name}")
        if clicked and name == "heads":
            layer, head = clicked
            at = controls.open_with("heads_", layer=layer + 1, head=head + 1)
            st.switch_page(frame.page_of("heads"), query_params=at)
