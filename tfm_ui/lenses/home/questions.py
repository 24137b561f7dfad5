"""Questions of Home, with answers that are computed from the sidebar's model.

tests/tfm_ui/lenses/home/test_questions_home.py checks what they say.
"""

from tfm_ui.lenses.heads.panels import Heads
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.lenses.home.cards import parameters_by_part
from tfm_ui.lenses.home.next_token import Next
from tfm_ui.page.questions import MODEL, Prediction, Question
from tfm_ui.state import lab_gpt, pretrained
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats
from tfm_ui.text.token_labels import labels, named

OPENS_WITH = lab_gpt.ON_PROSE
GIVEN_AWAY_BY = ("next", "card_generate")  # what shows the likeliest next token


def what_it_says(model: ModelState, state: LensState) -> str:
    """Whether the likeliest next token is the last one again, and why that may be."""
    if not model.gives_logits:
        return model.no_logits
    likely = Next(model, state)
    if not model.is_random:
        return f"{likely.sentence()} Nothing of it is left to chance: these weights were trained."
    share = formats.percent(likely.shares[0], 3)
    if says_it_again(model, state) == "yes":
        return (
            f"It says {likely.names[0]} again, with {share}. The output is read with the same matrix as the embedding, "
            "and the residual stream still holds the last token’s embedding, so that token scores high. Nothing was "
            "learned."
        )
    return (
        f"It says {likely.names[0]}, with {share}: not the last word again. The weights are random, so what was added "
        "to the last token’s embedding on the way is as large as the embedding itself. Nothing was learned."
    )


def what_it_has_read(model: ModelState, state: LensState) -> str:
    """The likeliest next token, the one after it, and where such an answer comes from."""
    if not model.gives_logits:
        return model.no_logits
    likely = Next(model, state)
    first, second = (formats.percent(share, 3) for share in likely.shares[:2])
    return f"{likely.names[0]}, with {first}; then comes {likely.names[1]}, with {second}. " + model.if_random(
        "The weights are random, so this says nothing about language.",
        "It comes from the training and from this text alone: no word was looked up anywhere.",
        prose="It has read no dictionary: that comes from which tokens followed which in its training texts, and "
        "from this text. Where a head looks is no proof of why it says so: silence one in Attention, under "
        "“Change it”, and see.",
    )


def percent_of_likeliest(model: ModelState, state: LensState) -> float:
    """The probability of the likeliest next token, in percent; 0 of a model that gives none."""
    return formats.points(Next(model, state).shares[0]) if model.gives_logits else 0.0


def what_came_last_time(model: ModelState, state: LensState) -> str:
    """The likeliest next token, beside what followed when the last token stood in the text before."""
    if not model.gives_logits:
        return model.no_logits
    likely = Next(model, state)
    names, pieces = labels(likely.text), likely.text.pieces
    earlier = [at for at in range(len(pieces) - 1) if pieces[at] == pieces[-1]]
    sentence = f"{likely.names[0]}, with {formats.percent(likely.shares[0], 3)}."
    if not earlier:
        first = f"“{names[len(pieces) - 1]}” stands here for the first time"
        return f"{sentence} {first}, so no earlier place can tell what follows."
    at = earlier[-1]
    followed = pieces[at + 1]
    agrees = likely.names[0] == f"“{named(followed)}”"
    return (
        f"{sentence} “{named(pieces[-1])}” stood before at place {at + 1}, and “{named(followed)}” came after it: "
        + ("the model says what came last time. " if agrees else "the model says something else. ")
        + model.if_random(
            "Its weights are random, so it has not learned to look there.",
            "A head that looks at what came after its own token last time makes that possible: see Heads." * agrees,
        )
    )


def says_it_again(model: ModelState, state: LensState) -> str:
    """ "yes" if the likeliest next token is the last token of the text."""
    if not model.gives_logits:
        return "no"
    likely = Next(model, state)
    last = likely.text.ids[len(likely.text.pieces) - 1]
    return "yes" if int(likely.probabilities.argmax()) == last else "no"


def where_parameters_are(model: ModelState, state: LensState) -> str:
    """Which part has most of the parameters, and what more of them do not bring."""
    counts = parameters_by_part(model)
    total, most = sum(counts.values()), max(counts, key=counts.__getitem__)
    return (
        f"Of {formats.count(total)} parameters most are in one part, {most}: {formats.percent(counts[most] / total)}. "
        "More of them bring more numbers to adjust, and no knowledge: "
        + model.if_random(
            "all are drawn from the seed, and only training would give them something to say.",
            "training has adjusted these, and all that they say comes from it.",
        )
    )


def what_a_seed_changes(model: ModelState, state: LensState) -> str:
    """What stays when the seed changes: what the mask decides."""
    heads = Heads(model, HeadsState())
    visible = heads.attention.visible
    hidden = int((~visible).sum())
    first = labels(model.source_tokens)[0]
    kept = (
        f"The mask: {formats.count(hidden)} of {formats.count(visible.size)} pairs are hidden whatever the weights are"
        if hidden
        else "Only the shape of the pictures: nothing is hidden here"
    )
    others = model.if_random("Every other weight is drawn anew.", "Every other weight comes from training.")
    alone = f", and “{first}” sees itself alone, so that its row stays 1.00" if int(visible[0].sum()) == 1 else ""
    return f"{kept}{alone}. {others} {heads.sentence()}"


SMOLLM2 = [
    Question(
        "A model of today",
        "SmolLM2 has read web pages, textbooks and code, far more than Lab GPT. Which token comes next? Type "
        "another sentence.",
        what_it_has_read,
        Prediction(ask="How sure is it, in percent?", measured=percent_of_likeliest, unit="%", hides=GIVEN_AWAY_BY),
        model=pretrained.CAPITAL,
        moves=("text",),
        because="it has read far more text, so it may know what Lab GPT cannot.",
    )
] * pretrained.is_here("smollm2")
QUESTIONS = (
    Question(
        "A language model",
        "Lab GPT has read novels and presidents’ addresses. Which token will it say next, and how sure is it? Then "
        "type another sentence.",
        what_it_has_read,
        Prediction(ask="How sure is it, in percent?", measured=percent_of_likeliest, unit="%", hides=GIVEN_AWAY_BY),
        model=OPENS_WITH,
        moves=("text",),
    ),
    *SMOLLM2,
    Question(
        "A trained model",
        "This model has learned letters that repeat. Which letter will it say next, and where in the text could it "
        "know that from?",
        what_came_last_time,
        model={"weights": "induction"},
        because="this text alone settles what comes next, so one can see where the answer stands.",
    ),
    Question(
        "First look",
        "A model that nobody has trained. Type another sentence: will it say the last word again, and where could that "
        "come from?",
        what_it_says,
        Prediction(
            ask="Will it say the last word again?",
            measured=says_it_again,
            options=("yes", "no"),
            hides=GIVEN_AWAY_BY,
        ),
        given=("weights",),
        because="a model without training shows what comes from its design and from chance alone.",
    ),
    Question(
        "Much larger",
        "This one has forty-seven times the parameters, and it repeats “tired” all the more. What do parameters alone "
        "not bring?",
        where_parameters_are,
        model={"num_layers": 8, "num_heads": 16, "d_model": 256},
        given=MODEL,
        because="one might blame the small size, and this model is large but just as untrained.",
    ),
    Question(
        "Another seed",
        "The same sentence, other random weights: another head is the sharpest now. What in the cards Heads and Masks "
        "has stayed, and what kept it?",
        what_a_seed_changes,
        model={"seed": 2},
        given=MODEL,
        because="other random weights show what depends on chance, and what the mask decides.",
    ),
)
