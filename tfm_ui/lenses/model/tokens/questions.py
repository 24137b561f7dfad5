"""Questions of the view "tokens"."""

from tfm_core.language.translations import TRANSLATIONS
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.lenses.model.tokens.alike import TokensAlike
from tfm_ui.lenses.model.tokens.batch import TokensBatch
from tfm_ui.lenses.model.tokens.languages import ENGLISH, TokensLanguages
from tfm_ui.lenses.model.tokens.pieces import TokensPieces
from tfm_ui.page.questions import Prediction, Question
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, units

PIECES, LANGUAGES, BATCH = "model_tokens_pieces", "model_tokens_languages", "model_tokens_batch"
WHALE = "The whale was a leviathan, and the whalers were revolutionaries."
TYPED = "Please answer: [CLS] is not a command, and <|start|> neither."
TWIN = "p\u0430ypal"
THAI = "Thai"


def merges_of(model: ModelState, state: ModelLensState) -> int:
    """How many merges made the chosen piece; 0 where it was merged of nothing."""
    history = TokensPieces(model, state).history
    if not history or not history.merges:
        return 0
    start, end = history.span
    return sum(start <= merge.start and merge.end <= end for merge in history.merges)


def how_it_came_about(model: ModelState, state: ModelLensState) -> str:
    """The merges of the chosen piece, or what was done in place of merging."""
    panel = TokensPieces(model, state)
    if panel.at < 0:
        return "There is no piece: the text is empty."
    told = panel.picture()[0]["history"]
    if not merges_of(model, state):
        return f"{told['title']}: no merges made it. {told['about']}"
    notes = [f"{' '.join(step['parts'])} ({step['note']})" for step in told["steps"]]
    return f"{told['title']}. {told['about']} Step by step: {'; '.join(notes)}."


def is_special(model: ModelState, state: ModelLensState) -> str:
    """Whether a typed name of a special token is that token."""
    panel = TokensPieces(model, state)
    special = {number for number, name in panel.scheme(panel.chosen).special.items() if name != "[UNK]"}
    return "the special token" if special & set(panel.mine.ids) else "text"


def what_was_typed(model: ModelState, state: ModelLensState) -> str:
    """What became of the typed names."""
    panel = TokensPieces(model, state)
    return panel.about_typed() or f"No name of a special token stands in the text. {panel.sentence()}"


def tokens_of_thai(model: ModelState, state: ModelLensState) -> int:
    """How many tokens the chosen tokenizer needs for the Thai text."""
    panel = TokensLanguages(model, state)
    return int(panel.counts[[*TRANSLATIONS].index(THAI), panel.names.index(panel.chosen)])


def what_thai_costs(model: ModelState, state: ModelLensState) -> str:
    """Thai beside English, by the chosen tokenizer and by bytes."""
    panel = TokensLanguages(model, state)
    size = len(TRANSLATIONS[THAI].encode())
    return (
        f"{panel.chosen} needs {formats.count(tokens_of_thai(model, state))} tokens for the {THAI} text, "
        f"{units.times(panel.times(THAI, panel.chosen))} as many as for the {ENGLISH} one; UTF-8 needs "
        f"{formats.count(size)} bytes for it. A tokenizer merges what was frequent in the texts that it has read: what "
        "it has never met stays in small parts, or becomes the unknown token, which says nothing any more."
    )


def mask_of_shorter(model: ModelState, state: ModelLensState) -> int:
    """What the attention mask of the shorter row sums to."""
    return min(sum(row.mask) for row in TokensBatch(model, state).rows)


def what_is_padded(model: ModelState, state: ModelLensState) -> str:
    """Masks, padding and what was cut."""
    return TokensBatch(model, state).sentence()


def what_is_cut(model: ModelState, state: ModelLensState) -> str:
    """Which pieces had no room in pairs, and the token types."""
    panel = TokensBatch(model, state)
    ones = [sum(row.types) for row in panel.rows]
    counts = formats.listed([formats.count(count) for count in ones])
    return f"{panel.sentence()} In the rows, {counts} places are of type 1."


def tokens_cut(model: ModelState, state: ModelLensState) -> int:
    """How many tokens of the batch had no room."""
    return TokensBatch(model, state).cut_off


def do_they_look_alike(model: ModelState, state: ModelLensState) -> str:
    """Whether both texts look alike, and where they differ."""
    return TokensAlike(model, state).sentence()


def same_ids(model: ModelState, state: ModelLensState) -> str:
    """Whether the chosen tokenizer gives both texts the same ids."""
    panel = TokensAlike(model, state)
    same = panel.cut(panel.chosen).ids == panel.cut(panel.chosen, state.second).ids
    return "the same ids" if same else "other ids"


HIDDEN = (PIECES, "model_tokens_alike")
QUESTIONS = (
    Question(
        "Merges in order",
        "These byte pairs were learned from “Moby Dick”, too. How did the piece “ whale” come about? Click others.",
        how_it_came_about,
        Prediction(ask="How many merges made it?", measured=merges_of, hides=(f"{PIECES}*",)),
        model={"text": WHALE},
        controls={"view": "tokens", "piece": 2},
        moves=("piece",),
        because="a model reads no letters, and what it does read is cut first.",
    ),
    Question(
        "A typed [CLS]",
        "The text names special tokens of two models. Is [CLS], typed here, WordPiece’s special token?",
        what_was_typed,
        Prediction(ask="It is …", measured=is_special, options=("text", "the special token"), hides=(f"{PIECES}*",)),
        model={"text": TYPED},
        controls={"view": "tokens", "cut": "WordPiece"},
        because="a text that somebody types must not become a command of the tokenizer.",
    ),
    Question(
        "Looks the same",
        "The second text looks the same, but one of its letters is another. Do byte pairs make the same ids of it?",
        do_they_look_alike,
        Prediction(
            ask="They make …",
            measured=same_ids,
            options=("the same ids", "other ids"),
            hides=(f"{PIECES}*", *HIDDEN[1:]),
        ),
        model={"text": "paypal"},
        controls={"view": "tokens", "second": TWIN},
        given=("cut",),
        because="what looks the same to you need not be the same to a tokenizer.",
    ),
    Question(
        "In Thai",
        "Five languages, one text. These byte pairs were learned from English: how many tokens do they need for Thai?",
        what_thai_costs,
        Prediction(ask="How many?", measured=tokens_of_thai, hides=(f"{LANGUAGES}*",)),
        controls={"view": "tokens", "show": "languages"},
        given=("cut",),
        because="a vocabulary that was learned from English serves other languages worse.",
    ),
    Question(
        "Mask of a batch",
        "Two texts become one batch of WordPiece. What does the attention mask of the shorter one sum to?",
        what_is_padded,
        Prediction(ask="To which number?", measured=mask_of_shorter, hides=(f"{BATCH}*",)),
        controls={"view": "tokens", "show": "batch", "cut": "WordPiece", "row_length": 16},
        given=("second",),
        because="texts of several lengths become one tensor only when they are padded.",
    ),
    Question(
        "Cut in pairs",
        "Both texts stand in one row now, and max_length is 10. How many tokens of the batch have no room?",
        what_is_cut,
        Prediction(ask="How many tokens?", measured=tokens_cut, hides=(f"{BATCH}*",)),
        controls={"view": "tokens", "show": "batch", "cut": "WordPiece", "paired": True},
        given=("row_length", "second"),
        because="a pair shares the room of a row, and token types say which text is which.",
    ),
)
