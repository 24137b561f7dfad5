"""The header of a page: the lens's name, its views as tabs, and the facts about the model as one line that unfolds."""

from collections.abc import Callable, Mapping
from functools import partial
from html import escape
from typing import Literal

import streamlit as st

from tfm_ui.live import passes
from tfm_ui.live.passes import Pass
from tfm_ui.page.spoken import Spoken
from tfm_ui.state.arrays import WEIGHTS_ALONE, AttentionFile
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.trained import run_of
from tfm_ui.streamlit_private.containers import DeltaGenerator
from tfm_ui.text import formats

NO_MODEL = "No model: these numbers are yours"


def draw(
    title: str,
    tabs: Mapping[str, str],
    visible: str,
    opens: Callable[[str], None],
    lead: str = "",
    *,
    is_way_back: bool = False,
    way_in: Callable[[], None] | None = None,
) -> DeltaGenerator:
    """Draw the row; return the place in it for `facts`.

    Args:
        title: the lens's title.
        tabs: name of a view in a link -> the title of its tab; empty if there is a single view.
        visible: the view that is on screen.
        opens: called in a callback with the name of the view whose tab was pressed.
        lead: a sentence beside the title, where there are no tabs.
        is_way_back: whether something is open within the visible view, from which its tab leads back.
        way_in: draws what stands right beside the title, see `Lens`.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False, key="header"):
        st.html(f"<h1>{title}</h1>", width="content")
        if way_in:
            way_in()
        if lead:
            st.html(f'<p class="lead">{lead}</p>')
        _buttons("tabs", "_view_", tabs, visible, opens, icon=":material/arrow_back:" if is_way_back else None)
        return st.container(key="facts")


def draw_choice(choices: Mapping[str, str], visible: str, opens: Callable[[str], None]) -> None:
    """Draw the choice between views under the same tab; nothing if there is no choice.

    Args:
        choices: name of a view in a link -> what it is called beside the others.
        visible: the view that is on screen.
        opens: as for `draw`.
    """
    if choices:
        _buttons("choice", "_view_in_tab_", choices, visible, opens)


def _buttons(
    key: str,
    begins: str,
    names: Mapping[str, str],
    visible: str,
    opens: Callable[[str], None],
    *,
    icon: str | None = None,
) -> None:
    """A button for each view, side by side; the icon is on the visible one's.

    It is no st.segmented_control: that holds a value, which the browser sends with every change of another control, and
    it writes into the link what it shows; the names of views in links are a promise.
    """
    with st.container(horizontal=True, gap=None, wrap=False, width="content", key=key):
        for view, name in names.items():
            kind: Literal["primary", "tertiary"] = "primary" if view == visible else "tertiary"
            on_this = icon if view == visible else None
            st.button(name, on_click=partial(opens, view), type=kind, icon=on_this, key=f"{begins}{view}")


def facts(model: ModelState, of_pass: Callable[[], Pass | None], spoken: Spoken, *, beside: str = "") -> None:
    """Draw the facts about the model: a short line, which unfolds to all of them.

    Args:
        model: the model's state.
        of_pass: returns the model's pass, if the page shows it.
        spoken: what the page says.
        beside: what to call the model if the page is about others.
    """
    with st.popover(label(model, beside), icon=icon_of(model), type="tertiary", key="_facts"):
        rows = spoken.facts(lambda: all_facts(model, of_pass()))
        st.html(f'<dl class="facts_list" data-words="facts">{rows}</dl>')


def icon_of(model: ModelState) -> str:
    """The sign of the weights: a ring if random, half full if trained on a task, with a dot if on a language; cells if
    there are attention weights alone.
    """
    if model.array:
        return ":material/grid_on:"
    if model.pretrained:
        return ":material/radio_button_checked:"
    return ":material/contrast:" if model.trained else ":material/radio_button_unchecked:"


def label(model: ModelState, beside: str = "") -> str:
    """The short line of facts: which weights these are, layers × heads."""
    size = f"{model.num_layers} × {model.num_heads}"
    if model.array:
        return f"Attention weights from a file · {size}"
    if not model.is_random:
        called = model.pretrained.badge if model.pretrained else f"Trained on {model.weights}"
        return f"{beside or called} · {size}"
    return f"{beside or 'Random weights'} · seed {model.seed} · {size}"


def no_model() -> None:
    """Say in this place that the page needs no model."""
    st.html(f'<p class="badge">{NO_MODEL}</p>', width="content")


def badge(words: str) -> None:
    """Draw other facts in this place."""
    st.html(f'<p class="badge" data-words="badge">{escape(words)}</p>', width="content")


def all_facts(model: ModelState, this_pass: Pass | None) -> dict[str, str]:
    """All facts about the model, and about its pass if the page shows it: name -> value."""
    if model.array:
        return _about_file(model.array) | ({"Weights on screen": _exactness(this_pass)} if this_pass else {})
    layers, heads = formats.plural(model.num_layers, "layer"), formats.plural(model.num_heads, "head")
    known = _about_weights(model) | {
        "Architecture": model.architecture_name,
        "Size": f"{layers} × {heads}, d_model {model.d_model}, d_ff {formats.count(model.hidden)}",
        "Parameters": formats.count(passes.parameters(model.config)),
        "Tokens": formats.count(model.longest),
    }
    if this_pass:
        known["Computed in"] = formats.duration(this_pass.milliseconds)
        known["Weights on screen"] = _exactness(this_pass)
    return known


def _exactness(this_pass: Pass) -> str:
    return "exact" if this_pass.exact else "pooled: each cell is the largest of its block"


def _about_file(array: AttentionFile) -> dict[str, str]:
    """All that is known of a file of attention weights; there is no model."""
    layers, heads = formats.plural(array.num_layers, "layer"), formats.plural(array.num_heads, "head")
    sentence = {"Sentence": f"{array.item + 1} of the {array.batch} in the file"} if array.batch > 1 else {}
    return {
        "Weights": f"attention weights out of the file {array.file}. {WEIGHTS_ALONE}",
        "Size": f"{layers} × {heads}",
        "Tokens": f"{formats.count(array.length)}. {array.about_tokens}",
        **sentence,
        "Reading": " ".join(array.notes),
    }


def _about_weights(model: ModelState) -> dict[str, str]:
    if known := model.pretrained:
        return {"Weights": known.why_not_there or known.about, "Reads": known.reads}
    run = run_of(model.weights)
    if not model.trained or not run:
        return {"Weights": f"random, drawn from seed {model.seed}: nothing is learned"}
    last, task = run.last, model.trained.about
    how = "loaded from a file" if model.trained.file else f"{formats.plural(last.step, 'step')} from seed {model.seed}"
    return {
        "Weights": f"trained on {model.weights}, {how}",
        "Task": task.about,
        "Held out": f"{formats.percent(last.accuracy, 3)} of {task.accuracy} right, of examples never trained on",
    }
