"""The view "tokens": histories, languages, batches and look-alikes on screen, beside the `tokenizers` library."""

from itertools import pairwise

import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from tfm_core.language.lab_bert import TOKENIZER
from tfm_core.language.translations import TRANSLATIONS
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.lenses.model.tokens import questions
from tfm_ui.lenses.model.tokens.alike import TokensAlike
from tfm_ui.lenses.model.tokens.batch import TokensBatch
from tfm_ui.lenses.model.tokens.labels import LONGEST, chip
from tfm_ui.lenses.model.tokens.languages import TokensLanguages, TokensTexts
from tfm_ui.lenses.model.tokens.measures import OF_TOKENS
from tfm_ui.lenses.model.tokens.pieces import BESIDE, PAGE, TokensPieces
from tfm_ui.state.model_state import CHARS, ModelState

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)


def state(**fields: object) -> ModelLensState:
    return ModelLensState(view="tokens", **fields)


def pieces(text: str, **fields: object) -> TokensPieces:
    return TokensPieces(ModelState(text=text), state(**fields))


def test_the_piece_that_is_chosen_tells_how_it_was_merged() -> None:
    panel = pieces("The whale", piece=2)
    steps = panel.picture()[0]["history"]["steps"]
    assert steps[0]["parts"] == ["·", "w", "h", "a", "l", "e"]
    assert steps[-1]["parts"] == ["·whale"]
    assert [len(step["parts"]) for step in steps] == [6, 5, 4, 3, 2, 1]
    ranks = [merge.rank for merge in panel.history.merges]
    assert ranks == sorted(ranks)
    assert all(step["parts"][step["made"]] not in before["parts"] for before, step in pairwise(steps))


def test_a_piece_of_wordpiece_tells_what_was_tried() -> None:
    panel = pieces("whales", cut="WordPiece", piece=1)
    steps = panel.picture()[0]["history"]["steps"]
    assert steps[0]["parts"] == ["whales"]
    assert steps[-1]["note"] == "in the vocabulary: taken"
    assert steps[-1]["parts"] == [panel.mine.pieces[0]]


def test_a_word_that_wordpiece_lacks_says_so() -> None:
    panel = pieces("水", cut="WordPiece")
    assert panel.mine.pieces == ("[UNK]",)
    assert "the unknown token" in panel.picture()[0]["history"]["about"]


def test_other_pieces_tell_their_bytes() -> None:
    for name in ("words", "characters", "bytes"):
        assert "U+00E9" in pieces("é", cut=name).picture()[0]["history"]["about"]
    assert "C3 A9" in pieces("é", cut="bytes").picture()[0]["history"]["about"]


@given(TEXT, st.sampled_from(["words", "characters", "bytes", "Lab GPT", "WordPiece"]), st.integers(1, 50))
def test_laws_hold_of_any_text(text: str, cut: str, piece: int) -> None:
    panel = pieces(text, cut=cut, piece=piece)
    assert all(panel.laws().values())
    header, _ = panel.picture()
    assert panel.sentence()
    (row,) = (row for row in header["rows"] if row["chosen"])
    assert bool(row["count"]) == bool(header["history"]["title"])  # WordPiece makes nothing of control characters
    alike = TokensAlike(panel.model, panel.state)
    assert all(alike.laws().values())
    assert alike.sentence()


@given(TEXT, TEXT, st.integers(6, 20), st.booleans())
def test_a_batch_on_screen_is_the_librarys(text: str, other: str, most: int, paired: bool) -> None:
    panel = TokensBatch(ModelState(text=text), state(cut="WordPiece", second=other, row_length=most, paired=paired))
    theirs = tokenizers.Tokenizer.from_file(str(TOKENIZER))
    theirs.encode_special_tokens = True
    theirs.enable_padding(pad_id=0, pad_token="[PAD]")
    theirs.enable_truncation(most)
    made = theirs.encode_batch([(text, other), (other, other)] if paired else [text, other])
    ids, mask, types = (table.tolist() for table in panel.tables)
    assert ids == [row.ids for row in made]
    assert mask == [row.attention_mask for row in made]
    assert types == [row.type_ids for row in made]
    assert all(panel.laws().values())
    assert panel.sentence()


def test_a_batch_without_tokens_says_so() -> None:
    panel = TokensBatch(ModelState(text=""), state(show="batch", second=""))
    assert panel.length == 0
    assert panel.sentence().startswith("Both texts are empty")
    assert panel.picture()[1].shape == (2, 2, 0)


def test_who_has_no_second_text_in_a_row_says_so() -> None:
    panel = TokensBatch(ModelState(), state(paired=True))
    assert "no place for a second text" in panel.sentence()
    assert panel.grids == ("input_ids", "attention_mask")


