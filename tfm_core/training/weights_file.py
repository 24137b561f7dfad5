"""Trained weights as one file to take along: safetensors, with the run's configuration in its header."""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from hashlib import blake2b
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import nn

from tfm_core.model.recording import recording
from tfm_core.training.config import TrainingConfig
from tfm_core.training.examples import EVALUATED, PROBES, held_out
from tfm_core.training.files import MOST_TOLD, NotARun, as_text, check_shapes, check_weights
from tfm_core.training.networks import network
from tfm_core.training.run import Point, Run
from tfm_core.training.scores import look
from tfm_core.training.tasks.task import Examples

MOST_BYTES = 8_000_000
HEADER = 8  # bytes that say how long the header is
MOST_HEADER = 200_000  # bytes of it: that of the largest network and vocabulary has 34,000
FORMAT = "expected a file of weights in the format safetensors"
LARGEST = 1e12  # what a trained network passes on is below 100; what lenses compute of more is beyond float32


def as_file(run: Run) -> bytes:
    """The weights of a run, and in the header its configuration and vocabulary: the same bytes each time."""
    about = {"config": asdict(run.config), "vocabulary": run.config.about.vocabulary}
    # A single entry: safetensors writes several in an order that changes.
    return save({name: value.contiguous() for name, value in run.weights.items()}, metadata={"run": json.dumps(about)})


def from_file(content: bytes) -> Run:
    """The run whose weights are in a file of `as_file`. Its name holds a hash of the file, as nobody knows their past.

    What the weights can do is measured anew, on held-out examples of the task. No tensor is made before the header
    names exactly those of the configuration.

    Raises:
        NotARun: for anything else; the message says what was expected and what came.
    """
    if len(content) > MOST_BYTES:
        raise NotARun(f"expected a file of at most {MOST_BYTES // 1_000_000} MB, got {len(content) / 1e6:.1f} MB")
    try:
        header = _header(content)
        known = json.loads(header.pop("__metadata__")["run"])["config"]
        config = replace(TrainingConfig(**known), file=blake2b(content, digest_size=16).hexdigest())
    except NotARun:
        raise
    except KeyError as problem:
        raise NotARun(
            "expected a file of weights that this app has written: its header names no configuration"
        ) from problem
    except (ValueError, TypeError, RecursionError) as problem:
        told = as_text(str(problem), MOST_TOLD)
        raise NotARun(f"expected the configuration of a run in the file's header; {told}") from problem
    check_shapes(config, {name: about.get("shape") for name, about in header.items()})
    try:
        weights = load(content)
    except SafetensorError as problem:
        raise NotARun(f"{FORMAT}; {as_text(str(problem), MOST_TOLD)}") from problem
    check_weights(config, weights)
    return _measured(config, weights)


def _header(content: bytes) -> dict[str, Any]:
    """The name of each tensor and what is said of it, and "__metadata__"."""
    length = int.from_bytes(content[:HEADER], "little")
    if length > MOST_HEADER:
        raise NotARun(f"{FORMAT}, with at most {MOST_HEADER:,} bytes of header, got {length:,}")
    try:
        header = json.loads(content[HEADER : HEADER + length])
    except (ValueError, RecursionError) as problem:
        raise NotARun(f"{FORMAT}; its header cannot be read") from problem
    if not isinstance(header, dict) or not all(isinstance(about, dict) for about in header.values()):
        raise NotARun(f"{FORMAT}; its header does not say what it holds")
    return header


def _measured(config: TrainingConfig, weights: Mapping[str, torch.Tensor]) -> Run:
    model = network(config)
    model.load_state_dict(dict(weights), strict=False)  # tied weights have two names in it
    examples = held_out(config, EVALUATED)
    _check_pass(model, examples)
    looked = look(model, examples, attention=config.network == "transformer")
    return Run(
        config=config,
        losses=torch.zeros(0),
        points=(Point(config.steps, looked.loss, looked.accuracy, looked.exact),),
        maps={name: maps[None, :PROBES] for name, maps in looked.weights.items()},
        said=looked.said[None, :PROBES],
        snapshots=(config.steps,),
        weights=weights,
        optimizer={},
        seconds=0.0,
        stepping=0.0,
        problem="",
        made_with="a file",
    )


def _check_pass(model: nn.Module, examples: Examples) -> None:
    """Refuse weights with which anything in a pass over these examples, from attention to logits, is no usable number.

    Raises:
        NotARun: naming the first site where that is so.
    """

    def check(site: str, passing: torch.Tensor) -> None:
        # Scores of hidden pairs are -inf, and what is left of them is in the weights.
        if passing.is_floating_point() and not site.endswith("masked_scores"):
            largest = float(passing.abs().max())
            if not largest <= LARGEST:  # neither is NaN
                raise NotARun(
                    f"expected weights with which every number on the way to the logits is at most {LARGEST:.0e}, got "
                    f"{largest:.1e} at {site}"
                )

    with torch.no_grad(), recording((), watch={"*": check}):
        check("logits", model.eval()(*examples.inputs))
