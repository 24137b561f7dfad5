"""The tensors of a panel in its Download menu: three files, and a table of their names and shapes."""

from functools import partial
from html import escape

import streamlit as st

from tfm_ui.live.tensors.page import page
from tfm_ui.live.tensors.step import Named, Step
from tfm_ui.pictures.panel import Files
from tfm_ui.text import formats, units
from tfm_ui.text.markdown import escape_markdown

OCTETS = "application/octet-stream"


def draw(step: Step, name: str, key: str) -> None:
    """Draw the tensors of a step in a menu: a button for each file, and the table.

    Args:
        step: the tensors.
        name: of the files, without their endings.
        key: of the panel.
    """
    st.caption(f"**Tensors** of what is computed here: {escape_markdown(step.title)}")
    with st.container(horizontal=True, gap="small", key=f"tensors_{key}"):
        for kind, (what, content, mime) in files(step, f"{name}.npz").items():
            st.download_button(
                f".{kind}",
                content,
                f"{name}.{kind}",
                mime,
                help=what,
                icon=":material/download:",
                on_click="ignore",
                key=f"{kind}_{key}",
            )
    st.html(table(step))


def files(step: Step, npz: str) -> Files:
    """The files of a step by their endings; they are made when they are asked for.

    Args:
        step: the tensors.
        npz: the name of the first file, which the page of torch reads.
    """
    return {
        "npz": ("For NumPy", step.npz, OCTETS),
        "safetensors": ("The same, for torch and others", step.safetensors, OCTETS),
        "py": ("Plain torch: makes each tensor again", partial(page, step, npz), "text/x-python"),
    }


def table(step: Step) -> str:
    """How many tensors there are; names, shapes and a few words on each, as HTML, with the code that makes it of those
    before; what the files leave out.
    """
    head = "<thead><tr><th>tensor</th><th>shape</th><th>what it is</th></tr></thead>"
    body = "".join(_row(tensor, is_kept=tensor in step.kept) for tensor in step.tensors)
    size = units.bytes_of(sum(tensor.size for tensor in step.kept))
    about = (
        f"{formats.plural(len(step.kept), 'tensor')}, {size}. The .py needs torch and NumPy alone, and the .npz beside "
        f"it: it makes {len(step.computed)} of them again from those before, and compares."
    )
    notes = " ".join(filter(None, [about, step.note, step.why_left_out()]))
    return (
        f'<div class="take-along"><p class="note">{escape(notes)}</p><table>{head}<tbody>{body}</tbody></table></div>'
    )


def _row(tensor: Named, *, is_kept: bool) -> str:
    about = escape(tensor.about if is_kept else f"{tensor.about} (not in the files)")
    if tensor.code:
        about += f": <samp>{escape(tensor.code)}</samp>"
    name, shape = f"<samp>{escape(tensor.name)}</samp>", escape(tensor.shape_in_words)
    return f'<tr><th scope="row">{name}</th><td>{shape}</td><td>{about}</td></tr>'
