"""Trained weights as one file to take along: safetensors, with the run's configuration in its header."""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from hashlib import blake2b
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from tfm_core.training.config import TrainingConfig
from tfm_core.training.examples import EVALUATED, PROBES, held_out
from tfm_core.training.files import NotARun, check_weights
from tfm_core.training.networks import network
from tfm_core.training.run import Point, Run
from tfm_core.training.scores import look

MOST_BYTES = 8_000_000
HEADER = 8  # bytes that say how long the header is


def as_file(run: Run) -> bytes:
    """The weights of a run, and in the header its configuration and vocabulary: the same bytes each time."""
    about = {"config": asdict(run.config), "vocabulary": run.config.about.vocabulary}
    # A single entry: safetensors writes several in an order that changes.
    return save({name: value.contiguous() for name, value in run.weights.items()}, metadata={"run": json.dumps(about)})


def from_file(content: bytes) -> Run:
    """The run whose weights are in a file of `as_file`. Its name holds a hash of the file, as nobody knows their past.

    What the weights can do is measured anew, on held-out examples of the task.

    Raises:
        NotARun: for anything else; the message says what was expected and what came.
    """
    if len(content) > MOST_BYTES:
        raise NotARun(f"expected a file of at most {MOST_BYTES // 1_000_000} MB, got {len(content) / 1e6:.1f} MB")
    try:
        weights = load(content)
        known = json.loads(_metadata(content)["run"])["config"]
        config = replace(TrainingConfig(**known), file=blake2b(content, digest_size=6).hexdigest())
    except SafetensorError as problem:
        raise NotARun(f"expected a file of weights in the format safetensors; {problem}") from problem
    except KeyError as problem:
        raise NotARun(
            "expected a file of weights that this app has written: its header names no configuration"
        ) from problem
    except (ValueError, TypeError, RecursionError) as problem:
        raise NotARun(f"expected the configuration of a run in the file's header; {problem}") from problem
    check_weights(config, weights)
    return _measured(config, weights)


def _metadata(content: bytes) -> Mapping[str, str]:
    header: Mapping[str, Any] = json.loads(content[HEADER : HEADER + int.from_bytes(content[:HEADER], "little")])
    metadata: Mapping[str, str] = header["__metadata__"]
    return metadata


def _measured(config: TrainingConfig, weights: Mapping[str, torch.Tensor]) -> Run:
    model = network(config)
    model.load_state_dict(dict(weights), strict=False)  # tied weights have two names in it
    examples = held_out(config, EVALUATED)
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
