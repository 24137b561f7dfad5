"""The view "tokens": a text cut in several ways, in five languages, and as a batch."""

from tfm_ui.lenses.model.state import PREFIX, ModelLensState
from tfm_ui.lenses.model.tokens.alike import TokensAlike
from tfm_ui.lenses.model.tokens.batch import TokensBatch
from tfm_ui.lenses.model.tokens.languages import TokensLanguages, TokensTexts
from tfm_ui.lenses.model.tokens.pieces import TokensPieces
from tfm_ui.lenses.model.tokens.questions import QUESTIONS
from tfm_ui.lenses.model.tokens.schemes import TokensPanel
from tfm_ui.lenses.model.tokens_fields import YOURS, installed
from tfm_ui.page import controls, controls_line
from tfm_ui.page.lens import View, nothing_named
from tfm_ui.pictures.panel import Note
from tfm_ui.state.model_state import ModelState

PICTURES: dict[str, type[TokensPanel]] = {
    "pieces": TokensPieces,
    "languages": TokensLanguages,
    "batch": TokensBatch,
}


def _main(model: ModelState, state: ModelLensState) -> TokensPanel:
    """The picture that was chosen."""
    return PICTURES[state.show](model, state)


def _ours(model: ModelState, state: ModelLensState) -> str:
    """What the languages are made from."""
    return "Made from one text of this project in five languages." if state.show == "languages" else ""


def _another(model: ModelState, state: ModelLensState) -> Note | None:
    """A note that the chosen tokenizer is not here, and which one is shown."""
    if (shown := _main(model, state).chosen) == state.cut:
        return None
    why = (
        "No model of your own is chosen in the sidebar" if state.cut == YOURS else f"{state.cut} is not installed here"
    )
    return Note(f"{why}, so the tokenizer of {shown} is shown.")


def _below(model: ModelState, state: ModelLensState) -> TokensPanel | Note | None:
    """What belongs to it: the texts of the languages; what a text looks like."""
    if state.show == "languages":
        return TokensTexts(model, state)
    if state.show != "pieces":
        return None
    alike = TokensAlike(model, state)
    return alike if alike.is_shown else alike.instead()


def _controls(model: ModelState) -> ModelLensState:
    """Which picture, which tokenizer, and what belongs to that picture; the second text behind a button."""
    line = controls_line.row("line_model_tokens")
    state = controls_line.draw(ModelLensState, PREFIX, model, line, "show", "cut")
    others = ["others"] if installed() else []
    names = {"pieces": others, "languages": ["measure", *others], "batch": ["row_length", "paired"]}[state.show]
    controls_line.draw(ModelLensState, PREFIX, model, line, *names)
    if state.show != "languages":
        controls.draw(ModelLensState, "second", controls_line.more(line, "Second text"), prefix=PREFIX)
    return controls.current(ModelLensState, PREFIX, ModelLensState.limits(model))


VIEW = View(
    title="Tokens",
    shows=[_main, _another, _below],
    also=[*PICTURES.values(), TokensAlike, TokensTexts],
    controls=_controls,
    reads=nothing_named,
    reads_instead=_ours,
    questions=QUESTIONS,
)
