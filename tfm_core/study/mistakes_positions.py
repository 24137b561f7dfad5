"""Mistakes with embeddings and positions: the table of sines, RoPE, ALiBi."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from tfm_core.positional.maths import alibi_slopes, apply_rotary, sinusoidal_encoding
from tfm_core.study.exercise import Exercise
from tfm_core.study.mistake import Mistake
from tfm_core.study.pieces import distance

SCALED = "Vaswani et al. 2017, section 3.4"
SINES = "Vaswani et al. 2017, section 3.5"
ROTARY = "Su et al. 2021 (RoFormer), equations 14 and 34"
SLOPES = "Press et al. 2022 (ALiBi), section 3"


def is_sinusoidal(exercise: Exercise) -> bool:
    """Positions are added as sines and cosines."""
    return exercise.positional == "sines"


def is_rope(exercise: Exercise) -> bool:
    """Positions turn queries and keys."""
    return exercise.positional == "RoPE"


def is_alibi(exercise: Exercise) -> bool:
    """Positions are a bias on the scores."""
    return exercise.positional == "ALiBi"


# embeddings


def not_scaled(table: Tensor, ids: Tensor) -> Tensor:
    """The row as it is."""
    return table[ids]


def scaled_twice(table: Tensor, ids: Tensor) -> Tensor:
    """√d_model in the embedding and again in the model."""
    return table[ids] * math.sqrt(table.shape[-1]) * math.sqrt(table.shape[-1])


def scaled_with_positions(embedded: Tensor, encoding: Tensor) -> Tensor:
    """The factor is applied to the sum."""
    return embedded + encoding * math.sqrt(embedded.shape[-1])


def without_positions(embedded: Tensor, encoding: Tensor) -> Tensor:
    """Nothing is added."""
    return embedded


def along_the_batch(embedded: Tensor, encoding: Tensor) -> Tensor:
    """Row b of the table is added to every token of sentence b."""
    return embedded + encoding[: len(embedded), None]


# sines


def angles(seq: int, d_model: int, exponents: Tensor, *, base: float = 10000.0, start: int = 0) -> Tensor:
    """position / base^exponent, (seq, number of exponents)."""
    return torch.arange(start, start + seq, dtype=torch.float64)[:, None] / base**exponents


def concatenated(seq: int, d_model: int) -> Tensor:
    """All sines, then all cosines."""
    table = sinusoidal_encoding(seq, d_model)
    return torch.cat([table[:, 0::2], table[:, 1::2]], dim=-1)


def exchanged(seq: int, d_model: int) -> Tensor:
    """Cosine in the even columns, sine in the odd ones."""
    table = sinusoidal_encoding(seq, d_model + d_model % 2)
    return table.reshape(seq, -1, 2).flip(-1).flatten(-2)[:, :d_model]


def column_for_pair(seq: int, d_model: int) -> Tensor:
    """Exponent 2j / d_model with j the column, not the pair."""
    turns = angles(seq, d_model, 2 * torch.arange(d_model, dtype=torch.float64) / d_model)
    return torch.where(torch.arange(d_model) % 2 == 0, turns.sin(), turns.cos())


def own_frequency_for_cosines(seq: int, d_model: int) -> Tensor:
    """Exponent j / d_model in every column j, so a sine and its cosine turn at different speeds."""
    turns = angles(seq, d_model, torch.arange(d_model, dtype=torch.float64) / d_model)
    return torch.where(torch.arange(d_model) % 2 == 0, turns.sin(), turns.cos())


def half_the_exponent(seq: int, d_model: int) -> Tensor:
    """Exponent i / d_model for pair i."""
    return sinusoidal_encoding(seq, d_model, base=100.0)


def base_of(base: float) -> Callable[[int, int], Tensor]:
    """Sines with another base."""

    def other_base(seq: int, d_model: int) -> Tensor:
        return sinusoidal_encoding(seq, d_model, base=base)

    return other_base


def from_one(seq: int, d_model: int) -> Tensor:
    """The first token stands at position 1."""
    return sinusoidal_encoding(seq, d_model, start=1)


# RoPE


def _places(x: Tensor, start: int = 0) -> Tensor:
    return torch.arange(start, start + x.shape[-2])


def neighbours(query: Tensor, key: Tensor, value: Tensor, start: int) -> tuple[Tensor, Tensor, Tensor]:
    """Dimensions 2i and 2i + 1 are turned together."""
    return apply_rotary(query, _places(query, start), neighbours=True), apply_rotary(key, neighbours=True), value


def values_too(query: Tensor, key: Tensor, value: Tensor, start: int) -> tuple[Tensor, Tensor, Tensor]:
    """Values are turned, too."""
    return apply_rotary(query, _places(query, start)), apply_rotary(key), apply_rotary(value)


def queries_alone(query: Tensor, key: Tensor, value: Tensor, start: int) -> tuple[Tensor, Tensor, Tensor]:
    """Keys are not turned."""
    return apply_rotary(query, _places(query, start)), key, value


def opposite_ways(query: Tensor, key: Tensor, value: Tensor, start: int) -> tuple[Tensor, Tensor, Tensor]:
    """Keys are turned the other way round."""
    return apply_rotary(query, _places(query, start)), apply_rotary(key, -_places(key)), value


def in_degrees(query: Tensor, key: Tensor, value: Tensor, start: int) -> tuple[Tensor, Tensor, Tensor]:
    """Angles that are degrees are taken for radians."""
    degrees = math.degrees(1)
    return apply_rotary(query, _places(query, start) * degrees), apply_rotary(key, _places(key) * degrees), value


def from_zero_again(query: Tensor, key: Tensor, value: Tensor, start: int) -> tuple[Tensor, Tensor, Tensor]:
    """Queries after a cache are counted from 0 again."""
    return apply_rotary(query), apply_rotary(key), value


def along_the_heads(query: Tensor, key: Tensor, value: Tensor, start: int) -> tuple[Tensor, Tensor, Tensor]:
    """The position is the number of the head."""
    heads = torch.arange(query.shape[1])[:, None]
    return apply_rotary(query, heads), apply_rotary(key, heads), value


def before_the_split(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The whole width is turned, before there are heads."""
    return apply_rotary(query), apply_rotary(key), value


