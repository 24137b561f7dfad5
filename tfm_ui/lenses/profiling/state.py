"""The Profiling lens's own controls: which view, what is measured, and what of it is looked at."""

import os
from dataclasses import dataclass
from types import MappingProxyType

import torch

from tfm_core.profiling import TARGETS
from tfm_ui.state.fields import Choice, Flag, Text, Whole, control
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.lists import Names

PREFIX = "profiling_"
VIEWS = ("compare", "parts", "roofline", "length")
DEVICES = ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",)
CORES = os.cpu_count() or 1
LENGTHS = (32, 64, 128, 256, 512, 1024, 2048)
MOST_ROWS = 40
LARGEST_VOCABULARY = 200_000
SIZES = "64, 4, 2, 50\n128, 8, 4, 50\n256, 8, 6, 50\n128, 8, 4, 100\n128, 8, 4, 200"  # those of the library


@dataclass(frozen=True, kw_only=True)
class ProfilingState(LensState):
    """One for all views: `compare`, `parts` and `roofline` show one measurement, `length` has its own."""

    EARLIER = MappingProxyType({"embedding": ("count_embedding", "count_output")})  # it was one switch
    NOT_SET_UP = LensState.NOT_SET_UP | {"run"}  # who measures has not left the question's set-up

    view: str = control(Choice("View", VIEWS, "buttons"), default="compare", held=True)

    # what is measured together
    sizes: str = control(Text("A line each: d_model, heads, layers, length", 600, height=158), default=SIZES)
    targets: str = control(Names("Targets", tuple(TARGETS)), default="with weights", held=True)
    batch: int = control(Whole("Batch", 1, 64, box=True, help="Sequences side by side."), default=16)

    # what is counted of the transformer
    count_embedding: bool = control(
        Flag("Embedding", help="Token ids go in, and their matrix counts. Off: vectors go in."), default=False
    )
    count_output: bool = control(
        Flag(
            "Output",
            help="Logits come out, and their operations count. Off: vectors come out. With the embedding, one matrix "
            "serves both, as in the sidebar’s model.",
        ),
        default=False,
    )
    vocabulary: int = control(
        Whole(
            "Vocabulary",
            0,
            LARGEST_VOCABULARY,
            box=True,
            help="Token ids of embedding and output, where they count; 0: as many as the sidebar’s tokenizer has.",
        ),
        default=0,
    )

    # length: the sidebar's model
    target: str = control(Choice("Target", tuple(TARGETS)), default="with weights")
    longest: int = control(Choice("Up to", LENGTHS[3:], help="Tokens of the longest sequence."), default=2048)
    length_batch: int = control(Whole("Batch", 1, 64, box=True, help="Sequences side by side."), default=1)

    # how
    rounds: int = control(Whole("Rounds", 3, 30, box=True, help="How often each has its turn."), default=9)
    backward: bool = control(Flag("Forward + backward too"), default=True)
    dtype: str = control(Choice("dtype", ("float32", "bfloat16", "float64")), default="float32")
    device: str = control(Choice("Device", DEVICES), default="cpu")
    threads: int = control(
        Whole("Threads", 1, CORES, box=True, help="More threads than free cores: one busy neighbour stalls them all."),
        default=1,
    )

    # what of it is looked at
    run: str = control(Text("Measurement", 12), default="", held=True)
    baseline: int = control(
        Whole("Beside row", 1, MOST_ROWS, box=True, help="Ratios are taken over this row."), default=1
    )
    row: int = control(Whole("Row", 1, MOST_ROWS, box=True), default=1)
