"""The roles of a model's heads, measured: on random tokens that come twice, and on sentences with marked pairs.

Positions and copies are looked for on random tokens, where no knowledge of language helps; punctuation and grammar on
the sentences of marked_sentences.txt.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import torch
from torch import Tensor

from tfm_core.language.head_scores import BATCH, LENGTH, repeated_tokens
from tfm_core.language.marked import ReadSentence, ReadSentences
from tfm_core.language.roles import LEAST_PAIRS, ROLES, Measured, RoleScores
from tfm_core.masks.basic import causal_mask
from tfm_core.model.initialization import generator
from tfm_core.model.recording import recording
from tfm_core.model.transformer import Transformer

ROUNDS = (
    40  # of the fit of attention by position alone: then a weight is off by a few hundredths at most, mostly by none
)
TINY = 1e-30
FIRST, LAST = 1, 2  # places of a key that count for themselves; 0 are all others


@torch.no_grad()
def role_scores(model: Transformer, read: ReadSentences, *, causal: bool = False, seed: int = 0) -> Measured:
    """The scores of all roles that a model's heads can have.

    Args:
        model: an encoder or a decoder, in evaluation mode.
        read: the marked sentences in its tokens.
        causal: whether an encoder is given a causal mask; decoders have their own.
        seed: of the random tokens.

    Raises:
        ValueError: for an encoder-decoder, whose heads read two texts.
    """
    if model.config.architecture == "encoder-decoder":
        raise ValueError("expected an encoder or a decoder, got an encoder-decoder")
    measured = {**_on_random_tokens(model, read, causal, seed), **_on_sentences(model, read, causal, seed)}
    return {role: measured[role] for role in ROLES if role in measured}


def _on_random_tokens(model: Transformer, read: ReadSentences, causal: bool, seed: int) -> Measured:
    """Positions and copies, on texts of random tokens that come twice, and beside them on texts without repetition."""
    looks_back = causal or model.config.architecture == "decoder"
    twice = repeated_tokens(model.config.vocab_size, first_id=read.first_id, seed=seed)
    once = torch.cat(
        [
            repeated_tokens(model.config.vocab_size, first_id=read.first_id, seed=at)[:, :LENGTH]
            for at in (seed, -1 - seed)
        ],
        1,
    )
    inner = slice(len(read.before), len(read.before) + 2 * LENGTH)
    length = len(read.before) + 2 * LENGTH + len(read.after)
    evenly = [1 / (at + 1 if looks_back else length) for at in range(length)]

    def of(weights: Tensor) -> dict[str, Tensor]:
        """Role -> scores of one layer, (text, head)."""
        inside = weights[:, :, inner, inner]
        places = {"previous": weights.diagonal(-1, -2, -1), "first": weights[:, :, 1:, 0]}
        copies = {"same": inside.diagonal(-LENGTH, -2, -1)}
        if looks_back:
            copies["induction"] = inside.diagonal(1 - LENGTH, -2, -1)[..., 1:]
        else:
            places["following"] = weights.diagonal(1, -2, -1)
            copies["same"] = torch.cat([copies["same"], inside.diagonal(LENGTH, -2, -1)], -1)
        return {role: values.mean(-1) for role, values in (places | copies).items()}

    scores, controls = (_by_layer(model, _around(read, tokens), of, causal) for tokens in (twice, once))
    even = sum(evenly[1:]) / (length - 1)  # the first row has no token before; of the last one it is the same
    flat = {role: torch.full_like(scores[role], even) for role in ("previous", "following", "first") if role in scores}
    pairs = torch.ones(BATCH, dtype=torch.int64)
    baselines = controls | flat
    return {role: RoleScores(x, baselines[role], pairs) for role, x in scores.items()}


def _around(read: ReadSentences, tokens: Tensor) -> Tensor:
    """The texts between their special tokens."""
    before, after = (torch.tensor([ids] * len(tokens), dtype=torch.int64) for ids in (read.before, read.after))
    return torch.cat([before.view(len(tokens), -1), tokens, after.view(len(tokens), -1)], 1)


def _by_layer(
    model: Transformer, tokens: Tensor, of: Callable[[Tensor], dict[str, Tensor]], causal: bool
) -> dict[str, Tensor]:
    """What a function makes of each layer's weights, put together as (text, layer, head); no weights are kept."""
    layers: list[dict[str, Tensor]] = []
    with recording((), watch={"*.self_attention.weights": lambda _, weights: layers.append(of(weights))}):
        model.states(tokens, mask=causal_mask(tokens.shape[1]) if causal else None)
    return {name: torch.stack([layer[name] for layer in layers], 1) for name in layers[0]}


