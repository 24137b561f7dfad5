"""Scripts that give the numbers of the views "model" and "fault" in a plain Python shell."""

from tfm_ui.lenses.positions.in_model.numbers import PLAIN, InModel
from tfm_ui.lenses.positions.in_model.shuffle import OPEN, Shuffle
from tfm_ui.live import passes
from tfm_ui.live.recipe import script
from tfm_ui.state.model_state import ModelState


def site_of(model: ModelState, layer: int, what: str) -> str:
    """Of the self-attention that the views look at; layer from 0."""
    return passes.place(model, "encoder" if model.is_encoder_decoder else "self").format(layer=layer, what=what)


def end_of(model: ModelState) -> str:
    """The site behind the last layer of the stack that reads the text."""
    start = "encoder." if model.is_encoder_decoder else ""
    last = f"layers.{model.num_layers - 1}.feed_forward.residual_after"
    return start + ("final_norm" if model.norm == "pre" else last)


def inputs_of(model: ModelState, source: str = "source.batch", target: str = "target.batch") -> str:
    """What the model is called with."""
    inputs = [source] + [target] * model.is_encoder_decoder
    return ", ".join(inputs + [f"mask=causal_mask({model.seq_len})"] * model.masks_the_future)


def maps_recipe(seen: InModel) -> str:
    """Leaves `weights` and `scores`, scheme -> (query, key)."""
    model, head = seen.model, seen.state.model_head - 1
    weights, scores = (site_of(model, seen.state.layer - 1, what) for what in ("weights", "scores"))
    return script(
        model,
        "weights, scores = {}, {}",
        f"for name in {tuple(seen.heads)}:",
        "    model = Transformer(replace(config, positional=name)).eval()",
        f'    with torch.no_grad(), recording(["{weights}", "{scores}"]) as trace:',
        f"        model({inputs_of(model)})",
        f'    weights[name] = trace["{weights}"][0, {head}]  # (query, key)',
        f'    scores[name] = trace["{scores}"][0, {head}]  # before the mask',
        imports=["from dataclasses import replace"],
    )


def distance_recipe(seen: InModel) -> str:
    """Leaves `found`, scheme -> what `mean_by_distance` gives."""
    read, back = len(seen.model.source_tokens.pieces), seen.model.looks_back_only and not seen.model.is_encoder_decoder
    lines = [
        "from tfm_core.study.analysis import mean_by_distance",
        f"visible = torch.arange({seen.model.seq_len}) < {read} + torch.zeros({seen.model.seq_len}, 1)  # no padding",
        f"visible[{read}:] = False",
        *["visible &= causal_mask(len(visible))"] * back,
        "found = {name: mean_by_distance(x, visible) for name, x in scores.items()}",
    ]
    return "\n".join([maps_recipe(seen), *lines])


def shuffle_recipe(seen: Shuffle) -> str:
    """Leaves `share`, row -> how far each token's output moved."""
    model, read = seen.model, len(seen.order)
    schemes = tuple(name for name in seen.rows if name != OPEN)
    masked = f" if name != {OPEN!r} else None" if model.masks_the_future else ""  # else a decoder's own mask, or none
    free = [f'configs[{OPEN!r}] = replace(config, positional="{PLAIN}", architecture="encoder")'] * seen.masked
    return script(
        model,
        f"order = shuffle_order(source.ids[:{read}], {seen.state.shuffle})",
        "ids = source.batch.clone()",
        f"ids[0, :{read}] = source.batch[0, order]",
        "share = {}",
        f"configs = {{name: replace(config, positional=name) for name in {schemes}}}",
        *free,
        "for name, config in configs.items():",
        "    model, ends = Transformer(config).eval(), []",
        "    for tokens in (source.batch, ids):",
        f'        with torch.no_grad(), recording("{end_of(model)}") as trace:',
        f"            model({inputs_of(model, 'tokens')}{masked})",
        f'        ends.append(trace["{end_of(model)}"][0, :{read}])',
        "    share[name] = moved(*ends, order)",
        imports=["from dataclasses import replace", "from tfm_core.study.order import moved, shuffle_order"],
    )
