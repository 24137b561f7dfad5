"""Questions of the view “Roles”, with answers that are computed from the scores on screen."""

from tfm_core.language.roles import ROLES
from tfm_ui.lenses.heads.roles.panel import RolesPanel, named, with_syntax
from tfm_ui.lenses.heads.state import ALL_ROLES, HeadsState
from tfm_ui.live.head_roles import why_not
from tfm_ui.page.questions import Prediction, Question
from tfm_ui.state import lab_gpt
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


def heads_learn_grammar(model: ModelState, state: HeadsState) -> str:
    """How many heads look where grammar says, and which."""
    if reason := why_not(model):
        return reason
    panel = RolesPanel(model, state)
    roles = {role: of.heads for role, of in panel.measured.items() if ROLES[role].is_syntax}
    listed = [
        f"{ROLES[role].looks}: {formats.listed([named(*head) for head in heads[:3]]) if heads else 'none'}"
        for role, heads in roles.items()
    ]
    count = int(with_syntax(model, state))
    return (
        f"{count} of {panel.heads_count} heads look, beyond what position gives, along a relation of grammar. "
        f"{'; '.join(listed).capitalize()}. What breaks without them stands in the third picture: looking is not using."
    )


def repeats_without(model: ModelState, state: HeadsState) -> float:
    """The loss on random tokens that come again with the induction heads silent; 0 where it is not measured."""
    result = {} if why_not(model) else RolesPanel(model, state).kept.silenced
    silent = result["induction"].silent if "induction" in result else {}
    return silent.get("repeats", 0.0)


def copying_breaks(model: ModelState, state: HeadsState) -> str:
    """What silence does to the loss on tokens that come again."""
    if reason := why_not(model):
        return reason
    panel = RolesPanel(model, state)
    result = panel.kept.silenced.get("induction")
    if result is None or "repeats" not in result.silent:
        return f"What breaks without induction heads has not been measured for {panel.name_of_model.rstrip(',')}."
    whole, silent = result.whole["repeats"], result.silent["repeats"]
    random = [each["repeats"] for each in result.random]
    worse = "more than in each of these draws" if result.is_worse("repeats") else "not more than in each of these draws"
    return (
        f"The loss goes from {formats.number(whole)} to {formats.number(silent)} nats without "
        f"{formats.plural(len(result.heads), 'induction head')}. As many random heads: {formats.number(min(random))} "
        f"to {formats.number(max(random))}, so it is {worse}. A draw that does much harm may have hit a head that "
        "brings the token before: induction needs it."
    )


QUESTIONS = (
    Question(
        "Do heads learn grammar?",
        "Lab GPT read old prose, and nobody told it what a subject is. How many of its 20 heads look along a "
        "relation of grammar, more than position explains?",
        heads_learn_grammar,
        Prediction(
            ask="How many heads?",
            measured=with_syntax,
            hides=("roles_map", "roles_head", "roles_silence", "roles_sentences", "notes"),
        ),
        model={"weights": lab_gpt.NAME},
        controls={"view": "roles", "role": ALL_ROLES, "layer": 3, "head": 2},
        moves=("role", "layer", "head"),
        because="roles were found one at a time so far, and now every head is tested for all of them.",
    ),
    Question(
        "Silence induction",
        "Lab GPT has just read 50 random tokens, and they come once more. What does a token cost it in nats when all "
        "of its induction heads are silent?",
        copying_breaks,
        Prediction(
            ask="How many nats per token?",
            measured=repeats_without,
            hides=("roles_silence", "notes"),
        ),
        model={"weights": lab_gpt.NAME},
        controls={"view": "roles", "breaks": "repeats", "layer": 4, "head": 3},
        moves=("layer", "head"),
        because="where a head looks is one thing, and what the model loses without it is another.",
    ),
)
