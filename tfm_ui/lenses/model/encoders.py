"""Which encoder the views "sentences" and "masked" show: the sidebar's, if it is one of BERT's form, else Lab BERT."""

from tfm_core.language.lab_bert import NAME
from tfm_core.language.wordpiece import MASK
from tfm_ui.state.model_state import ModelState


def mask_id_of(model: ModelState) -> int | None:
    """The id of [MASK]; None of a model that has none, or no head to say what stands there."""
    if model.config.head != "masked" or not model.pretrained or model.pretrained.why_not_there:
        return None
    pieces = model.pretrained.tokenizer.pieces
    return pieces.index(MASK) if MASK in pieces else None


def has_pooler(model: ModelState) -> bool:
    """Whether somebody has trained the model to give a pooled output."""
    mine = model.pretrained
    there = mine is not None and not mine.why_not_there
    return there and model.config.pooler and model.architecture == "encoder"


def with_pooler(model: ModelState) -> ModelState:
    """The model, or Lab BERT on the same text where it gives no pooled output."""
    return model if has_pooler(model) else _lab_bert(model)


def with_head(model: ModelState) -> ModelState:
    """The model, or Lab BERT on the same text where it has no masked-word head."""
    return _lab_bert(model) if mask_id_of(model) is None else model


def about_typed(model: ModelState) -> str:
    """What becomes of a special token's sign that is typed in the text; "" if there is none, or only [MASK]."""
    mine = model.pretrained
    if mine is None or mine.why_not_there:
        return ""
    pieces = mine.tokenizer.pieces
    typed = [pieces[number] for ids in mine.special_around for number in ids if pieces[number] in model.text]
    if not typed:
        return ""
    return (
        f"“{typed[0]}” is typed in the text and read as that special token, as BERT’s tokenizer does by default; the "
        "view Tokens cuts it as text."
    )


def called(model: ModelState) -> str:
    """What the sidebar's model is called at the beginning of a sentence."""
    return model.pretrained.short if model.pretrained else "The model of the sidebar"


def _lab_bert(model: ModelState) -> ModelState:
    return ModelState(weights=NAME, text=model.text, seq_len=model.seq_len)
