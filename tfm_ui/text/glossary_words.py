"""The words of the glossary: what a first-year student may not know, each explained in a sentence of its own.

Words are explained in this file alone. A word that has another meaning in ordinary English, or in this app, says where
it is the one that is explained; `tfm_ui/text/glossary.py` reads these rules, and its tests have sentences for both.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Word:
    """A word with what it means.

    Attributes:
        about: the explanation.
        forms: how it is written beside itself and its plural in s.
        needs: a pattern that the text must hold besides: without it the word means something else there.
        only: a pattern that the text must hold where the word is meant; it includes the word.
        never: a pattern that the text may hold where the word is no word of the glossary; it includes the word.
    """

    about: str
    forms: tuple[str, ...] = ()
    needs: str = ""
    only: str = ""
    never: str = ""


# What a text speaks of that speaks of attention.
_OF_ATTENTION = (
    r"(?i:\b(quer(y|ies)|keys?|scores?|softmax|attention|attend|heads?|rows?|looks?|masks?|sinks?|mirror|tokens?)\b)"
)
_OF_KEYS = r"(?i:\b(keys?|quer(y|ies)|weights?)\b)"
# Weights that are parameters, and not those of attention.
_PARAMETERS = "|".join(
    (
        r"(?i:random|trained|these|same|first|own|without|with|as|no|any|choose|list of) weights",
        r"(?i:the|trained|shared?|model’s|other|all) weights (are the same|the same|that two|of the model)",
        r"(?i:no|every|each) weight (is|was|has|that|can)",
        r"(?i:weights?) (decay|tensors?|(here )?are (random|trained)|kept|and (inputs?|biases))",
        r"(?i:weights) of (transformers|torch|a (run|file))",
    )
)

GLOSSARY: Mapping[str, Word] = {
    "activation": Word("A function that is applied to each number of a hidden layer, such as ReLU.", ("activations",)),
    "Adam": Word("A rule of training that makes the steps of each parameter large or small by its past gradients."),
    "AdamW": Word("A rule of training that makes the steps of each parameter large or small by its past gradients."),
    "additive mask": Word(
        "A table of numbers that is added to the scores: 0 where a query may look, −∞ where it may not."
    ),
    "ALiBi": Word(
        "Attention with linear biases: each score is lowered by a slope times the distance of query and key.",
        ("alibi",),
    ),
    "attention": Word("How a token gathers from others: it gets a sum of their values, weighted by how well they fit."),
    "attention weight": Word(
        "How much a key’s value counts for a query, from 0 to 1; the softmax makes those of a query sum to 1."
    ),
    "batch": Word("Texts that a model computes with at the same time.", ("batches",)),
    "beam": Word("One of several texts that are written side by side; after each step the likeliest stay."),
    "bias": Word("A number that is added, here to a score.", needs=r"(?i:\bscores?\b)"),
    "bits": Word(
        "A unit of surprise: 1 bit for what had a chance of one half, 2 bits for one quarter.", needs=r"(?i:surpris)"
    ),
    "byte pairs": Word("A tokenizer whose tokens are letters, and pieces of text that occur often together.", ("BPE",)),
    "cache": Word(
        "The keys and values of earlier tokens, kept so that no step computes them again.",
        ("KV cache", "key-value cache"),
        needs=r"(?i:\b(tokens?|keys?|steps?|passes)\b)",
    ),
    "causal": Word("Each token sees itself and the tokens before it, never a later one."),
    "closed form": Word("A formula that gives the number directly, without running anything."),
    "CLS": Word("A token that stands before each text; a classifier reads what becomes of it.", ("[CLS]",)),
    "context": Word(
        "The tokens that the model can read at a time; there is a largest number of them.",
        only=r"\bcontext (of|holds|is|was)\b|\bthe context\b",
    ),
    "convolution": Word("A network in which each output is computed from a few neighbours alone."),
    "cosine": Word(
        "How alike the directions of two vectors are: 1 the same, 0 a right angle, −1 opposite.",
        only=r"\bcosine (of|with|between|similarity|to|is)\b",  # and no wave
    ),
    "cross-attention": Word("Attention in which the queries come from one text and the keys and values from another."),
    "d_ff": Word("How many hidden units the feed-forward network of a layer has."),
    "dₖ": Word("How many numbers a query or a key of one head has.", ("d_k",)),
    "d_model": Word("How many numbers the vector of each token has."),
    "decoder": Word("A stack of layers in which no token sees a later one, so that it can write a text."),
    "decoder-only": Word("A single stack of layers in which no token sees a later one, as in GPT."),
    "dimension": Word("One of the numbers of a vector, by its place in the list."),
    "dot product": Word("Two vectors multiplied number by number, and added up: large where they point the same way."),
    "dropout": Word("In training, numbers chosen at random are set to 0, so that the model relies on no single one."),
    "embedding": Word("The vector that stands for a token, before anything is computed with it."),
    "encoder": Word(
        "A stack of layers that reads a whole text: a token may see those after it, unless a mask hides them."
    ),
    "encoder-decoder": Word("Two stacks of layers: the encoder reads a text, and the decoder writes another one."),
    "entropy": Word(
        "How evenly weights or probabilities are spread, in nats: 0 if one has all, ln(n) if n are equal.",
        ("entropies",),
    ),
    "epoch": Word("One round of training through all examples."),
    "exact weights": Word("Every cell on screen is one weight."),
    "feed-forward": Word(
        "The part of a layer that works on each token alone: two matrix products and an activation.",
        ("feed-forward network", "feed-forward networks", "FFN"),
    ),
    "fine-tuning": Word("Training a pretrained model a little further, for one purpose.", ("fine-tuned",)),
    "float32": Word("Numbers as computers keep them in 32 bits: about 7 digits are right."),
    "float64": Word("Numbers as computers keep them in 64 bits: about 16 digits are right."),
    "FLOPs": Word("Floating point operations: how many additions and multiplications a computation needs."),
    "fused kernel": Word("One call that does scores, softmax and weighted sum together and never stores the weights."),
    "GELU": Word("An activation: a ReLU whose corner is round.", ("gelu",)),
    "GFLOP": Word("A thousand million floating point operations, which are additions and multiplications."),
    "gradient": Word("How fast a result changes when an input changes; training follows it."),
    "greedily": Word("At each step the likeliest token is written.", ("greedy",)),
    "GRU": Word("A recurrent network: it reads the tokens one after the other."),
    "head": Word(
        "One of several attentions side by side in a layer; each can look at something else.",
        never=r"(?i:\b(linear|classification|language|that) heads?\b)|\b[Hh]eads? (for \d|of a column)",
    ),
    "held-out": Word("Kept apart: training has never used these examples.", ("held out",)),
    "hidden unit": Word("A number between the two matrices of a feed-forward network."),
    "induction head": Word("A head that looks at what came after the same token before, so that it can be repeated."),
    "key": Word(
        "A vector that says what can be found there: the better it fits a query, the more weight it gets.",
        needs=r"(?i:\b(quer(y|ies)|values?|scores?|softmax|weights?|masks?|look(s|ed)?|attention|attend|bool|int64"
        r"|float32|max_len|row)\b)",
        never=r"(?i:\barrow keys?\b|\bkeys? (of|on) (the|your) keyboard\b|\bpress (a|the) key\b)",
    ),
    "layer": Word("A part of a network; in a transformer attention, then a feed-forward network, for all tokens."),
    "leak": Word("What a token gets to know of one that the mask forbids it to see.", never=r"\bpairs leak\b"),
    "learning rate": Word("How far each step of training moves the parameters."),
    "linear attention": Word("Attention without a softmax: it needs no table of all pairs of tokens."),
    "logistic regression": Word("The simplest network: one sum of weighted inputs, turned into a probability."),
    "logits": Word(
        "One number for each token of the vocabulary, before the softmax turns them into probabilities.", ("logit",)
    ),
    "loss": Word(
        "How wrong the answers are: the smaller the probability of the right one, the larger it is.", ("losses",)
    ),
    "LSTM": Word("A recurrent network: it reads the tokens one after the other."),
    "mask": Word("What forbids some tokens to see others: a forbidden pair gets no weight."),
    "matrix": Word("A table of numbers; a vector times a matrix is another vector.", ("matrices",)),
    "median": Word("The middle value: half of the measurements lie below it, half above."),
    "MFLOP": Word("A million floating point operations, which are additions and multiplications."),
    "MiB": Word("2²⁰ bytes of memory, about a million."),
    "min-p": Word("Only tokens are left that are at least p times as likely as the likeliest."),
    "multiply-adds": Word("One multiplication and one addition, the step of which matrix products are made."),
    "NaN": Word("Not a number: what 0 / 0 gives. Whatever is computed with NaN becomes NaN."),
    "nats": Word("The unit of entropy with natural logarithms: 1 nat is about 1.44 bits."),
    "norm": Word(
        "A step that gives each token’s numbers a common size, so that many layers can follow each other.",
        ("layer norm", "layer norms", "normalization", "LayerNorm", "RMSNorm"),
        never=r"\b[Nn]orms? (of|are all)\b|\bevery norm is\b",
    ),
    "PAD": Word("Padding: a token without meaning that fills short texts of a batch up to one length.", ("PADs",)),
    "padding": Word("Tokens without meaning (PAD) that fill short texts of a batch up to one length."),
    "parameter": Word("A number of the model that training sets, such as one of a matrix."),
    "perplexity": Word(
        "Among how many equally likely tokens the model would be as unsure as it is.", ("perplexities",)
    ),
    "pooled": Word("There are more weights than cells on screen: each cell shows the largest weight of its block."),
    "position": Word("The place of a token in the text, and what tells the model of it."),
    "post-norm": Word("The norm stands after each sum, as in the paper of 2017."),
    "pre-norm": Word("The norm stands before each sub-layer, and not in the way from layer to layer."),
    "pretrained": Word("Trained before on much text, so that it need not be trained here."),
    "probability": Word(
        "How likely something is, from 0 to 1; those of all that can come sum to 1.", ("probabilities",)
    ),
    "projection": Word("A vector times a matrix of the model: so queries, keys and values are made."),
    "prompt": Word("The text that the model is given, and goes on from."),
    "quartile": Word("A quarter of the measurements lie below the first quartile, a quarter above the third."),
    "query": Word(
        "A vector that says what is looked for: its dot product with each key tells how well they fit.",
        ("queries",),
    ),
    "random weights": Word(
        "Parameters drawn at random, by the seed: this model has learned nothing.", ("weights are random",)
    ),
    "recurrent": Word(
        "Reading one token after the other, and carrying what is known along.", ("recurrent network", "RNN")
    ),
    "ReLU": Word("An activation: numbers below 0 become 0, the others stay.", ("relu",)),
    "residual": Word("A way around a sub-layer: what it has read is added to what it writes."),
    "residual stream": Word("The vector of each token on its way through the layers: each sub-layer adds its output."),
    "rollout": Word("The attention of all layers multiplied together, half of each layer passing through unchanged."),
    "roofline": Word("The most that a machine can do, limited by arithmetic or by how fast memory delivers numbers."),
    "RoPE": Word(
        "Rotary position embedding: queries and keys are turned by an angle that grows with their position.", ("rope",)
    ),
    "score": Word(
        "How well a query and a key fit: their dot product. The softmax makes weights of a row of scores.",
        never=r"\bscores high\b|\ba score(, the logit|, from the logits| for each (token|of the))\b",
    ),
    "seed": Word("A number from which all random numbers follow: the same seed, the same numbers."),
    "self-attention": Word("Attention in which queries, keys and values all come from the same text."),
    "SiLU": Word("An activation: a number times its sigmoid, a ReLU whose corner is round.", ("silu",)),
    "sink": Word(
        "A token on which many queries put much of their weight, whatever they look for.",
        ("attention sink", "attention sinks"),
    ),
    "sinusoid": Word(
        "A sine or cosine wave; many of them, added to the embeddings, tell where a token stands.", ("sinusoidal",)
    ),
    "softmax": Word(
        "Turns a row of scores into positive weights that sum to 1: each is e to the score, over their sum."
    ),
    "stack": Word("Layers one after the other.", never=r"\bstack\.\w"),
    "standard deviation": Word("How far numbers lie from their mean, as a kind of average."),
    "sub-layer": Word("One of the parts of a layer: an attention, or the feed-forward network."),
    "surprise": Word("−log₂ of a token’s probability: 0 if it was certain, 1 bit if its chance was one half."),
    "SwiGLU": Word(
        "An activation with a gate: one matrix product decides how much of another one passes.", ("swiglu",)
    ),
    "T5": Word("Named after a model: a learned number for each range of distances is added to the scores.", ("t5",)),
    "temperature": Word("What scores or logits are divided by before the softmax: low makes it sharp, high even."),
    "tensor": Word("Numbers in rows and columns, and further axes where there are some."),
    "tied": Word("The matrix that gives the logits is the table of embeddings itself.", never=r"\bthat tied\b"),
    "token": Word("A piece of text as the model reads it: a word, a part of one, or a sign."),
    "tokenizer": Word("What cuts a text into tokens."),
    "top-k": Word("Only the k likeliest tokens are left to be drawn."),
    "top-p": Word("Only the likeliest tokens are left, as many as have a probability of p together."),
    "training": Word("Changing the parameters in small steps, so that the loss falls."),
    "transformer": Word(
        "A network of layers with attention.",
        never=r"\b(weights of|as|by|and) transformers\b|\btransformers(’| (is|was|stores|has)\b)",
    ),
    "under load": Word("Other programs used the processor while this was measured, so the time may be too long."),
    "untied": Word("The matrix that gives the logits is another one than the table of embeddings."),
    "value": Word(
        "What is passed on from where a key stands: the result is the sum of values times their weights.",
        needs=_OF_KEYS,
        never="|".join(
            (
                r"\d values\b|\b(the value furthest|has no value|the values are not)\b",
                r"\b(times )?its value( at| ×)?",
                r"\b(smallest|largest)( and the (smallest|largest))? value\b",
            )
        ),
    ),
    "variance": Word("How far numbers spread: the mean square of their distance from their mean."),
    "vector": Word("A list of numbers that belong together, such as those that stand for one token."),
    "vocabulary": Word("All tokens that the model knows.", ("vocabularies",)),
    "warm-up": Word("The first steps of training, in which the learning rate grows."),
    "wavelength": Word("After how many positions a wave has turned once."),
    "weight": Word(
        "How much a key’s value counts for a query, from 0 to 1; the softmax makes those of a query sum to 1.",
        needs=_OF_ATTENTION,
        never=_PARAMETERS,
    ),
    "weight decay": Word("Each step of training also makes the parameters a little smaller."),
    "WordPiece": Word("A tokenizer that cuts rare words into parts; a part that goes on a word begins with ##."),
}
