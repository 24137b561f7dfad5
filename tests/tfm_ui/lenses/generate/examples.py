"""What the lens's tests share: models, and measurements that nobody has made."""

from tfm_core.model.cache import KeyValueCache
from tfm_core.profiling.decoding_report import AtLength, Decoding
from tfm_core.profiling.report import Blocks, Machine
from tfm_ui.lenses.generate.kept import measured
from tfm_ui.lenses.generate.state import GenerateState
from tfm_ui.state.model_state import ModelState

LAB = ModelState(weights="lab-gpt", text="The captain looked at the sea, and")
RANDOM = ModelState(architecture="decoder", tokenizer="byte", text="to be or not", positional="rope", num_layers=3)


def set_up(question):
    """The model and the controls of a question."""
    return ModelState(**question.model), GenerateState(**question.controls)


def report_of(model, seconds, *, name="abc123"):
    """A measurement in which each step took these seconds, with the cache and without."""
    plan = measured.plan(model)
    rounds = tuple(range(plan.rounds))
    cached, whole = (Blocks(seconds=(took,) * plan.rounds, rounds=rounds) for took in seconds)
    rows = tuple(
        AtLength(
            length=length,
            cached=cached,
            whole=whole,
            stored=KeyValueCache.memory_of(model.config, length),
            cached_peak=None,
            whole_peak=10,
        )
        for length in plan.lengths
    )
    machine = Machine(device="a machine", processor="a machine", cores=2, system="Linux", torch="2")
    started = "2026-11-25T20:00:00+00:00"
    return Decoding(id=name, plan=plan, machine=machine, measured=rows, started=started, seconds=4.0, complete=True)
