"""Questions of the view "diagram", and their answers.

What they take for granted is checked in tests/tfm_ui/lenses/model/test_model_diagram.py.
"""

import numpy as np

from tfm_ui.lenses.model.diagram.drawing import Diagram
from tfm_ui.lenses.model.diagram.path import Path
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.page.questions import Prediction, Question
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

NETWORK, ATTENTION = ("feed_forward",), ("self_attention", "cross_attention")


def where_parameters_are(model: ModelState, state: ModelLensState) -> str:
    """Attention, feed-forward, embedding and output, norms and positions: how many each."""
    diagram = Diagram(model, state)
    parts = {
        "attention": diagram.parameters_of(*ATTENTION),
        "the feed-forward networks": diagram.parameters_of(*NETWORK),
        "embedding and output": diagram.parameters - diagram.without_ends,
    }
    if not diagram.has_output:
        parts["the embedding"] = parts.pop("embedding and output")
    rest = diagram.parameters - sum(parts.values())
    numbers = [f"{formats.count(number)} in {name}" for name, number in parts.items()]
    kinds = {item.block.kind for item in diagram.items}
    others = [name for kind, name in {"token_types": "token types", "pooler": "the pooler"}.items() if kind in kinds]
    of_rest = formats.listed(["norms", "positions", *others])
    return f"{formats.listed(numbers)}; {of_rest} have the other {formats.count(rest)}."


def share_of_attention(model: ModelState, state: ModelLensState) -> float:
    """The share of attention among the parameters without embedding and output, in percent."""
    diagram = Diagram(model, state)
    return 100 * diagram.parameters_of(*ATTENTION) / max(1, diagram.without_ends)


def attention_or_network(model: ModelState, state: ModelLensState) -> str:
    """Which of the two has more parameters, and which computes more."""
    diagram = Diagram(model, state)
    has, does = ((count(*ATTENTION), count(*NETWORK)) for count in (diagram.parameters_of, diagram.time_of))
    return (
        f"Attention has {formats.count(has[0])} parameters and needs {formats.count(does[0])} multiply-adds, the "
        f"feed-forward networks have {formats.count(has[1])} and need {formats.count(does[1])}. Attention has "
        f"{formats.percent(share_of_attention(model, state) / 100)} of what is not in the embedding or the output. "
        f"{diagram.what_it_is()}"
    )


def where_the_norm_is(model: ModelState, state: ModelLensState) -> str:
    """What the drawing shows of the norm's place, and what it does to the stream's length."""
    diagram = Diagram(model, state)
    if diagram.config.norm == "pre":
        place = "Pre-norm: each norm is inside its branch, so the residual stream runs past all norms to the final one."
    else:
        place = "Post-norm: each norm is on the stream itself, after the sum, and no final norm follows."
    if not diagram.chosen.live:
        return f"{place} {diagram.what_it_is()}"
    path = Path(model, state)
    ends = f"{formats.number(path.lengths[0])} to {formats.number(path.lengths[-1])}"
    return f"{place} The vector of “{path.names[path.token]}” goes from a length of {ends}."


def where_things_enter(model: ModelState, state: ModelLensState) -> str:
    """Where the encoder's output enters, if there are two stacks, and where the norms are."""
    diagram = Diagram(model, state)
    crossings = sum(item.block.kind == "cross_attention" for item in diagram.items)
    if not crossings:
        return f"There is one stack, so nothing enters from another. {where_the_norm_is(model, state)}"
    where = formats.plural(crossings, "cross-attention")
    enters = f"The encoder’s output enters in {where} of the decoder, one in each layer, as keys and values."
    return f"{enters} {where_the_norm_is(model, state)}"


def layer_and_word(model: ModelState, state: ModelLensState) -> str:
    """What a layer of each stack has, and a token id."""
    diagram = Diagram(model, state)
    layers = []
    for stack, items in diagram.counts.items():
        first, last = (
            sum(item.block.parameters for item in items if item.block.layer == layer)
            for layer in (0, diagram.config.num_layers - 1)
        )
        of = f" of the {stack}" if len(diagram.counts) > 1 else ""
        adds = "as many" if first == last else f"{formats.count(last)}, as all share a table that counts in the first"
        layers.append(f"Layer 1{of} has {formats.plural(first, 'parameter')}, and one more layer adds {adds}.")
    tied = diagram.config.tie_embeddings or diagram.chosen.classes or not diagram.has_output
    width = diagram.config.d_model * (1 if tied else 2)
    matrices = "one matrix" if tied else "two matrices"
    return f"{' '.join(layers)} A token id is a row of {matrices}: {formats.count(width)} more."


