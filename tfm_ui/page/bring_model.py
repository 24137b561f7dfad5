"""The box for a model that a visitor brings: a checkpoint's files, or one zip of them, or on one's own machine a path.

It is read once, by the callback of the box, and kept on this server under a name that nobody can guess
(tfm_ui/store/models.py). The link holds that name.
"""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import streamlit as st
from streamlit.typing import UploadedFile

from tfm_core.pretrained import Pretrained, read
from tfm_core.pretrained.archive import KEPT, SHARD, unpack
from tfm_ui.page import controls, upload
from tfm_ui.settings import SETTINGS
from tfm_ui.store import models
from tfm_ui.store.store import StoreAway
from tfm_ui.text.markdown import escape_markdown
from tfm_ui.visitors.turn import turn_to_compute

FILES, PATH, PROBLEM = "_bring_files", "_bring_path", "_bring_problem"
LABEL = "A model: config.json, model.safetensors and tokenizer.json, or one zip of them, or a .gguf"
PATH_LABEL = "Or a path on this machine: a folder, a .gguf file, or a name in Hugging Face’s cache, such as gpt2"
FAMILIES = "Families: GPT-2, BERT, DistilBERT, RoBERTa, Llama, SmolLM2, Mistral, Qwen2."
OFF = "This server takes no models of its visitors, by its setting ATTENTION_LAB_MODEL_MB."


def draw() -> None:
    """Draw the boxes, and what a visitor should know before giving files away."""
    if not SETTINGS.model_bytes:
        st.caption(escape_markdown(OFF))
        return
    most = min(SETTINGS.model_bytes, SETTINGS.file_bytes_per_tab)
    st.file_uploader(
        LABEL,
        accept_multiple_files=True,
        max_upload_size=max(1, most // 1_000_000),
        key=FILES,
        on_change=_files_changed,
    )
    if SETTINGS.preset == "local":
        st.text_input(PATH_LABEL, key=PATH, on_change=_path_changed)
    if problem := st.session_state.get(PROBLEM):
        st.error(escape_markdown(problem), icon=":material/error:")
    st.caption(escape_markdown(f"{FAMILIES} {upload.SEEN_BY.format(what='the model')}"))


def _files_changed() -> None:
    """Files were chosen, or taken back."""
    files: list[UploadedFile] = st.session_state[FILES]
    st.session_state.pop(PROBLEM, None)
    if not _is_whole(files):
        return
    try:
        with upload.in_turn(FILES, max(files, key=lambda file: file.size)), TemporaryDirectory() as made:
            _take_in(read(_written(files, Path(made))))
    except (ValueError, OSError, StoreAway) as problem:
        st.session_state[PROBLEM] = f"{upload.name_of(files[0])}: {problem}" if len(files) == 1 else str(problem)


def _path_changed() -> None:
    """A path was typed."""
    typed = st.session_state[PATH].strip()
    st.session_state.pop(PROBLEM, None)
    if not typed:
        return
    try:
        with turn_to_compute(heavy=True):
            _take_in(read(typed))
    except (ValueError, OSError, StoreAway) as problem:
        st.session_state[PROBLEM] = str(problem)


def _take_in(checkpoint: Pretrained) -> None:
    """Keep a model, and show it."""
    controls.set_parameters({"weights": models.keep(checkpoint)})


def _is_whole(files: Sequence[UploadedFile]) -> bool:
    """Whether there is something to read: files of one checkpoint are often chosen one after the other."""
    names = {file.name for file in files}
    if any(name.endswith((".zip", ".gguf")) for name in names):
        return True
    weights = any(name.endswith(".safetensors") for name in names)
    return len(names) > 1 and weights and "config.json" in names and "tokenizer.json" in names


def _written(files: Sequence[UploadedFile], folder: Path) -> Path:
    """The files in a folder, under the names that a checkpoint's files have; others are left out."""
    for file in reversed(files):  # of several archives, the one that was chosen last
        if file.name.endswith(".zip"):
            return unpack(file, folder / "unpacked", most=SETTINGS.model_bytes)
        if file.name.endswith(".gguf"):
            (folder / "model.gguf").write_bytes(file.getbuffer())
            return folder / "model.gguf"
        if file.name in KEPT or SHARD.fullmatch(file.name):
            (folder / file.name).write_bytes(file.getbuffer())
    return folder
