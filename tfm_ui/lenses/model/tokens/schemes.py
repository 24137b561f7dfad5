"""Which schemes cut the text on screen, and what comes of it; what all panels of this view share."""

import numpy as np

from tfm_core.language.cutting import Cut, Scheme, words_in
from tfm_core.pretrained.registered import registered
from tfm_core.pretrained.schemes import ALWAYS, of_model, scheme_of
from tfm_ui.lenses.model.machine import ModelPanel
from tfm_ui.lenses.model.tokens_fields import YOURS, installed, names_of
from tfm_ui.live.cache import cached, never
from tfm_ui.live.memory import LITTLE
from tfm_ui.live.script import YOURS as FOLDER
from tfm_ui.live.script import Code
from tfm_ui.state.fields import controls_of
from tfm_ui.state.model_state import ModelState

IGNORED = frozenset(controls_of(ModelState)) - {"text", "weights"}
A_SIGN = 600  # bytes that a character takes at most while it is cut by all schemes


def needs(model: ModelState, _: object = None) -> int:
    """The bytes that a picture of this view takes at most: a text's tokens by all schemes."""
    return LITTLE + A_SIGN * len(model.read_text)


def scheme(name: str, weights: str) -> Scheme:
    """A scheme by its name; YOURS is that of the model with these weights."""
    return of_model(registered(weights), YOURS) if name == YOURS else scheme_of(name)


@cached(heavy=never)
def cut(name: str, weights: str, text: str) -> Cut:
    """A text, cut by a scheme."""
    return scheme(name, weights if name == YOURS else "").cut(text)


def scheme_code(name: str, weights: str) -> Code:
    """The expression for a scheme in a script."""
    if name == YOURS:
        return Code(f"of_model(registered(register({FOLDER!r}, {weights!r}).weights), {YOURS!r})", of_model, registered)
    return Code(f"scheme_of({name!r})", scheme_of)


class TokensPanel(ModelPanel):
    """A panel about texts as tokens."""

    ignores = IGNORED
    needs = needs

    @property
    def chosen(self) -> str:
        """The scheme that is looked at: the one that was chosen, if it is there."""
        return self.state.cut if self.state.cut in names_of(self.model) else "Lab GPT"

    @property
    def names(self) -> tuple[str, ...]:
        """The schemes that stand side by side: those that are always there, the chosen one, installed ones if asked."""
        wished = {self.chosen, *(installed() if self.state.others else ())}
        return tuple(name for name in names_of(self.model) if name in ALWAYS or name in wished)

    @property
    def text(self) -> str:
        """The text of the sidebar, as it is read."""
        return self.model.read_text

    def scheme(self, name: str) -> Scheme:
        """A scheme by its name."""
        return scheme(name, self.model.weights)

    def cut(self, name: str, text: str | None = None) -> Cut:
        """The text, or another, cut by a scheme."""
        return cut(name, self.model.weights if name == YOURS else "", self.text if text is None else text)


def measured(text: str, tokens: int) -> dict[str, float]:
    """Tokens, tokens a word and a character, bytes a token; NaN where there is nothing to divide by."""
    words, size = words_in(text), len(text.encode("utf-8", "surrogatepass"))

    def by(number: float, of: float) -> float:
        return number / of if of else np.nan

    return {
        "tokens": float(tokens),
        "tokens a word": by(tokens, words),
        "tokens a character": by(tokens, len(text)),
        "bytes a token": by(size, tokens),
    }


def gives_back(scheme: Scheme, text: str, pieces: tuple[str, ...]) -> bool:
    """Whether a scheme's tokens, joined, are the text again."""
    return scheme.join(pieces) == text
