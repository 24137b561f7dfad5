"""The picture on screen as a few lines of plain Python: the numbers can be had, and checked, without the app."""

from collections.abc import Collection, Sequence

from tfm_ui.state.model_state import ModelState
from tfm_ui.state.samples import path, sample_name


def recipe(state: ModelState, site: str, head: int) -> str:
    """A script that needs tfm_core alone and leaves the shown weights in `weights`, (query, key).

    Args:
        state: the model panel.
        site: `layers.0.self_attention.weights`, say.
        head: from 0.
    """
    return script(state, weights_of(site, head))


def weights_of(site: str, head: int) -> str:
    """The last line of most scripts."""
    return f'weights = trace["{site}"][0, {head}]  # (query, key)'


def script(
    state: ModelState,
    *end: str,
    imports: Sequence[str] = (),
    before: Sequence[str] = (),
    tensors: Collection[str] = (),
    recorded: str = '"*.weights"',
    given: str | None = None,
) -> str:
    """A script that runs the model once, then these lines. It is run from the project's folder, where the texts are.

    It holds the user's text, which may look like any part of it: what varies is said here, never replaced afterwards.

    Args:
        state: the model panel.
        end: lines that read the recording, `trace`.
        imports: lines, beside those that every script has.
        before: lines between the texts and the model.
        tensors: "source", "target": the texts that `before` made tensors of.
        recorded: the arguments of `recording`.
        given: the model's arguments behind its texts; by default the sidebar's mask, if there is one.
    """
    config = state.config
    fields = {name: getattr(config, name) for name in config.__dataclass_fields__}
    default = type(config)(vocab_size=config.vocab_size)
    changed = {k: v for k, v in fields.items() if k == "vocab_size" or v != getattr(default, k)}
    texts = {"source": (state.text, state.seq_len)}
    if state.is_encoder_decoder:
        texts["target"] = (state.target, len(state.target_tokens.ids))
    inputs = [text if text in tensors else f"{text}.batch" for text in texts]
    if given is not None:
        inputs.append(given)
    elif state.masks_the_future:
        inputs.append(f"mask=causal_mask({state.seq_len})")
    samples = any(sample_name(text) for text, _ in texts.values())
    lines = [
        *["from pathlib import Path\n"] * samples,
        "import torch",
        "from tfm_core import Transformer, TransformerConfig, causal_mask, encode, recording",
        *imports,
        "",
        "torch.set_num_threads(1)  # as the app does: the last digit depends on it",
        f"config = TransformerConfig({', '.join(f'{name}={value!r}' for name, value in changed.items())})",
        *(f"{name} = encode({text_of(text)}, {state.tokenizer!r}, {count})" for name, (text, count) in texts.items()),
        *before,
        "model = Transformer(config).eval()",
        f"with torch.no_grad(), recording({recorded}) as trace:",
        f"    logits = model({', '.join(inputs)})",
        *end,
    ]
    return "\n".join(lines)


def text_of(text: str) -> str:
    """The expression for a text: itself, or its sample's file."""
    name = sample_name(text)
    return f'Path({path(name)!r}).read_text(encoding="utf-8").rstrip("\\n")' if name else repr(text)