def test_languages_are_counted_and_lost_text_is_told() -> None:
    panel = TokensLanguages(ModelState(), state(show="languages"))
    assert panel.counts.shape == (5, 5)
    assert panel.counts[:, 2].tolist() == [len(text.encode()) for text in TRANSLATIONS.values()]
    thai = [*TRANSLATIONS].index("Thai")
    assert (thai, panel.names.index("WordPiece")) in panel.unknown
    assert all(name == panel.names.index("WordPiece") for _, name in panel.unknown)
    assert "say nothing" in panel.sentence()
    words = TokensLanguages(ModelState(), state(show="languages", measure="tokens a word")).picture()[1][0]
    assert [bool(abs(row).max() < 1e9) for row in words] == [True, True, True, False, False]
    assert len(TokensTexts(ModelState(), state()).table()) == 5


def test_a_typed_name_is_text_and_the_trap_is_named() -> None:
    panel = pieces("[CLS] and <|start|>", cut="WordPiece")
    assert panel.typed == ["[CLS]", "<|start|>"]
    assert "is text here" in panel.about_typed()
    assert "reads it as that token" in panel.about_typed()
    assert questions.is_special(panel.model, panel.state) == "text"


def test_look_alikes_are_named() -> None:
    assert "Cyrillic, in a word of Latin letters" in pieces("c\u0430t").sentence()
    twins = TokensAlike(ModelState(text="café"), state(second="cafe\u0301"))
    assert "look alike and are not the same: at sign 4" in twins.sentence()
    assert "COMBINING ACUTE ACCENT" in twins.sentence()
    assert len(twins.table()) == 1
    assert "are the same, sign by sign" in TokensAlike(ModelState(text="a"), state(second="a")).sentence()
    assert "does not look like" in TokensAlike(ModelState(text="a"), state(second="b")).sentence()


def test_signs_that_are_not_seen_are_all_counted_and_the_first_is_named() -> None:
    told = pieces("a\u200bb\u202ec\ufeff").about_alike()
    assert told.startswith("Sign 2, ")
    assert told.endswith("is not seen at all. 2 more can mislead, too.")


def test_a_byte_without_merges_is_told_as_a_byte_of_its_letter() -> None:
    about = pieces("\u0627").picture()[0]["history"]["about"]
    assert "No merge" in about
    assert "keeps no list" not in about
    assert "U+0627 ARABIC LETTER ALEF: bytes D8 A7" in about


def test_all_tokenizers_with_the_most_tokens_are_named() -> None:
    assert "Most: characters and bytes, 43 each." in pieces("the cat sat on the mat because it was tired").sentence()


def test_of_a_long_text_a_page_is_drawn_around_the_piece() -> None:
    text = ("水 whale " * CHARS)[:CHARS]
    panel = pieces(text, cut="bytes", piece=5000)
    header, _ = panel.picture()
    chosen = next(row for row in header["rows"] if row["chosen"])
    assert len(chosen["pieces"]) <= PAGE
    assert 4999 in [piece["at"] for piece in chosen["pieces"]]
    assert all(len(row["pieces"]) <= BESIDE for row in header["rows"])
    for row in header["rows"]:
        assert row["before"] + len(row["pieces"]) + row["after"] == row["count"]


def test_chips_show_what_is_not_seen() -> None:
    assert chip(" a\n") == "·a↵"
    assert chip("\u0301") == "◌\u0301"
    assert chip("\u200b") == "<U+200B>"
    assert chip("\u00a0") == "⍽"
    assert len(chip("x" * 99)) <= LONGEST


def test_measures_are_those_of_the_panels() -> None:
    shown = state(show="batch", cut="WordPiece", paired=True)
    panel = TokensBatch(ModelState(), shown)
    assert OF_TOKENS["batch_places"](ModelState(), shown) == panel.length == 10
    assert OF_TOKENS["batch_second_types"](ModelState(), shown) == sum(panel.rows[0].types)
    assert OF_TOKENS["batch_cut"](ModelState(), shown) == panel.cut_off
    assert OF_TOKENS["batch_read"](ModelState(), shown) == 10
    assert OF_TOKENS["cut_thai"](ModelState(), state()) > OF_TOKENS["cut_english"](ModelState(), state())
    whale = ModelState(text="The whale")
    assert OF_TOKENS["cut_merges"](whale, state(piece=2)) == 5
    assert OF_TOKENS["cut_piece"](whale, state(piece=2)) == "·whale"
    assert OF_TOKENS["cut_tokens"](whale, state()) == 2
    assert OF_TOKENS["cut_typed"](whale, state()) == "text"
    assert OF_TOKENS["cut_looks_alike"](ModelState(text="café"), state(second="cafe\u0301"))
    assert OF_TOKENS["cut_piece"](ModelState(text=""), state()) == ""


def test_answers_hold_of_any_link() -> None:
    for model in (ModelState(text=""), ModelState(text="水"), ModelState(weights="lab-gpt")):
        for fields in ({}, {"cut": "bytes", "piece": 9}, {"cut": "WordPiece", "show": "batch"}):
            for question in questions.QUESTIONS:
                assert question.answer(model, state(**fields))
                assert question.predict.measured(model, state(**fields)) is not None
