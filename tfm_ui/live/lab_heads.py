"""Which of Lab GPT's heads look at the previous token, and which copy: measured, as only training decides it."""

from tfm_core import LAB_GPT
from tfm_core.language.head_scores import HeadScores, head_scores
from tfm_ui.live.cache import cached, never
from tfm_ui.live.passes import transformer
from tfm_ui.state.pretrained import Known

COPIES = 0.5  # a head copies if it has this share of the best one's score, or more
MOST = 4  # heads that are silenced at once


@cached(heavy=never, always_kept=1)
def scores() -> HeadScores:
    """The scores of all heads, on random tokens that come twice."""
    return head_scores(transformer(LAB_GPT), first_id=Known().first_id)


def previous_token_head() -> tuple[int, int]:
    """Layer and head, from 1, that look most at the previous token."""
    layer, head = scores().best(scores().previous)
    return layer + 1, head + 1


def copying_heads() -> list[tuple[int, int]]:
    """Layer and head, from 1, of those that look after the earlier place of their own token, the best first."""
    induction = scores().induction
    order = induction.flatten().argsort(descending=True).tolist()
    best = float(induction.max())
    places = [divmod(at, induction.shape[1]) for at in order]
    copying = [(layer + 1, head + 1) for layer, head in places if float(induction[layer, head]) >= COPIES * best]
    return copying[:MOST]


def silenced() -> str:
    """The changes that silence them, as the view "change" of the Attention lens writes them."""
    return "; ".join(f"silence {layer}.{head}" for layer, head in copying_heads())
