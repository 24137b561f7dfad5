"""What breaks when all heads with a role are silent, beside as many heads drawn at random.

That heads look where grammar says is no proof that the model uses it. So their outputs are set to zero, and what the
model says is compared: on the marked sentences, on random tokens that come twice, and where a verb has to agree with
its subject. Michel et al. 2019, "Are Sixteen Heads Really Better than One?", and Voita et al. 2019, section 6, remove
heads to see which matter.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from tfm_core.language.head_scores import LENGTH, repeated_tokens
from tfm_core.language.marked import ReadSentences
from tfm_core.language.role_scores import batches
from tfm_core.language.roles import ROLES, SINKS, Measured
from tfm_core.model.initialization import generator
from tfm_core.model.recording import Edit, recording
from tfm_core.model.transformer import Transformer

DRAWS = 5  # of as many random heads
REPEATED = 4  # texts of random tokens
EVERY = 6  # of an encoder that fills in words, each sixth token is hidden
IGNORED = -100

# What is measured: name -> in words. Not all of it can be measured of each model.
MEASURES: Mapping[str, str] = {
    "prose": "nats per token on the marked sentences",
    "repeats": "nats per token on random tokens, the second time that they come",
    "agreement": "log-odds of the verb’s right form against the wrong one, in nats",
    "right": "share of verbs whose right form is likelier than the wrong one",
    "moved": "how far the last layer’s output moves, as a share of its length",
}
Heads = Sequence[tuple[int, int]]  # layer and head, from 0
Values = dict[str, float]  # measure -> value


@dataclass(frozen=True)
class Silenced:
    """What a role's heads do for the model.

    Attributes:
        heads: layer and head of those that have the role, from 0.
        whole: measure -> value of the model as it is.
        silent: measure -> value with these heads silent.
        random: of each draw, measure -> value with as many other heads silent.
        are_others: whether the draws leave the role's heads out; else there were too few others.
    """

    heads: tuple[tuple[int, int], ...]
    whole: Values
    silent: Values
    random: tuple[Values, ...]
    are_others: bool

    def change(self, measure: str) -> float:
        """The measure's change with the role's heads silent."""
        return self.silent[measure] - self.whole[measure]

    def random_changes(self, measure: str) -> list[float]:
        """The same change in each draw of random heads."""
        return [each[measure] - self.whole[measure] for each in self.random]

    def is_worse(self, measure: str) -> bool:
        """Whether the role's heads do more harm than each of the draws."""
        sign = -1 if measure in ("agreement", "right") else 1
        return sign * self.change(measure) > max(sign * each for each in [0.0, *self.random_changes(measure)])


def without(heads: Heads) -> dict[str, Edit]:
    """Edits for `recording`: nothing comes out of these heads; layers and heads from 0."""
    layers: dict[int, list[int]] = {}
    for layer, head in heads:
        layers.setdefault(layer, []).append(head)
    return {f"layers.{layer}.self_attention.head_output": _zero(each) for layer, each in layers.items()}


def _zero(heads: list[int]) -> Callable[[Tensor], Tensor]:
    def zero(outputs: Tensor) -> Tensor:
        outputs[:, heads] = 0
        return outputs

    return zero


@dataclass(frozen=True)
class _Batch:
    """Texts of the same length.

    Attributes:
        ids: int64 (text, token).
        targets: int64 (text, token), what each place should say; `IGNORED` where nothing is asked.
        choices: text, place that says it, id of the right form, id of the wrong one.
    """

    ids: Tensor
    targets: Tensor
    choices: tuple[tuple[int, int, int, int], ...]


