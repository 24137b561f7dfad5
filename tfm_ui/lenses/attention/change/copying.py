"""What becomes of a copied token: the one that came after the earlier place of the text's last token."""

from dataclasses import dataclass

from tfm_ui.lenses.attention.change.results import changed
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats
from tfm_ui.text.token_labels import labels, named

LOST = 0.5  # a copy depends on what was changed if it keeps less than this share of its probability


@dataclass(frozen=True)
class Copied:
    """The token that would be a copy.

    Attributes:
        last: the last token of the text, as pictures call it.
        place: where that token stood before, from 1.
        piece: the token that came after it there.
        shares: its probability at the end of the text, in A and in B.
        is_said: whether it is the likeliest there, in A and in B.
    """

    last: str
    place: int
    piece: str
    shares: tuple[float, float]
    is_said: tuple[bool, bool]


def copied(model: ModelState, state: AttentionState) -> Copied | None:
    """What came after the last token's latest earlier place; None if it stands in the text for the first time."""
    text = model.target_tokens if model.is_encoder_decoder else model.source_tokens
    read = len(text.pieces)
    earlier = [at for at in range(read - 1) if text.ids[at] == text.ids[read - 1]]
    if not earlier:
        return None
    follows = text.ids[earlier[-1] + 1]
    a, b = changed(model, state)[2].compared.effect.probabilities
    return Copied(
        last=labels(text)[read - 1],
        place=earlier[-1] + 1,
        piece=named(text.pieces[earlier[-1] + 1]),
        shares=(float(a[follows]), float(b[follows])),
        is_said=(int(a.argmax()) == follows, int(b.argmax()) == follows),
    )


def what_is_copied(model: ModelState, state: AttentionState) -> str:
    """The probability of the copied token in A and in B, and what that says."""
    weights, _, output = changed(model, state)
    if weights.setting.same:
        return "A and B are the same, so nothing changes. Silence a head, or lock a cell and drag its weight."
    copy = copied(model, state)
    if copy is None:
        return f"The last token stands here for the first time, so there is nothing to copy. {output.sentence()}"
    a, b = formats.percents(*copy.shares)
    said = (
        f"“{copy.last}” stood before at place {copy.place}, and “{copy.piece}” came after it. As what comes next, "
        f"“{copy.piece}” has {a} in A and {b} in B."
    )
    if not copy.is_said[0]:
        return f"{said} In A it is not the likeliest token, so the model does not copy here, whatever is changed."
    if copy.shares[1] < LOST * copy.shares[0]:
        return f"{said} A copies, and what was changed is what the copy depends on."
    return f"{said} A copies, and most of that is left in B: other heads do it too, or those that are left suffice."


def percent_in_b(model: ModelState, state: AttentionState) -> float:
    """The probability of the copied token in B, in percent; 0 if there is none."""
    copy = copied(model, state)
    return formats.points(copy.shares[1]) if copy else 0.0
