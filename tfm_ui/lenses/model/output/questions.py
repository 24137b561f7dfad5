"""Questions of the view "output", and their answers, computed from what is on screen."""

import math

import torch

from tfm_core import lab_prompt
from tfm_ui.lenses.model.naming import trained_on
from tfm_ui.lenses.model.output.last_modules import OutputTied
from tfm_ui.lenses.model.output.lens import OutputAt, OutputLens
from tfm_ui.lenses.model.output.likeliest import Output, OutputPositions
from tfm_ui.lenses.model.output.start import OutputStart
from tfm_ui.lenses.model.state import START_SIZES, ModelLensState
from tfm_ui.page.questions import Computed, Prediction, Question
from tfm_ui.state import lab_gpt, pretrained
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, units


def how_sure(model: ModelState, state: ModelLensState) -> str:
    """How much more than an even share the likeliest token has, and why that says nothing."""
    output = Output(model, state)
    entropy = output.entropy(state.temperature)
    return (
        f"{output.called[0]} has {formats.percent(output.shares[0].item(), 3)}, "
        f"{units.times(output.times_even)} an even share. The entropy at this position is "
        f"{formats.number(entropy)} nats: as uncertain as an even choice among "
        f"{formats.count(round(math.exp(entropy)))} of {formats.count(output.vocab)} tokens. "
        + model.if_random(
            "No weight was trained, so the model has learned nothing, and this is no prediction.",
            output.right_at(output.token),
        )
    )


def order_changes(model: ModelState, state: ModelLensState) -> str:
    """Whether the temperature changes the order of the listed tokens."""
    output = Output(model, state)
    now, plain = (shares.argsort(descending=True, stable=True) for shares in (output.shares, output.plain))
    return "no" if torch.equal(now, plain) else "yes"


def what_temperature_does(model: ModelState, state: ModelLensState) -> str:
    """The likeliest token and the spread of all, at this temperature and at 1."""
    output, temperature = Output(model, state), state.temperature
    if temperature == 1:
        return "The temperature is 1 here, so the logits are divided by 1: move it to see what it does."
    before, after = (formats.number(output.entropy(each)) for each in (1.0, temperature))
    return (
        f"Each logit is divided by {temperature:g}, so the order stays, and all gaps become "
        f"{'wider' if temperature < 1 else 'narrower'}. At “{output.names[output.token]}” the likeliest token, "
        f"{output.called[0]}, goes from {formats.percent(output.plain[0].item(), 3)} at temperature 1 to "
        f"{formats.percent(output.shares[0].item(), 3)}, and the entropy from {before} to {after} nats. The "
        "temperature makes the same scores sharper or flatter; it adds no knowledge."
    )


def why_it_repeats(model: ModelState, state: ModelLensState) -> str:
    """The number of positions at which each model repeats the token, and why."""
    both = OutputTied(model, state)
    tied, untied = (side.first for side in both.sides.values())
    return (
        f"The token that stands at a position is the likeliest there at {tied} of "
        f"{formats.plural(len(both.names), 'position')} tied, and at {untied} untied. {both.why()} "
        + model.if_random(
            "Untied, the output matrix is drawn independently of the embedding.",
            "These weights were trained untied: the tied model has never been trained.",
            prose="These weights were trained tied: untied, the output matrix is random, and so is what comes out.",
        )
    )


def which_layer_decides(model: ModelState, state: ModelLensState) -> str:
    """How many positions already agree with the end after each layer, in the model on screen."""
    lens = OutputLens(model, state)
    by_place = formats.listed(
        [f"{count} after {place}" for place, count in zip(lens.outs.places, lens.agreeing, strict=True)]
    )
    return (
        f"Positions whose likeliest token is already the final one: {by_place}, of {len(lens.names)}. After the "
        "last layer all agree, as that read-out is the model’s own. "
        + model.if_random(
            "How early the others agree means nothing here: no weight was trained, so no layer has learned to come "
            "nearer to an answer.",
            f"These weights were trained on {trained_on(model)}: what a layer leaves open, a later one decides.",
        )
    )


def where_it_settles(model: ModelState, state: ModelLensState) -> str:
    """The layer from which the final token is the likeliest at the chosen position, and its rank before."""
    return (
        f"{OutputAt(model, state).sentence()} Such a read-out applies the final norm and the output matrix to a layer "
        "that was not made for them: it shows what could be read there, not what the model has decided."
    )


def what_it_knows(model: ModelState, state: ModelLensState) -> str:
    """The likeliest token, the right one, and how many answers are right in all."""
    output = Output(model, state)
    share = formats.percent(output.plain[0].item(), 3)
    return f"At {output.position}, {output.called[0]} is the likeliest, with {share} at temperature 1. " + (
        model.if_random(
            "No weight was trained, so this is no answer to anything.",
            f"{output.right_at(output.token)} {output.right_in_all()}",
        )
    )