@dataclass(frozen=True)
class Rows:
    """All rows of weights of ordinary tokens in all sentences, one below the other.

    Attributes:
        weights: float32 (head of all layers, row, key), 0 beyond the keys that a row may see.
        visible: boolean (row, key), which keys these are.
        distance: int64 (row, key), from query to key, counted from 0: 0 is the furthest key before.
        place: int64 (row, key), `FIRST`, `LAST` or 0.
        starts: of each sentence, the number of its first token's row.
    """

    weights: Tensor
    visible: Tensor
    distance: Tensor
    place: Tensor
    starts: tuple[int, ...]


def by_position_alone(rows: Rows) -> Tensor:
    """The attention by distance and place alone that comes closest to each head, (head of all layers, row, key).

    A weight is then a number of its distance times one of the key's place (the first token, the last special one, or
    any other), divided by the sum of its row. The numbers are those of the least cross-entropy, found by generalised
    iterative scaling (Darroch and Ratcliff 1972): each is multiplied again and again by what the head gives to this
    distance or place, divided by what the fit gives. A head that attends by distance alone is met exactly.
    """
    cells = rows.visible.flatten().nonzero()[:, 0]
    kinds = [kind.flatten()[cells] for kind in (rows.distance, rows.place)]
    of_row = torch.arange(len(rows.visible)).repeat_interleave(rows.visible.shape[1])[cells]
    weights = rows.weights.flatten(1).T[cells].contiguous()  # (cell, head): the numbers of a cell lie side by side

    def summed(values: Tensor, by: Tensor) -> Tensor:
        return values.new_zeros(int(by.max()) + 1, values.shape[1]).index_add_(0, by, values)

    aims = [summed(weights, kind) for kind in kinds]
    factors = [torch.ones_like(aim) for aim in aims]
    fitted = weights
    for at in range(ROUNDS + 1):
        for which, (kind, aim) in enumerate(zip(kinds, aims, strict=True)):
            fitted = factors[0].index_select(0, kinds[0]).mul_(factors[1].index_select(0, kinds[1]))
            fitted.div_(summed(fitted, of_row).clamp_(min=TINY).index_select(0, of_row))
            if at < ROUNDS:
                factors[which] *= aim / summed(fitted, kind).clamp(min=TINY)
    filled = torch.zeros(rows.visible.numel(), weights.shape[1])
    filled[cells] = fitted
    return filled.T.reshape(rows.weights.shape)


def _on_sentences(model: Transformer, read: ReadSentences, causal: bool, seed: int) -> Measured:
    """[SEP], punctuation and marked pairs."""
    config = model.config
    count, shape = len(read.sentences), (config.num_layers, config.num_heads)
    rows = rows_of(model, read, causal=causal)
    alone = by_position_alone(rows)
    looks_back = causal or config.architecture == "decoder"
    made: dict[str, RoleScores] = {}
    cells = {role: [_cells_of(role, each, read, looks_back) for each in read.sentences] for role in ROLES}
    for role, of_sentences in cells.items():
        pairs = torch.tensor([len(each) for each in of_sentences])
        if int(pairs.sum()) < LEAST_PAIRS:
            continue
        both = [torch.zeros(count, *shape), torch.zeros(count, *shape)]
        for at, (start, each) in enumerate(zip(rows.starts, of_sentences, strict=True)):
            for values, table in zip(both, (rows.weights, alone), strict=True):
                if each:
                    values[at] = _mean_of(table, start, each).view(shape)
        made[role] = RoleScores(both[0], both[1], pairs)
    if read.after:
        made["sep"] = _last_token(model, read, rows, causal, seed)
    return made


Cells = tuple[tuple[int, ...], tuple[int, ...]]  # places of queries, and places of the keys that they look at


