"""What lessons measure in the view "tokens"."""

from collections.abc import Callable, Mapping

from tfm_core.language.translations import TRANSLATIONS
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.lenses.model.tokens import questions
from tfm_ui.lenses.model.tokens.alike import TokensAlike
from tfm_ui.lenses.model.tokens.batch import TokensBatch
from tfm_ui.lenses.model.tokens.languages import ENGLISH, TokensLanguages
from tfm_ui.lenses.model.tokens.pieces import TokensPieces
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.token_labels import named


def cut_tokens(model: ModelState, state: ModelLensState) -> int:
    """How many tokens the chosen tokenizer makes of the text, without special ones."""
    return len(TokensPieces(model, state).mine.ids)


def cut_piece(model: ModelState, state: ModelLensState) -> str:
    """The piece whose history is told; "" of an empty text."""
    panel = TokensPieces(model, state)
    return named(panel.mine.pieces[panel.at]) if panel.at >= 0 else ""


def cut_merges(model: ModelState, state: ModelLensState) -> int:
    """How many merges of byte pairs made the chosen piece; 0 if none did."""
    return questions.merges_of(model, state)


def cut_typed(model: ModelState, state: ModelLensState) -> str:
    """Whether the chosen tokenizer reads a special token in the text: "text" or "the special token"."""
    return questions.is_special(model, state)


def cut_looks_alike(model: ModelState, state: ModelLensState) -> bool:
    """Whether the text and the second one look alike and are not the same."""
    return TokensAlike(model, state).are_twins


def cut_english(model: ModelState, state: ModelLensState) -> int:
    """How many tokens the chosen tokenizer makes of the English one of the five texts."""
    panel = TokensLanguages(model, state)
    return int(panel.counts[[*TRANSLATIONS].index(ENGLISH), panel.names.index(panel.chosen)])


def cut_thai(model: ModelState, state: ModelLensState) -> int:
    """How many tokens it makes of the Thai one."""
    return questions.tokens_of_thai(model, state)


def batch_places(model: ModelState, state: ModelLensState) -> int:
    """How many places each row of the batch has."""
    return TokensBatch(model, state).length


def batch_read(model: ModelState, state: ModelLensState) -> int:
    """What the attention mask of the row with fewer tokens sums to."""
    return questions.mask_of_shorter(model, state)


def batch_cut(model: ModelState, state: ModelLensState) -> int:
    """How many tokens of the batch had no room within max_length."""
    return questions.tokens_cut(model, state)


def batch_second_types(model: ModelState, state: ModelLensState) -> int:
    """How many places of the first row are of token type 1."""
    return sum(TokensBatch(model, state).rows[0].types)


OF_TOKENS: Mapping[str, Callable[[ModelState, ModelLensState], float | str]] = {
    measure.__name__: measure
    for measure in (
        batch_cut,
        batch_places,
        batch_read,
        batch_second_types,
        cut_english,
        cut_looks_alike,
        cut_merges,
        cut_piece,
        cut_thai,
        cut_tokens,
        cut_typed,
    )
}