_OF_SMOLLM2 = [
    Question(
        "Thirty layers",
        "SmolLM2’s residual stream, read out after each of its 30 layers. From which on is the token that it says in "
        "the end the likeliest?",
        where_it_settles,
        Prediction(
            ask="From which layer on? 0 is the embedding.",
            measured=lambda model, state: OutputAt(model, state).settled,
            hides=("model_output_at", "model_output_lens"),
        ),
        model=pretrained.CAPITAL,
        controls={"view": "output", "token": 5},
        moves=("text", "token"),
        because="a model with many more layers has more room to change its mind.",
    )
] * pretrained.is_here("smollm2")
QUESTIONS: tuple[Question, ...] = (
    Question(
        "The likeliest token",
        "Random weights rate all 4,096 tokens. How many even shares does the likeliest get, and is it a prediction?",
        how_sure,
        Prediction(
            ask="How many even shares does the likeliest get?",
            measured=lambda model, state: round(Output(model, state).times_even, 1),
            unit="×",
            hides=("model_output",),
        ),
        controls={"view": "output"},
        given=("weights",),
        because="after all layers the last step remains, from a vector to a rating of every token.",
    ),
    Question(
        "A low temperature",
        "The logits are divided by 0.3. Which tokens gain and which lose, and does their order change?",
        what_temperature_does,
        Prediction(
            ask="Does the order change?", measured=order_changes, options=("yes", "no"), hides=("model_output.words",)
        ),
        controls={"view": "output", "temperature": 0.3},
        because="the same logits can give a flat or a steep choice, by a single division.",
    ),
    Question(
        "The same word again",
        "One matrix for embedding and logits, d_model 128. Why does a model that has learned nothing repeat the word "
        "just read?",
        why_it_repeats,
        Prediction(
            ask="At how many positions is it the likeliest?",
            measured=lambda model, state: OutputTied(model, state).first,
        ),
        model={"d_model": 128},
        controls={"view": "output", "token": 4},
        moves=("token",),
        given=("weights", "tied"),
        because="one matrix often serves embedding and logits, which has an effect of its own.",
    ),
    Question(
        "After each layer",
        "The same read-out after each of 6 layers, untied. From which layer on is the final token the likeliest?",
        which_layer_decides,
        model={"num_layers": 6},
        controls={"view": "output", "tied": False},
        given=("weights",),
        because="the same read-out works after any layer, so one can watch a choice come about.",
    ),
    Question(
        "A model that knows",
        "Trained to reverse ten digits, and asked for the first answer. Which digit must it be, and how sure is the "
        "model?",
        what_it_knows,
        Prediction(
            ask="Which probability, in percent, has the likeliest?",
            measured=lambda model, state: formats.points(Output(model, state).plain[0].item()),
            unit="%",
            hides=("model_output", "model_output_at", "model_output_lens"),
        ),
        model={"weights": "reverse"},
        controls={"view": "output", "token": 1},
        because="random weights could not be right or wrong, and this model has learned its task.",
    ),
    Question(
        "Layer by layer on prose",
        "Lab GPT at the last token, read out after each layer. From which layer on is the token that it says in the "
        "end the likeliest?",
        where_it_settles,
        Prediction(
            ask="From which layer on? 0 is the embedding.",
            measured=lambda model, state: OutputAt(model, state).settled,
            hides=("model_output_at", "model_output_lens"),
        ),
        model=lab_gpt.ON_PROSE,
        controls=Computed(view="output", token=lambda: len(lab_prompt(lab_gpt.PROSE).pieces)),
        because="in a language model one can see in which layer the final choice appears.",
    ),
    Question(
        "Surprised by prose",
        "At each position Lab GPT rates what comes next. Where in the sentence is it sure, and at how many places does "
        "it say what really comes?",
        lambda model, state: OutputPositions(model, state).sentence(),
        model=lab_gpt.ON_ADDRESS,
        controls={"view": "output", "token": 1},
        moves=("text", "token"),
        because="one place is not a text, so see at which places it is sure, and where right.",
    ),
    Question(
        "The first loss",
        "Tied embeddings of standard deviation 1, multiplied by √d_model = 16: with which loss do they begin, where "
        "ln V is 10.8?",
        lambda model, state: OutputStart(model, state).sentence(),
        Prediction(
            ask="Which loss does it begin with?",
            measured=lambda model, state: round(OutputStart(model, state).at(state.spread), 1),
            hides=("model_output_start",),
        ),
        controls={"view": "output", "start_size": START_SIZES[1]},
        given=("weights",),
        because="before any training one number can be foretold, and it shows a careless start.",
    ),
    *_OF_SMOLLM2,
)