def not_turned(query: Tensor, key: Tensor, value: Tensor, start: int) -> tuple[Tensor, Tensor, Tensor]:
    """Queries and keys stay as they are."""
    return query, key, value


# ALiBi


def rewards_distance(scores: Tensor, slopes: Tensor) -> Tensor:
    """The bias is added with the wrong sign."""
    return scores + slopes[:, None, None] * distance(*scores.shape[-2:])


def without_cache(scores: Tensor, slopes: Tensor) -> Tensor:
    """Distances as if the first query stood at the first key."""
    queries, keys = scores.shape[-2:]
    return scores - slopes[:, None, None] * (torch.arange(queries)[:, None] - torch.arange(keys)).abs()


def same_slope(heads: int) -> Tensor:
    """Every head has the first one's slope."""
    return alibi_slopes(heads)[:1].expand(heads)


def naive_slopes(heads: int) -> Tensor:
    """2^(−8h / heads) also for a number of heads that is no power of two."""
    return 2.0 ** (-8.0 * torch.arange(1, heads + 1, dtype=torch.float64) / heads)


def slopes_from_one(heads: int) -> Tensor:
    """The first head's exponent is 0."""
    return 2.0 ** (-8.0 * torch.arange(heads, dtype=torch.float64) / heads)


POSITIONS: dict[str, Mistake] = {
    "embedding not scaled": Mistake(
        about="embedding",
        wrong={"embed": not_scaled},
        right_is="embedding[id] × √d_model",
        wrong_is="embedding[id]",
        symptom="Tokens are small beside their positions: early in training, attention looks at places, not at words.",
        cure="Multiply by √d_model where the embedding is looked up: self.embedding(ids) * math.sqrt(d_model).",
        source=SCALED,
    ),
    "embedding scaled twice": Mistake(
        about="embedding",
        wrong={"embed": scaled_twice},
        right_is="embedding[id] × √d_model",
        wrong_is="embedding[id] × √d_model × √d_model",
        symptom="Positions are small beside the tokens: a text and the same words shuffled look nearly alike.",
        cure="Keep a single factor of √d_model: either in the embedding’s module or in the model’s forward.",
        source=SCALED,
    ),
    "positions scaled with the embedding": Mistake(
        about="embedding",
        wrong={"join": scaled_with_positions},
        right_is="embedding[id] × √d_model + PE",
        wrong_is="(embedding[id] + PE) × √d_model",
        symptom="Positions outweigh the tokens by √d_model: attention looks at places, and learns words late.",
        cure="Scale the embedding first, then add the encoding.",
        source=SCALED,
        needs=is_sinusoidal,
    ),
    "no positions": Mistake(
        about="positional encoding",
        wrong={"join": without_positions},
        right_is="embedding + PE",
        wrong_is="embedding",
        symptom="An encoder gives a shuffled sentence the same vectors in another order: order cannot be learned.",
        cure="Add the encoding to the embedding: x = x + pe[: x.size(1)].",
        source=SINES,
        needs=is_sinusoidal,
    ),
    "positions along the batch": Mistake(
        about="positional encoding",
        wrong={"join": along_the_batch},
        right_is="x[b, t] + PE[t]",
        wrong_is="x[b, t] + PE[b]",
        symptom="All tokens of a sentence get the same vector added, and a sentence’s result depends on its place in "
        "the batch. No error is raised.",
        cure="Batch first: pe[: x.size(1)] of a table (seq, d_model). pe[: x.size(0)] is for (seq, batch, d_model).",
        source=SINES,
        needs=is_sinusoidal,
    ),
    "sines and cosines concatenated": Mistake(
        about="positional encoding",
        wrong={"encode": concatenated},
        right_is="columns sin, cos, sin, cos, …",
        wrong_is="columns sin, sin, …, cos, cos, …",
        symptom="It trains as well, as columns are in another order alone; numbers differ from the paper’s, and from "
        "those of weights that were trained with them.",
        cure="Interleave: pe[:, 0::2] = sin, pe[:, 1::2] = cos.",
        source=SINES,
        needs=is_sinusoidal,
    ),
    "sine and cosine exchanged": Mistake(
        about="positional encoding",
        wrong={"encode": exchanged},
        right_is="sine in even columns, cosine in odd ones",
        wrong_is="cosine in even columns, sine in odd ones",
        symptom="It trains as well; numbers differ from the paper’s. The first position reads 1, 0, 1, 0, … .",
        cure="pe[:, 0::2] gets the sine: the first position reads 0, 1, 0, 1, … .",
        source=SINES,
        needs=is_sinusoidal,
    ),
    "2i counted by columns": Mistake(
        about="positional encoding",
        wrong={"encode": column_for_pair},
        right_is="base^(2i / d_model), i the pair: 0 to d_model / 2 − 1",
        wrong_is="base^(2j / d_model), j the column: 0 to d_model − 1",
        symptom="Half of the columns hardly move over any text: the slowest wave is 10,000 times longer than meant.",
        cure="Use torch.arange(0, d_model, 2) as 2i; a further factor of 2 is too much.",
        source=SINES,
        needs=is_sinusoidal,
    ),
    "cosine with its own frequency": Mistake(
        about="positional encoding",
        wrong={"encode": own_frequency_for_cosines},
        right_is="a sine and its cosine share base^(2i / d_model)",
        wrong_is="column j has base^(j / d_model)",
        symptom="A shift by k tokens is no rotation any more, the property for which sines and cosines were chosen. "
        "It trains nearly as well, so nobody notices.",
        cure="Compute the frequencies once for each pair, and use them for both columns.",
        source=SINES,
        needs=is_sinusoidal,
    ),
    "i for 2i": Mistake(
        about="positional encoding",
        wrong={"encode": half_the_exponent},
        right_is="base^(2i / d_model)",
        wrong_is="base^(i / d_model)",
        symptom="The slowest wave is 100 times shorter than meant: far positions look like near ones in long texts.",
        cure="The exponent of pair i is 2i / d_model: torch.arange(0, d_model, 2) / d_model.",
        source=SINES,
        needs=is_sinusoidal,
    ),
    "base 1,000": Mistake(
        about="positional encoding",
        wrong={"encode": base_of(1000.0)},
        right_is="base 10,000",
        wrong_is="base 1,000",
        symptom="Waves are up to ten times shorter; numbers differ from the paper’s from the second column pair on.",
        cure="The base is 10000.0.",
        source=SINES,
        needs=is_sinusoidal,
    ),
    "base 100,000": Mistake(
        about="positional encoding",
        wrong={"encode": base_of(100000.0)},
        right_is="base 10,000",
        wrong_is="base 100,000",
        symptom="Waves are up to ten times longer; numbers differ from the paper’s from the second column pair on.",
        cure="The base is 10000.0.",
        source=SINES,
        needs=is_sinusoidal,
    ),
    "positions from 1": Mistake(
        about="positional encoding",
        wrong={"encode": from_one},
        right_is="the first token stands at position 0",
        wrong_is="the first token stands at position 1",
        symptom="It trains as well; weights that were trained with positions from 0 get each position wrong.",
        cure="torch.arange(seq_len) begins at 0.",
        source=SINES,
        needs=is_sinusoidal,
    ),
    "RoPE pairs neighbours": Mistake(
        about="RoPE",
        wrong={"rotate": neighbours},
        right_is="pairs (i, i + d_k / 2)",
        wrong_is="pairs (2i, 2i + 1)",
        symptom="A model trained this way works; weights of the other pairing produce nonsense that looks fluent.",
        cure="Pair the halves, as weights of Llama in transformers expect it; or permute W_Q and W_K.",
        source=ROTARY,
        needs=lambda exercise: is_rope(exercise) and exercise.head_dim > 2,
    ),
    "RoPE on values": Mistake(
        about="RoPE",
        wrong={"rotate": values_too},
        right_is="queries and keys are turned",
        wrong_is="queries, keys and values are turned",
        symptom="Weights are right and outputs are not: what a token hands over depends on where it stands.",
        cure="Turn queries and keys alone.",
        source=ROTARY,
        needs=is_rope,
    ),
    "RoPE on queries alone": Mistake(
        about="RoPE",
        wrong={"rotate": queries_alone},
        right_is="queries and keys are turned",
        wrong_is="queries alone are turned",
        symptom="Scores depend on the query’s place rather than on the distance: nothing carries over to longer texts.",
        cure="Turn the keys by their positions, too.",
        source=ROTARY,
        needs=is_rope,
    ),
    "RoPE turns keys the other way": Mistake(
        about="RoPE",
        wrong={"rotate": opposite_ways},
        right_is="q and k are turned the same way: the score depends on m − n",
        wrong_is="k is turned backwards: the score depends on m + n",
        symptom="The same two words match otherwise at every place of a text.",
        cure="Use the same cosines and sines, with the same signs, for queries and keys.",
        source=ROTARY,
        needs=is_rope,
    ),
    "RoPE in degrees": Mistake(
        about="RoPE",
        wrong={"rotate": in_degrees},
        right_is="angle = position × base^(−2i / d_k), in radians",
        wrong_is="angle = the same × 180 / π",
        symptom="Every pair turns 57 times too fast: neighbours look far apart, and training is slow.",
        cure="torch.cos and torch.sin take radians: leave out the conversion.",
        source=ROTARY,
        needs=is_rope,
    ),
    "RoPE counts from 0 after a cache": Mistake(
        about="RoPE",
        wrong={"rotate": from_zero_again},
        right_is="a query’s position is the number of tokens before it",
        wrong_is="the first query after the cache has position 0",
        symptom="Training is right; generated text falls apart after the first tokens.",
        cure="Give the positions a start: torch.arange(past, past + new).",
        source=ROTARY,
        needs=lambda exercise: is_rope(exercise) and exercise.cached > 0,
    ),
    "RoPE along the heads": Mistake(
        about="RoPE",
        wrong={"rotate": along_the_heads},
        right_is="the position counts along the tokens",
        wrong_is="the position is the head’s number",
        symptom="The model is blind for order. It happens where the axes (batch, head, seq) are (batch, seq, head).",
        cure="Turn after the transpose to (batch, head, seq, head_dim), or unsqueeze cosines and sines at the head.",
        source=ROTARY,
        needs=is_rope,
    ),
    "RoPE before the split into heads": Mistake(
        about="RoPE",
        wrong={"rotate_before": before_the_split, "rotate": not_turned},
        right_is="each head’s d_k dimensions are turned",
        wrong_is="all d_model dimensions are turned before the split",
        symptom="The first dimensions are paired across heads: heads differ in what they can know of order.",
        cure="Split into heads first, then turn each head’s queries and keys.",
        source=ROTARY,
        needs=lambda exercise: is_rope(exercise) and exercise.num_heads > 1,
    ),
    "ALiBi’s sign": Mistake(
        about="ALiBi",
        wrong={"bias": rewards_distance},
        right_is="score − slope × distance",
        wrong_is="score + slope × distance",
        symptom="Heads look at the furthest token, the first ones most of all.",
        cure="The bias is negative: −slope × |i − j|.",
        source=SLOPES,
        needs=is_alibi,
    ),
    "ALiBi with a single slope": Mistake(
        about="ALiBi",
        wrong={"slopes": same_slope},
        right_is="each head has its own slope",
        wrong_is="all heads have the first head’s slope",
        symptom="No head can look far: the first slope is the steepest.",
        cure="slopes is a vector of num_heads numbers: slopes[:, None, None] * distance.",
        source=SLOPES,
        needs=lambda exercise: is_alibi(exercise) and exercise.num_heads > 1,
    ),
    "ALiBi slopes for a power of two": Mistake(
        about="ALiBi",
        wrong={"slopes": naive_slopes},
        right_is="the slopes of the next lower power of two, then every second of the next higher",
        wrong_is="2^(−8h / num_heads)",
        symptom="It trains as well; weights that were trained with the paper’s slopes do not fit.",
        cure="For a number of heads that is no power of two, follow the authors’ rule.",
        source=SLOPES,
        needs=lambda exercise: is_alibi(exercise) and exercise.num_heads & (exercise.num_heads - 1) != 0,
    ),
    "ALiBi slopes begin at 1": Mistake(
        about="ALiBi",
        wrong={"slopes": slopes_from_one},
        right_is="2^(−8h / num_heads), h from 1",
        wrong_is="2^(−8h / num_heads), h from 0",
        symptom="The first head hardly looks beyond its neighbour: it has slope 1.",
        cure="Count heads from 1: the first slope of 8 heads is 1/2.",
        source=SLOPES,
        needs=lambda exercise: is_alibi(exercise) and exercise.num_heads & (exercise.num_heads - 1) == 0,
    ),
    "ALiBi forgets the cache": Mistake(
        about="ALiBi",
        wrong={"bias": without_cache},
        right_is="the last query stands at the last key",
        wrong_is="the first query stands at the first key",
        symptom="Training is right; with a cache, the first tokens of the text get the smallest penalty.",
        cure="Count a query’s position from the number of cached keys on.",
        source=SLOPES,
        needs=lambda exercise: is_alibi(exercise) and exercise.cached > 0,
    ),
}