def the_end(model: ModelState, state: ModelLensState) -> str:
    """What stands at the end: a head, or the logits."""
    diagram = Diagram(model, state)
    if not diagram.has_output:
        return "Nothing stands at the end that says something of tokens: what comes out are the last hidden states."
    end = diagram.items[-1].block
    size = diagram.chosen.classes or diagram.config.vocab_size
    share = formats.percent(end.parameters / diagram.parameters)
    outputs = formats.plural(size, "output")
    if not end.parameters:
        return f"The last block, with {outputs}, uses the embedding’s matrix: it has no parameters but these."
    return f"The last block has {outputs} and {formats.count(end.parameters)} parameters, {share} of all."


def what_changed_it_most(model: ModelState, state: ModelLensState) -> str:
    """The way of the token, or that there is none."""
    diagram = Diagram(model, state)
    if not diagram.chosen.live:
        return diagram.what_it_is()
    path = Path(model, state)
    least = int(np.argmin(path.changes))
    return f"{path.sentence()} The least change is {formats.percent(path.changes[least])}."


QUESTIONS = (
    Question(
        "The parts",
        "Attention is one part of the machine. How many of its parameters are in attention, and how many elsewhere?",
        where_parameters_are,
        controls={"view": "diagram"},
    ),
    Question(
        "The paper’s model",
        "The base model of 2017: post-norm, 6 + 6 layers. What share of what its layers learn is in attention?",
        attention_or_network,
        Prediction(ask="The share of attention, in percent?", measured=share_of_attention, unit="%"),
        controls={"view": "diagram", "shape": "paper’s base"},
        because="the same count can be made for the Transformer of the paper of 2017.",
    ),
    Question(
        "GPT-2 small",
        "12 layers of 768, and 50,257 token ids. Where are its 124 million parameters?",
        where_parameters_are,
        controls={"view": "diagram", "shape": "GPT-2 small"},
        because="a decoder with 50,257 token ids has to keep a vector for each of them.",
    ),
    Question(
        "One encoder layer",
        "One layer of 128/8/512, as torch has it. Has its attention more parameters, or its feed-forward network?",
        attention_or_network,
        controls={"view": "diagram", "shape": "one layer"},
        because="whole models are large, and a single layer can be counted by hand.",
    ),
    Question(
        "Six layers",
        "Six such layers and 1,000 words. What does one more layer add, and what does one more word add?",
        layer_and_word,
        controls={"view": "diagram", "shape": "six layers"},
        because="once one layer is counted, one can ask what another layer or word costs.",
    ),
    Question(
        "A classifier",
        "3 layers, and at their end a head for 3 classes in place of a logit per word. How small is that head?",
        the_end,
        controls={"view": "diagram", "shape": "classifier"},
        because="a model may end in a few classes instead of a logit for each word.",
    ),
    Question(
        "A small GPT",
        "256/8/4/1,024 with 50,000 words: how many parameters are words, and how many are layers?",
        where_parameters_are,
        controls={"view": "diagram", "shape": "small GPT"},
        because="after three classes comes the other extreme, 50,000 words to choose from.",
    ),
    Question(
        "Two stacks",
        "An encoder-decoder, post-norm. Where does the encoder’s output enter, and where are the norms?",
        where_things_enter,
        model={"architecture": "encoder-decoder", "norm": "post"},
        controls={"view": "diagram", "block": "cross_attention", "stack": "decoder"},
        moves=("block", "stack"),
        because="counting says how many parameters there are, and not how the parts are connected.",
    ),
    Question(
        "One word’s way",
        "Follow “sat” through eight layers. Which block changes its vector most, and does it get longer?",
        what_changed_it_most,
        model={"num_layers": 8, "positional": "rope"},
        controls={"view": "diagram", "token": 3, "all_layers": True},
        moves=("positional", "token", "all_layers"),
        given=("text", "seq_len", "tokenizer"),
        because="the diagram shows connections, and a word’s vector what passes through them.",
    ),
)
