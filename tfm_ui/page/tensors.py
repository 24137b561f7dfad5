"""The tensors of a panel in its Download menu: three files, and a table of their names and shapes. Pure."""

from functools import partial
from html import escape

from tfm_ui.live.tensors.page import page
from tfm_ui.live.tensors.step import Named, Step
from tfm_ui.pictures.panel import Files
from tfm_ui.text import formats

OCTETS = "application/octet-stream"


def files(step: Step, npz: str) -> Files:
    """The files of a step, which are made when they are asked for.

    Args:
        step: the tensors.
        npz: the name of the first file, which the page of torch reads.
    """
    tensors = formats.plural(len(step.kept), "tensor")
    return {
        "NPZ": (f"{tensors}, for NumPy", step.npz, OCTETS),
        "safetensors": ("the same, for torch and others", step.safetensors, OCTETS),
        "PY": ("how plain torch makes them, with the .npz beside it", partial(page, step, npz), "text/x-python"),
    }


def table(step: Step) -> str:
    """Names, shapes and a few words on each tensor, as HTML; what the files leave out is said below."""
    head = "<thead><tr><th>tensor</th><th>shape</th><th>what it is</th></tr></thead>"
    body = "".join(_row(tensor, is_kept=tensor in step.kept) for tensor in step.tensors)
    notes = " ".join(filter(None, [step.note, step.why_left_out()]))
    note = f'<p class="note">{escape(notes)}</p>' if notes else ""
    caption = f"<caption>{escape(step.title)}</caption>"
    return f'<div class="take-along"><table class="schemes">{caption}{head}<tbody>{body}</tbody></table>{note}</div>'


def _row(tensor: Named, *, is_kept: bool) -> str:
    about = tensor.about if is_kept else f"{tensor.about} (not in the files)"
    return (
        f'<tr><th scope="row"><code>{escape(tensor.name)}</code></th>'
        f'<td data-label="shape"><div>{escape(tensor.shape_in_words)}</div></td>'
        f'<td data-label="what it is"><div>{escape(about)}</div></td></tr>'
    )
