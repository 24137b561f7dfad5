"""What `tfm_core` promises: its public names by group, each with the module that it comes from when it is asked for.

`import tfm_core` imports none of these modules, so that whoever needs a mask does not wait for training or checks.
`tfm_core/__init__.py` names the same for readers and type checkers; `tests/test_api.py` compares the two.
"""

import warnings
from collections.abc import Mapping
from importlib import import_module
from typing import NamedTuple

PACKAGE = __name__.partition(".")[0]


class Group(NamedTuple):
    """Public names that belong together.

    Attributes:
        about: what they are, in a line.
        modules: module of `tfm_core` -> the public names that it has.
        extra: of the distribution, that brings what these modules import beside the base installation; "" for none.
    """

    about: str
    modules: Mapping[str, tuple[str, ...]]
    extra: str = ""

    @property
    def names(self) -> list[str]:
        """Constants first, then classes, then functions, each by the alphabet: the order of `__all__`."""
        names = (name for names in self.modules.values() for name in names)
        return sorted(names, key=lambda name: (not name.isupper(), not name[0].isupper(), name))


GROUPS: dict[str, Group] = {
    "model": Group(
        "The transformer: its configuration, attention, layers, tokens, and Lab GPT.",
        {
            "language.lab_gpt": ("LAB_GPT", "lab_tokenizer"),
            "language.prompt": ("lab_prompt",),
            "model.attention": ("ATTENTION", "MultiHeadAttention"),
            "model.cache": ("KeyValueCache", "can_cache"),
            "model.classifier": ("SequenceClassifier",),
            "model.config": ("TransformerConfig",),
            "model.feed_forward": ("ACTIVATIONS", "FeedForward"),
            "model.kind": ("ARCHITECTURES", "NORMS"),
            "model.layer": ("WIRINGS", "TransformerLayer"),
            "model.linear_attention": ("linear_attention", "linear_attention_weights"),
            "model.scaled_dot_product": (
                "attention_scores",
                "attention_weights",
                "mask_scores",
                "scaled_dot_product_attention",
            ),
            "model.tokens": ("TOKENIZERS", "Tokens", "encode"),
            "model.transformer": ("Transformer",),
        },
    ),
    "masks": Group(
        "Who may see whom, as boolean tensors: True = may attend.",
        {
            "masks.basic": ("causal_mask", "combine_masks", "either_mask", "padding_mask", "to_additive", "to_ignore"),
            "masks.patterns": (
                "MASKS",
                "cross_mask",
                "document_mask",
                "global_mask",
                "prefix_mask",
                "strided_mask",
                "window_mask",
            ),
        },
    ),
    "positional": Group(
        "Positional encodings: their equations, and the schemes that a model can have.",
        {
            "positional.maths": ("alibi_slopes", "apply_rotary", "sinusoidal_encoding", "t5_buckets"),
            "positional.schemes": ("POSITIONAL", "Positional"),
        },
    ),
    "recording": Group(
        "What a pass computes on its way, kept or edited by name.",
        {
            "model.recording": ("Trace", "recording", "tap"),
        },
    ),
    "training": Group(
        "Tasks with known answers, and learning them.",
        {
            "training.config": ("TrainingConfig",),
            "training.store": ("run_store",),
            "training.tasks.table": ("TASKS",),
            "training.train": ("train",),
        },
    ),
    "generation": Group(
        "Writing with a decoder, token after token.",
        {
            "generation.beam": ("Beam", "BeamStep", "Beams", "beam_search"),
            "generation.course": ("Course", "Step"),
            "generation.decoding": ("Generation", "generate"),
            "generation.gpt2": ("to_gpt2",),
            "generation.sampling": ("Draw", "Sampling", "draw", "next_token"),
            "generation.surprise": ("Surprise", "surprise"),
        },
    ),
    "study": Group(
        "What can be asked of a model: what reaches what, what a score is made of, what it costs, its mistakes.",
        {
            "study.aggregates": ("attention_rollout",),
            "study.attention_arrays": ("AttentionArray", "as_attention", "read_attention"),
            "study.attention_costs": ("AttentionCost", "attention_costs", "visible_pairs"),
            "study.attribution.scores": ("ScoreParts", "attribute_score"),
            "study.blocks": ("block_costs", "stack_blocks"),
            "study.counting": ("block_parameters",),
            "study.depth": ("DepthSignal", "parameter_gradients", "signals_by_depth"),
            "study.diagnosis": ("Diagnosis", "diagnose"),
            "study.distance": ("gradient_by_distance",),
            "study.exercise": ("Exercise",),
            "study.experiments": ("ScaleExperiment", "scale_experiment"),
            "study.leaks": ("Influence", "hops", "influence", "leaks", "reach_by_layer", "reachability", "route"),
            "study.logit_lens": ("logit_lens",),
            "study.tiling": ("Tile", "tiled_attention", "tiles"),
        },
    ),
    "checks": Group(
        "Checks of your own code, in a notebook or in pytest.",
        {
            "checks.attention": ("check_attention",),
            "checks.generating": ("check_generate",),
            "checks.layers": ("check_decoder_layer", "check_encoder_layer"),
            "checks.masks": ("check_causal_mask", "check_padding_mask"),
            "checks.multi_head": ("check_multi_head_attention",),
            "checks.norms": ("check_layer_norm",),
            "checks.positions": ("check_positional",),
            "checks.report": ("Report",),
            "checks.transformer": ("check_transformer",),
        },
    ),
    "pretrained": Group(
        "Models that others have trained, read from their files.",
        {
            "pretrained.reading": ("Pretrained", "load"),
        },
        extra="pretrained",
    ),
}

