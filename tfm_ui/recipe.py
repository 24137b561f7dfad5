"""The picture on screen as a few lines of plain Python: the numbers can be had, and checked, without the app."""

from tfm_ui.model_state import ModelState


def recipe(state: ModelState, site: str, head: int) -> str:
    """A script that needs tfm_core alone and leaves the shown weights in `weights`, (query, key).

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
    lines = [
        "import torch",
        "from tfm_core import Transformer, TransformerConfig, causal_mask, encode, recording",
        "",
        "torch.set_num_threads(1)  # as the app does: the last digit depends on it",
        f"config = TransformerConfig({', '.join(f'{name}={value!r}' for name, value in changed.items())})",
        f"source = encode({state.text!r}, {state.tokenizer!r}, {state.seq_len})",
    ]
    if state.is_encoder_decoder:
        lines.append(f"target = encode({state.target!r}, {state.tokenizer!r}, {len(state.target_tokens.ids)})")
    if state.masks_the_future:
        inputs.append(f"mask=causal_mask({state.seq_len})")
    lines += [
        "model = Transformer(config).eval()",
        'with torch.no_grad(), recording("*.weights") as trace:',
        f"    logits = model({', '.join(inputs)})",
        f'weights = trace["{site}"][0, {head}]  # (query, key)',
    ]
    return "\n".join(lines)
