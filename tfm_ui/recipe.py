"""The picture on screen as a few lines of plain Python: the numbers can be had, and checked, without the app."""

from tfm_ui.model_state import ModelState
from tfm_ui.samples import path, sample_name


def recipe(state: ModelState, site: str, head: int) -> str:
    """A script that needs tfm_core alone and leaves the shown weights in `weights`, (query, key).

    It is run from the project's folder, where it finds the sample texts.

    Args:
        state: the model panel.
        site: `layers.0.self_attention.weights`, say.
        head: from 0.
    """
    config = state.config
    fields = {name: getattr(config, name) for name in config.__dataclass_fields__}
    default = type(config)(vocab_size=config.vocab_size)
    changed = {k: v for k, v in fields.items() if k == "vocab_size" or v != getattr(default, k)}
    inputs = ["source.batch"] + (["target.batch"] if state.is_encoder_decoder else [])
    source, target = _text(state.text), _text(state.target)
    lines = [
        "import torch",
        "from tfm_core import Transformer, TransformerConfig, causal_mask, encode, recording",
        "",
        "torch.set_num_threads(1)  # as the app does: the last digit depends on it",
        f"config = TransformerConfig({', '.join(f'{name}={value!r}' for name, value in changed.items())})",
        f"source = encode({source}, {state.tokenizer!r}, {state.seq_len})",
    ]
    if state.is_encoder_decoder:
        lines.append(f"target = encode({target}, {state.tokenizer!r}, {len(state.target_tokens.ids)})")
    if state.masks_the_future:
        inputs.append(f"mask=causal_mask({state.seq_len})")
    lines += [
        "model = Transformer(config).eval()",
        'with torch.no_grad(), recording("*.weights") as trace:',
        f"    logits = model({', '.join(inputs)})",
        f'weights = trace["{site}"][0, {head}]  # (query, key)',
    ]
    if sample_name(state.text) or (state.is_encoder_decoder and sample_name(state.target)):
        lines.insert(0, "from pathlib import Path\n")
    return "\n".join(lines)


def _text(text: str) -> str:
    """The expression for a text: itself, or its sample's file."""
    name = sample_name(text)
    return f'Path({path(name)!r}).read_text(encoding="utf-8").rstrip("\\n")' if name else repr(text)