MODULES = {
    name: module for group in GROUPS.values() for module, names in group.modules.items() for name in names
}  # public name -> its module

# Rooms that `import tfm_core` makes reachable as attributes: tfm_core.pretrained.load.
ROOMS = (
    "checks",
    "clinic",
    "generation",
    "masks",
    "model",
    "positional",
    "pretrained",
    "profiling",
    "study",
    "training",
)

# What was public in 0.1 and is so no longer: old name of `tfm_core` -> module and name that have taken its place; with
# "()" what that function returns.
MOVED = {
    "STORE": ("training.store", "run_store()"),
    "collisions": ("model.tokens", "collisions"),
    "context_begin": ("generation.course", "context_begin"),
    "replacements": ("study.leaks", "replacements"),
    "span_of": ("model.attention", "span_of"),
}
GONE_IN = "1.0"  # the version that no longer has the names in `MOVED`


def found_by_name(name: str) -> object:
    """What `tfm_core` has under a name: public, a room, or, with a DeprecationWarning, what has moved.

    Raises:
        AttributeError: if there is nothing of this name.
        ModuleNotFoundError: for what needs a package that is not installed, with the extra that brings it.
    """
    if name in MODULES:
        return _promised(name)
    if name in ROOMS:
        return import_module(f"{PACKAGE}.{name}")
    if name in MOVED:
        room, new = MOVED[name]
        module, plain = f"{PACKAGE}.{room}", new.removesuffix("()")
        called = f", and call {new}" if new != plain else ""
        warnings.warn(
            f"{PACKAGE}.{name} goes in version {GONE_IN}: from {module} import {plain}{called}",
            DeprecationWarning,
            stacklevel=3,
        )
        thing = getattr(import_module(module), plain)
        return thing if new == plain else thing()
    raise AttributeError(f"module {PACKAGE!r} has no attribute {name!r}")


def _promised(name: str) -> object:
    try:
        return getattr(import_module(f"{PACKAGE}.{MODULES[name]}"), name)
    except ModuleNotFoundError as missing:
        extra = next((group.extra for group in GROUPS.values() if name in group.names), "")
        if not extra or missing.name is None or missing.name.startswith(PACKAGE):
            raise
        told = f"{PACKAGE}.{name} needs {missing.name}, of Attention Lab's extra [{extra}]"
        raise ModuleNotFoundError(f"{told}: pip install {missing.name}", name=missing.name) from missing
