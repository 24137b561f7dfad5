"""Presets: settings of a page that are worth a look, each with the question that makes it so. Pure.

A preset names what differs from the defaults; everything else goes back to them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tfm_ui.fields import State
from tfm_ui.model_state import ModelState


@dataclass(frozen=True)
class Preset:
    """One of them.

    Attributes:
        name: on its pill, two or three words.
        question: why look at this? To be answered by looking.
        model: field -> value, of the model panel.
        page: field -> value, of the page's own controls.
    """

    name: str
    question: str
    model: Mapping[str, Any] = field(default_factory=dict)
    page: Mapping[str, Any] = field(default_factory=dict)

    def holds(self, model: State, page: State | None = None) -> bool:
        """Whether everything is as this preset says."""
        return model == ModelState(**self.model) and (page is None or page == type(page)(**self.page))


def lit(presets: Sequence[Preset], model: State, page: State | None = None) -> Preset | None:
    """The preset that is on screen, if it is one."""
    return next((preset for preset in presets if preset.holds(model, page)), None)


def neighbour(presets: Sequence[Preset], now: Preset | None, step: int) -> Preset:
    """The preset `step` places on, round and round; from none, the first or the last."""
    at = presets.index(now) + step if now else min(step, 0)
    return presets[(at if now or step < 0 else 0) % len(presets)]


# What the questions take for granted is computed anew in tests/tfm_ui/test_presets.py.
HOME = (
    Preset(
        "First look",
        "Nobody has trained this model, and yet it would say “tired” again. Where could that come from?",
    ),
    Preset(
        "Much larger",
        "Forty-seven times the parameters, and it repeats “tired” all the more. What do parameters alone not bring?",
        model={"num_layers": 8, "num_heads": 16, "d_model": 256},
    ),
    Preset(
        "Another seed",
        "The same sentence, other random weights. Which of these pictures was ever about the sentence?",
        model={"seed": 2},
    ),
)
HEADS = (
    Preset(
        "First look",
        "The first row of every head is 1.00 and nothing else. Why could no training change that?",
    ),
    Preset(
        "Who saw whom?",
        "Positions are off: all four rows of “the” are alike to the last digit, in every head. "
        "How could this model ever tell who saw whom?",
        model={
            "text": "the dog saw the man and the man saw the dog",
            "seq_len": 11,
            "positional": "none",
            "causal": False,
        },
    ),
    Preset(
        "Looking ahead",
        "Causal is off, and about half of all weight now goes to tokens that come later. "
        "In which tasks would that be cheating?",
        model={"causal": False},
    ),
    Preset(
        "Many heads",
        "Sixteen heads share a width of 32: each compares tokens by 2 numbers. "
        "Are they alike? Find the sharpest and the bluntest.",
        model={"num_heads": 16},
    ),
    Preset(
        "A long text",
        "ALiBi takes more from a score the further away its key is, at a rate of its own in each head. "
        "Which head is the most short-sighted, and which barely notices?",
        model={"text": "@alice", "seq_len": 512, "num_layers": 4, "num_heads": 8, "positional": "alibi"},
    ),
    Preset(
        "Two texts",
        "Each German word looks at English ones, and no cell is masked. Why may it look ahead here?",
        model={"architecture": "encoder-decoder"},
        page={"kind": "cross"},
    ),
)
ATTENTION = (
    Preset(
        "Step by step",
        "Every number here has a history. Click one: which two vectors did it come from?",
    ),
    Preset(
        "Not scaled",
        "One head as wide as the model, its scores not divided: half of the rows that have a choice give one token "
        "nearly all. What happens when you switch √dₖ on?",
        model={"d_model": 256, "num_heads": 1},
        page={"scaled": False},
    ),
    Preset(
        "Half of the weight",
        "Less than a third of the lines carry half of each row's weight. Raise the share: from where on do more lines "
        "tell less?",
        page={"view": "arcs", "mass": 50},
    ),
    Preset(
        "Rollout",
        "Multiplied through both layers, every row's strongest line still leads back to its own token. "
        "Which half of the formula sees to that?",
        page={"view": "arcs", "lines": "rollout", "layer": 2},
    ),
    Preset(
        "Looks here, takes there",
        "“cat” looks most at “the”, and yet four fifths of what it gets come from itself. "
        "Which of the two maps says what this head does?",
        model={"num_heads": 16},
        page={"view": "contribution", "head": 6, "query": 2, "key": 1},
    ),
    Preset(
        "A sink",
        "More than half of all weight goes to “cat”, whoever looks; a quarter of what is written comes from there. "
        "What could a head need such a token for?",
        model={"num_heads": 16, "seed": 2},
        page={"view": "contribution", "layer": 2, "head": 5},
    ),
    Preset(
        "One weight",
        "A single weight of layer 1 is another one: “mat” looks at “cat” with 0.90. "
        "Why do tokens behind “mat” move too, and none before it?",
        page={"view": "change"},
    ),
    Preset(
        "A leak",
        "“sat” was made to look at “it”, five tokens ahead. Drag the weight down to 0: when does the leak end?",
        page={"view": "change", "changes": "weight 1.1 3>8 0.5", "query": 3, "key": 8},
    ),
    Preset(
        "Why √dₖ",
        "One head as wide as the model compares tokens by 256 numbers. Undivided, half of the draws leave the softmax "
        "less than a twentieth of the gradient that division by √dₖ leaves it. From which dₖ on does that hurt?",
        model={"d_model": 256, "num_heads": 1},
        page={"view": "scale"},
    ),
    Preset(
        "Longer keys win",
        "The query lies exactly on key A, and yet key B gets more of the weight. "
        "What does a dot product measure that a distance does not?",
        page={"view": "dictionary", "entries": "0.8,0.3,10 1.8,0.1,20 -1,0.5,30 0,-1.2,40", "ask": "0.8,0.3"},
    ),
)
POSITIONS = (
    Preset(
        "First look",
        "Both sides are made of the same 32 wavelengths. What is added on the left, and what is turned on the right?",
    ),
    Preset(
        "One clock",
        "Two dimensions, one wave: positions 0 and 44 are hardly 0.02 apart. "
        "How wide must the vectors be until no two of 64 positions come closer than 1?",
        page={"view": "why", "width": 2, "b": "nothing"},
    ),
    Preset(
        "Distance alone",
        "Turned, a query and a key have one score per distance; with positions added, a cloud of them. "
        "Which of the two could a head learn “three words back” from more easily?",
        page={"view": "why"},
    ),
    Preset(
        "Slopes and buckets",
        "ALiBi’s slopes are fixed, T5’s numbers are noise until they are trained. "
        "From which distance on are all tokens the same to T5, and to ALiBi?",
        page={"a": "alibi", "b": "t5", "length": 160},
    ),
    Preset(
        "Without an order",
        "Neither positions nor a mask: the words are shuffled, and every output moves along with its word. "
        "What could such a model never tell apart?",
        model={"positional": "none", "causal": False},
        page={"view": "model", "a": "none", "b": "sinusoidal"},
    ),
    Preset(
        "Past the end",
        "Trained on 64 positions, asked for 128. One of the two has no 65th row. "
        "What has the other, and was that ever trained?",
        page={"view": "beyond", "a": "learned", "b": "rope", "length": 128, "max_len": 64},
    ),
    Preset(
        "The wrong axis",
        "No error, no warning, and all words of a sentence stand at the same place. Which test would have found it?",
        page={"view": "fault"},
    ),
    Preset(
        "The largest",
        "4,096 positions of 512 dimensions, each pixel the largest of its block. "
        "Where do the waves stop changing within the text, and what are those dimensions good for?",
        page={"width": 512, "length": 4096, "b": "nothing", "dims": "200 256 320 384 448 510"},
    ),
)
MASKS = (
    Preset(
        "First look",
        "Five of these ten columns are grey from top to bottom. Who took them away, and who pays the weight back?",
    ),
    Preset(
        "Sliding window",
        "Each word sees itself and the two before it. The tenth sees three words in layer 1: "
        "of how many has its vector heard after two layers?",
        page={"mask": "window 3", "item": 1},
    ),
    Preset(
        "Longformer",
        "Every word sees two neighbours on either side; the first sees all, and all see it. "
        "How many layers does it take until every word has heard of every other?",
        model={"causal": False},
        page={"mask": "window 3 or global 1", "item": 1},
    ),
    Preset(
        "Packed documents",
        "Three documents share one row, and none sees another. Paint one cell that lets a document look into the one "
        "before it: which weights move, and which stay?",
        page={"mask": "documents 4 3", "item": 1},
    ),
    Preset(
        "Leaky by one",
        "The mask was shifted by one: a single diagonal too many. Through two layers, how far ahead can a token see?",
        model={"causal": False},
        page={"view": "leaks", "mask": "causal 1 and padding", "promise": "causal and padding", "item": 1},
    ),
    Preset(
        "Through the window",
        "A window of 2 lets each token see its two neighbours alone. Behind which layer has the first of eight words "
        "reached the last?",
        model={"causal": False, "seq_len": 8, "num_layers": 8},
        page={"view": "leaks", "mask": "window 2", "item": 1},
    ),
    Preset(
        "One cell too many",
        "A causal mask, and one cell painted by hand: token 2 may look at token 9. Through two layers, how many pairs "
        "leak?",
        page={"view": "leaks", "mask": "causal", "paint": "2x9.TAAAACQ", "item": 1},
    ),
    Preset(
        "Without the mask",
        "Five PADs that nobody hides take a quarter of a token’s weight, and every output moves. Hidden, they change "
        "nothing but the last digits. Which of the two would you notice, if the loss still went down?",
        model={"causal": False},
        page={"view": "padding"},
    ),
    Preset(
        "One NaN",
        "Five rows of padding have no key, and no token may look at them. A layer later every token is NaN. "
        "What is 0 × NaN?",
        page={"view": "padding", "mask": "cross"},
    ),
    Preset(
        "Which way round?",
        "The same booleans, and opposite meanings. Handed over the wrong way round, none of these calls complains. "
        "Whose outputs at least become NaN, and for which queries?",
        page={"view": "conventions", "convention": "MHA, attn_mask per head"},
    ),
)