def _batches(model: Transformer, read: ReadSentences) -> Iterator[_Batch]:
    """The marked sentences, with what a model is asked in them."""
    texts: list[tuple[list[int], list[int], list[tuple[int, int, int]]]] = []
    for number, sentence in enumerate(read.sentences):
        ids = list(sentence.ids)
        if model.config.architecture == "decoder":
            texts.append((ids, [*ids[1:], IGNORED], [(at - 1, a, b) for at, a, b in sentence.choices]))
            continue
        if read.mask_id < 0:
            texts.append((ids, [IGNORED] * len(ids), []))
            continue
        hidden = range(len(read.before) + number % EVERY, len(ids) - len(read.after), EVERY)
        masked = [read.mask_id if at in hidden else each for at, each in enumerate(ids)]
        texts.append((masked, [each if at in hidden else IGNORED for at, each in enumerate(ids)], []))
        for at, right, wrong in sentence.choices:
            masked = [*ids[:at], read.mask_id, *ids[at + 1 :]]
            texts.append((masked, [IGNORED] * len(ids), [(at, right, wrong)]))
    for together in batches([len(ids) for ids, _, _ in texts]):
        choices = [(row, *choice) for row, at in enumerate(together) for choice in texts[at][2]]
        yield _Batch(
            torch.tensor([texts[at][0] for at in together]),
            torch.tensor([texts[at][1] for at in together]),
            tuple(choices),
        )


@dataclass(frozen=True)
class _Told:
    """What a model said, with some heads silent or none."""

    values: Values
    states: tuple[Tensor, ...]


@torch.no_grad()
def _run(model: Transformer, batches: Sequence[_Batch], twice: Tensor | None, silent: Heads) -> _Told:
    losses, odds, states = [], [], []
    with recording((), edits=without(silent)):
        for batch in batches:
            states.append(model.states(batch.ids))
            if model.config.head == "none":
                continue
            told = model.logits(states[-1]).log_softmax(-1)
            losses.append(-told.gather(-1, batch.targets.clamp(min=0)[..., None])[..., 0][batch.targets != IGNORED])
            odds += [float(told[row, at, right] - told[row, at, wrong]) for row, at, right, wrong in batch.choices]
        values = {"prose": torch.cat(losses).mean().item()} if losses and torch.cat(losses).numel() else {}
        if twice is not None:
            told = model.logits(model.states(twice)[:, LENGTH:-1])
            values["repeats"] = F.cross_entropy(told.flatten(0, 1), twice[:, LENGTH + 1 :].flatten()).item()
    if odds:
        values["agreement"] = sum(odds) / len(odds)
        values["right"] = sum(each > 0 for each in odds) / len(odds)
    return _Told(values, tuple(states))


def silenced(
    model: Transformer, read: ReadSentences, measured: Measured, *, draws: int = DRAWS, seed: int = 0
) -> Iterator[tuple[str, Silenced]]:
    """What breaks without the heads of each role that any head has: role and result, one role after the other.

    Args:
        model: in evaluation mode.
        read: the marked sentences in its tokens.
        measured: the scores of its heads, as `role_scores` gives them.
        draws: of as many random heads.
        seed: of the draws and of the random tokens.
    """
    asked = list(_batches(model, read))
    twice = None
    if model.config.architecture == "decoder":
        twice = repeated_tokens(model.config.vocab_size, first_id=read.first_id, seed=seed)[:REPEATED]
    whole = _run(model, asked, twice, ())
    every = [(layer, head) for layer in range(model.config.num_layers) for head in range(model.config.num_heads)]

    def without_heads(heads: Heads) -> Values:
        told = _run(model, asked, twice, heads)
        lengths = torch.cat([each.norm(dim=-1).flatten() for each in whole.states])
        moved = torch.cat([(a - b).norm(dim=-1).flatten() for a, b in zip(told.states, whole.states, strict=True)])
        return told.values | {"moved": (moved / lengths).mean().item()}

    # Grammar first and sinks last, which take as long and tell less.
    for role in sorted(measured, key=lambda role: (not ROLES[role].is_syntax, role in SINKS)):
        heads = measured[role].heads
        if not heads:
            continue
        others = [each for each in every if each not in heads]
        among = others if len(others) >= len(heads) else every
        random = generator(seed, f"heads beside those of the role {role}")
        drawn = [[among[at] for at in torch.randperm(len(among), generator=random)[: len(heads)]] for _ in range(draws)]
        yield (
            role,
            Silenced(
                tuple(heads),
                whole.values | {"moved": 0.0},
                without_heads(heads),
                tuple(without_heads(each) for each in drawn),
                among is others,
            ),
        )
