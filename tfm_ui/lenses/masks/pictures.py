"""The pictures above all views of the Masks lens: the batch, and the masks that are composed."""

from tfm_ui.lenses.masks import batch, composer
from tfm_ui.lenses.masks.composer import Locked
from tfm_ui.lenses.masks.state import PREFIX, MasksState, item_of, sentences, setting
from tfm_ui.lenses.masks.terms import anyway, terms_of
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.registry import Picture
from tfm_ui.state.model_state import WEIGHTS, ModelState


def masks_composer(model: ModelState, state: MasksState) -> Content:
    """The masks that are combined, as they can be changed."""
    now = setting(model, state)
    terms, because = terms_of(now), anyway(now)
    lift = {"causal": "false"} if now.model.masks_the_future else None
    return composer.content(
        terms.terms,
        parameter=PREFIX + "mask",
        most=max(now.composed.shape),
        locked=Locked(f"causal, {because}", lift) if because else None,
        idle=terms.idle,
        notes=terms.notes(),
        offer=bool(lift and terms.ahead),
        title=terms.title,
    )


def masks_batch(model: ModelState, state: MasksState) -> Content:
    """The sentences, as they stand in the batch."""
    count = len(sentences(model, state))
    read = [setting(model, state, item).model.source_tokens for item in range(1, count + 1)]
    left = state.view == "padding" and state.pad_side == "left"
    return batch.content(read, chosen=item_of(model, state), parameter=PREFIX + "item", left=left)


PICTURES = {
    "masks_batch": Picture(batch.BATCH, masks_batch, ignores=WEIGHTS),
    "masks_composer": Picture(composer.COMPOSER, masks_composer, ignores=WEIGHTS),
}
