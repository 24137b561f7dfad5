"""Which model the diagram shows: the sidebar's, live, or a shape that is only counted."""

from dataclasses import replace

from tfm_core import TransformerConfig, block_costs, stack_blocks
from tfm_core.study.blocks import Block
from tfm_ui.lenses.model.diagram.shapes import OWN, SHAPES, THIS, Chosen, Counted
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live.cache import cached
from tfm_ui.state.fields import controls_of
from tfm_ui.state.model_state import ModelState

OWN_SHAPE = ("own_d_model", "own_heads", "own_layers", "own_d_ff", "own_words")
ABOUT_OWN = "Your numbers stand in “More”; the kind of model is the sidebar’s."
LLAMA = (
    "These are the numbers of LLaMA 7B (Touvron et al. 2023), which has 6,738,415,616 parameters: its feed-forward "
    "network is gated, its output has a matrix of its own, and it has no biases."
)


def chosen(model: ModelState, state: ModelLensState) -> Chosen:
    """What the link asks for."""
    if state.shape == THIS:
        config = state.config(model)
        lengths = _lengths(config, len(model.source_tokens.ids), len(model.target_tokens.ids))
        return Chosen(config, lengths)
    if shape := SHAPES.get(state.shape):
        return Chosen(shape.config, _lengths(shape.config, shape.tokens, shape.tokens), shape, live=False)
    assert state.shape == OWN
    config, note = _own(state.config(model), state)
    told = " ".join(filter(None, [ABOUT_OWN, LLAMA if _is_llama(state) else "", note]))
    return Chosen(config, _lengths(config, state.own_tokens, state.own_tokens), live=False, note=told)


def _is_llama(state: ModelLensState) -> bool:
    """Whether the reader's numbers are the ones that stand there at first."""
    fields = controls_of(ModelLensState)
    return all(getattr(state, name) == fields[name][1] for name in OWN_SHAPE)


def _lengths(config: TransformerConfig, source: int, target: int) -> dict[str, int]:
    both = config.architecture == "encoder-decoder"
    return {"encoder": source, "decoder": target} if both else {config.architecture: source}


def _own(config: TransformerConfig, state: ModelLensState) -> tuple[TransformerConfig, str]:
    """The reader's numbers in the sidebar's kind of model, and what had to give way."""
    width, asked = state.own_d_model, state.own_heads
    heads = max(number for number in range(1, min(asked, width) + 1) if width % number == 0)
    note = "" if heads == asked else f"{asked} heads do not divide d_model {width}: {heads} are counted. "
    made = replace(
        config,
        vocab_size=state.own_words,
        d_model=width,
        num_heads=heads,
        num_layers=state.own_layers,
        d_ff=state.own_d_ff,
        max_len=max(state.own_tokens, config.max_len),
        positional="none",
    )
    try:
        with_positions = replace(made, positional=config.positional)
        counted_blocks(with_positions, 0)
    except ValueError as problem:
        return made, f"{note}Counted without positions: {problem}."
    return with_positions, note.strip()


@cached()
def counted_blocks(config: TransformerConfig, classes: int) -> dict[str, list[Block]]:
    """Stack -> its blocks, counted on torch's meta device."""
    return stack_blocks(config, classes)


def counted(shown: Chosen) -> dict[str, list[Counted]]:
    """Stack -> its blocks with what each costs, from the tokens to its end."""
    source = shown.lengths.get("encoder", 0)
    return {
        stack: [
            Counted(block, block_costs(block, shown.config, shown.lengths[stack], source, shown.classes))
            for block in blocks
        ]
        # Which weights there are makes no difference: while the seed changes, nothing is counted again.
        for stack, blocks in counted_blocks(replace(shown.config, seed=0), shown.classes).items()
    }