def _cells_of(role: str, sentence: ReadSentence, read: ReadSentences, looks_back: bool) -> list[Cells]:
    """The pairs of a role in a sentence; without a look ahead only those whose key stands before the query."""
    if role == "signs":
        ordinary = range(len(read.before), len(sentence.ids) - len(read.after))
        words = [at for at in ordinary if at not in sentence.signs]
        of_words = [tuple(sign for sign in sentence.signs if sign < at or not looks_back) for at in words]
        return [((at,), signs) for at, signs in zip(words, of_words, strict=True) if signs]
    relation = "verb" if role == "subject" else role
    pairs = [(looks, target) for name, looks, target in sentence.pairs if name == relation]
    if role == "subject":
        pairs = [(target, looks) for looks, target in pairs]
    return [(looks, target) for looks, target in pairs if not looks_back or max(target) < min(looks)]


def _mean_of(table: Tensor, start: int, cells: Sequence[Cells]) -> Tensor:
    """The mean over pairs: over the tokens of the query's word, of the sum over those of the key's, (head).

    So words that are cut into several tokens count as in Clark et al. 2019, section 4.1.
    """
    sums = [table[:, [start + at for at in looks]][:, :, list(keys)].sum(-1).mean(-1) for looks, keys in cells]
    return torch.stack(sums).mean(0)


def _last_token(model: Transformer, read: ReadSentences, rows: Rows, causal: bool, seed: int) -> RoleScores:
    """The weight on the last special token, beside the weight on an ordinary token that stands in its place."""
    random = torch.randint(
        read.first_id,
        model.config.vocab_size,
        (len(read.sentences),),
        generator=generator(seed, "in place of the last"),
    )
    other = rows_of(model, read, causal=causal, last=tuple(random.tolist()))
    shape = (model.config.num_layers, model.config.num_heads)
    both: list[list[Tensor]] = [[], []]
    for start, sentence in zip(rows.starts, read.sentences, strict=True):
        inside, last = _inside(start, sentence, read), len(sentence.ids) - 1
        for listed, table in zip(both, (rows.weights, other.weights), strict=True):
            listed.append(table[:, inside, last].mean(-1).view(shape))
    pairs = torch.tensor([len(_inside(0, each, read)) for each in read.sentences])
    return RoleScores(torch.stack(both[0]), torch.stack(both[1]), pairs)


def _inside(start: int, sentence: ReadSentence, read: ReadSentences) -> range:
    """The rows of a sentence's ordinary tokens."""
    return range(start + len(read.before), start + len(sentence.ids) - len(read.after))


@torch.no_grad()
def rows_of(model: Transformer, read: ReadSentences, *, causal: bool = False, last: tuple[int, ...] = ()) -> Rows:
    """The rows of weights of all sentences; those of special tokens are there, and see nothing.

    Args:
        model: in evaluation mode.
        read: the sentences.
        causal: as in `role_scores`.
        last: of each sentence, the id that its last token gets in place of its own; by default it keeps it.
    """
    looks_back = causal or model.config.architecture == "decoder"
    lengths = [len(sentence.ids) for sentence in read.sentences]
    starts = [sum(lengths[:at]) for at in range(len(lengths))]
    longest, total = max(lengths), sum(lengths)
    heads = model.config.num_layers * model.config.num_heads
    weights = torch.zeros(heads, total, longest)
    visible, place = torch.zeros(total, longest, dtype=torch.bool), torch.zeros(total, longest, dtype=torch.int64)
    query, key = torch.zeros(total, 1, dtype=torch.int64), torch.arange(longest)
    for batch in batches(lengths):
        ids = torch.tensor([read.sentences[at].ids for at in batch])
        if last:
            ids[:, -1] = torch.tensor([last[at] for at in batch])
        count = ids.shape[1]
        with recording("*.self_attention.weights") as trace:
            model.states(ids, mask=causal_mask(count) if causal else None)
        layers = [trace[f"layers.{at}.self_attention.weights"] for at in range(model.config.num_layers)]
        together = torch.cat(layers, 1)  # (text, head of all layers, query, key)
        for of_text, at in zip(together, batch, strict=True):
            inside = torch.tensor(_inside(0, read.sentences[at], read))
            of_rows = starts[at] + inside
            weights[:, of_rows, :count] = of_text[:, inside]
            query[of_rows, 0] = inside
            visible[of_rows, :count] = (key[:count] <= inside[:, None]) if looks_back else True
            place[of_rows, 0] = FIRST
            if read.after:
                place[of_rows, count - 1] = LAST
    return Rows(weights, visible, key - query + longest, place, tuple(starts))


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """The numbers of texts of the same length, which a model reads at once without padding."""
    for _, together in groupby(sorted(range(len(lengths)), key=lengths.__getitem__), key=lengths.__getitem__):
        yield list(together)
