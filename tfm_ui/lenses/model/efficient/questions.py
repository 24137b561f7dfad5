"""Questions of the view "efficient", and their answers, computed from what is on screen."""

from tfm_core.model.attention import span_of
from tfm_ui.lenses.model.efficient.compared import Efficient, EfficientGrowth
from tfm_ui.lenses.model.efficient.tiling import EfficientTiles, grown_in
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.page.questions import Prediction, Question
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


def who_sees_less(model: ModelState, state: ModelLensState) -> str:
    """What window and stride leave, and what linear and fused do instead."""
    attentions = Efficient(model, state)
    span = span_of(len(attentions.names))
    kept = [f"{name} keeps {formats.percent(attentions.share(name))}" for name in ("window", "strided")]
    whole = (
        "Linear and fused attention see all of them; they save the matrix and not the pairs."
        if "linear" in attentions.by_name
        else "Fused attention sees all of them; it saves the matrix and not the pairs."
    )
    later = (
        " What a window hides in one layer, a later layer can still reach through tokens in between."
        if span > 1 and model.num_layers > 1
        else ""
    )
    return (
        f"√n is {span} here, rounded: of the {formats.plural(attentions.allowed, 'pair')} that the model’s mask "
        f"leaves, {' and '.join(kept)}. {whole}{later}"
    )


def what_the_kernel_holds(model: ModelState, state: ModelLensState) -> str:
    """The tile, the running numbers, and that the end is exact."""
    tiling = EfficientTiles(model, state)
    grown = sum(grown_in(tile) for tile in tiling.steps)
    return (
        f"{formats.plural(len(tiling.steps), 'step')} of at most {tiling.side} × {tiling.side} scores. For each query "
        f"one maximum, one sum and one output are held. {formats.plural(grown, 'time')} a query met a larger score "
        "than before; then what it held was multiplied by exp(old maximum − new maximum), and the result is exact "
        f"again: it differs from softmax(QKᵀ / √dₖ) V by at most {formats.tiny(tiling.off)}, the rounding of float64."
    )


def where_linear_pays(model: ModelState, state: ModelLensState) -> str:
    """The multiply-adds of linear attention beside those of full attention."""
    costs = EfficientGrowth(model, state)
    full, linear = costs.on_screen["full"], costs.on_screen["linear"]
    times = formats.number(max(full.needed, linear.needed) / min(full.needed, linear.needed))
    compare = (
        "the same number"
        if full.needed == linear.needed
        else f"{times} times as many as linear attention"
        if full.needed > linear.needed
        else f"fewer than linear attention, which needs {times} times as many"
    )
    return (
        f"With {formats.plural(costs.n, 'token')}, full attention needs {compare}. Full attention costs 2 d for each "
        f"visible pair, linear attention 2 d dₖ + d for each token, of which d are its normaliser, so a query must see "
        f"more than dₖ + ½ = {model.d_model // model.num_heads + 0.5} keys, on average, before linear "
        f"attention needs less. In all heads together {formats.count(full.kept)} scores are visible, and in "
        f"their place linear attention holds {formats.count(linear.kept)} sums, its normaliser counted."
    )


def what_linear_attention_sees(model: ModelState, state: ModelLensState) -> str:
    """How even the implied weights are."""
    attentions = Efficient(model, state)
    if "linear" not in attentions.by_name:
        return (
            f"Linear attention has no scores, and {model.positional} positions add a bias to scores: the two cannot be "
            "combined. Choose other positions to see the matrix that it implies."
        )
    largest = {name: float(attentions.by_name[name].weights.max(-1).values.mean()) for name in ("full", "linear")}
    if min(largest.values()) == 1:
        return "Every query sees a single key here, so both give it all of their weight. Read a longer text."
    texts = formats.percents(*largest.values())
    return (
        f"The largest weight of a row is {texts[0]} in full and {texts[1]} in linear attention, on average. The "
        "softmax raises e to each score, which sets keys far apart; the features elu(x) + 1 grow no faster than x, so "
        "a single key hardly stands out. "
        + model.if_random(
            "The weights are random: what training makes of either, they cannot say.",
            "The weights were trained with full attention: what training makes of linear attention, they cannot say.",
        )
    )


QUESTIONS: tuple[Question, ...] = (
    Question(
        "Who sees less",
        "The same weights, five attentions. How many of the pairs does a window of √n tokens leave?",
        who_sees_less,
        Prediction(
            ask="What share of the visible pairs does the window leave?",
            measured=lambda model, state: formats.points(Efficient(model, state).share("window")),
            unit="%",
            hides=("model_efficient",),
        ),
        controls={"view": "efficient"},
        because="seeing every pair of tokens is costly, and some attentions leave pairs out.",
    ),
    Question(
        "Tile by tile",
        "Drag the step to its end. How can softmax be computed without ever having a whole row of scores?",
        what_the_kernel_holds,
        controls={"view": "efficient", "tile": 3, "tile_step": 6},
        moves=("tile", "tile_step"),
        because="one can also keep every pair and save memory, by computing piece by piece.",
    ),
    Question(
        "Linear or not",
        "A text of 64 tokens, in heads of 8 dimensions: does linear attention need fewer multiply-adds here?",
        where_linear_pays,
        model={"text": "@alice", "seq_len": 64, "causal": True},
        controls={"view": "efficient"},
        given=("d_model", "num_heads"),
        because="tiles save memory but no multiply-adds, which linear attention is made to save.",
    ),
    Question(
        "The implied matrix",
        "Linear attention never writes its weights. Here they are: are they as sharp as those of the softmax?",
        what_linear_attention_sees,
        model={"positional": "sinusoidal"},
        controls={"view": "efficient", "layer": 2, "head": 2},
        moves=("layer", "head"),
        because="what linear attention saves it may pay for in the weights that it can express.",
    ),
)
