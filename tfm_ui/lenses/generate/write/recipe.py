"""The view's script: the same text in plain Python."""

from collections.abc import Mapping, Sequence

from tfm_core import Sampling, Transformer, TransformerConfig, beam_search, generate
from tfm_core.model.tokens import Tokenizer
from tfm_ui.lenses.generate.courses import prompt_of
from tfm_ui.live.script import Code, config_of, script, tokenizer_of
from tfm_ui.state.model_state import ModelState


def write(
    *,
    config: TransformerConfig,
    tokenizer: Tokenizer,
    prompt: Sequence[int],
    sampling: Sampling,
    steps: int,
    forced: Mapping[int, int],
    context: int,
    when_full: str,
) -> str:
    """The text that is written after the prompt."""
    model = Transformer(config).eval()
    course = generate(model, prompt, sampling, steps=steps, forced=forced, context=context, when_full=when_full)
    tokens = [step.token for step in course]
    text = tokenizer.join([tokenizer.pieces[token] for token in tokens])
    return text


def tokenizer_itself(model: ModelState) -> Code:
    """The expression for the tokenizer itself: other recipes name those of the table by their key."""
    named = tokenizer_of(model)
    return Code(f"TOKENIZERS[{named}]") if named == repr(model.tokenizer) else named


def search(*, config: TransformerConfig, tokenizer: Tokenizer, prompt: Sequence[int], width: int, steps: int) -> str:
    """The best text of a beam search after the prompt."""
    model = Transformer(config).eval()
    beams = beam_search(model, prompt, width=width, steps=steps)
    text = tokenizer.join([tokenizer.pieces[token] for token in beams.texts[0].tokens])
    return text


def recipe_of_beams(model: ModelState, width: int, steps: int) -> str:
    """The script of a search."""
    return script(
        search,
        config=config_of(model),
        tokenizer=tokenizer_itself(model),
        prompt=list(prompt_of(model)),
        width=width,
        steps=steps,
    )
