"""Questions of the view "finetune". What they say is computed from what is on screen."""

from tfm_core.training.compare.finetuning.outcome import SIZES
from tfm_core.training.compare.finetuning.ways import WAYS
from tfm_ui.lenses.training.finetune.compared import Finetune
from tfm_ui.lenses.training.finetune.heads import FinetuneHeads
from tfm_ui.lenses.training.finetune.results import NOTHING
from tfm_ui.lenses.training.panels import answered_from
from tfm_ui.page.questions import Prediction, Question
from tfm_ui.text import formats

FEW, MANY = SIZES[0], SIZES[-1]
PRETRAINED, FROM_NOTHING, NEITHER = "the whole model with few", "from nothing with many", "neither"
NOT_TRAINED = "Nobody has trained this run yet: press Fine-tune, and ask again."
TITLES = {name: way.title for name, way in WAYS.items()}
LEVEL = "no clear difference"


@answered_from(Finetune, NOTHING)
def few_or_many(panel: Finetune) -> str:
    """Lab BERT with few labels beside the same network from nothing with many."""
    few, many = formats.percents(panel.middle("whole", FEW), panel.middle("nothing", MANY))
    both = (
        f"With {FEW} labels the whole model has {few} of the held-out labels right (the median over the seeds), from "
        f"nothing with {formats.count(MANY)} it is {many}."
    )
    who = who_with_less_of(panel)
    if who == NEITHER:
        return f"{both} The seeds and chance could explain what lies between them. {panel.worth_of_pretraining()}"
    ahead = "what was read before weighs more than the labels" if who == PRETRAINED else "here labels weigh more"
    return f"{both} So {ahead}. {panel.worth_of_pretraining()}"


def who_with_less_of(panel: Finetune) -> str:
    """One of `PRETRAINED`, `FROM_NOTHING`, `NEITHER`."""
    return {1: PRETRAINED, -1: FROM_NOTHING}.get(panel.ahead("whole", "nothing", FEW, MANY), NEITHER)


@answered_from(Finetune, NEITHER)
def who_with_less(panel: Finetune) -> str:
    """Who is ahead: few labels after pretraining, or many from nothing."""
    return who_with_less_of(panel)


@answered_from(Finetune, NOTHING)
def is_rank_enough(panel: Finetune) -> str:
    """LoRA beside the whole model: parameters and right labels."""
    whole, low = panel.grid.of("whole", panel.shots)[0], panel.grid.of("lora-2", panel.shots)[0]
    shares = formats.percents(*(panel.middle(way) for way in ("lora-2", "lora-8", "whole", "frozen")))
    fewer = whole.trained // low.trained
    verdict = {
        0: "Between rank 2 and the whole model there is no difference that seeds and sentences can show.",
        1: "Rank 2 is clearly ahead of the whole model.",
        -1: "The whole model is clearly ahead of rank 2.",
    }[panel.ahead("lora-2", "whole")]
    return (
        f"Rank 2 trains {formats.count(low.trained)} numbers, {fewer} times fewer than the whole model. Right labels "
        f"with {formats.count(panel.shots)} examples: rank 2 {shares[0]}, rank 8 {shares[1]}, whole model {shares[2]}, "
        f"frozen body {shares[3]}. {verdict} A step is not {fewer} times faster: the gradient still passes all layers."
    )


@answered_from(Finetune, LEVEL)
def rank_or_whole(panel: Finetune) -> str:
    """Who is ahead: rank 2, the whole model, or neither clearly."""
    return {1: TITLES["lora-2"], -1: TITLES["whole"]}.get(panel.ahead("lora-2", "whole"), LEVEL)


@answered_from(Finetune, NOTHING)
def beside_bag(panel: Finetune) -> str:
    """All ways beside naive Bayes."""
    return f"{panel.beside_bag()} {panel.who_is_ahead()}"


@answered_from(Finetune, 0)
def ways_ahead_of_bag(panel: Finetune) -> int:
    """How many ways are clearly ahead of naive Bayes."""
    return sum(panel.ahead_of_bag(way) == 1 for way in WAYS)


@answered_from(FinetuneHeads, NOT_TRAINED)
def where_heads_went(panel: FinetuneHeads) -> str:
    """How far the heads have moved, by layer."""
    by_layer = formats.percents(*(float(share) for share in panel.far.mean(1)))
    listed = ", ".join(f"layer {number} {share}" for number, share in enumerate(by_layer, 1))
    return f"{panel.sentence()} The mean of each layer: {listed}."


@answered_from(FinetuneHeads, 0.0)
def moved_at_the_end(panel: FinetuneHeads) -> float:
    """The share of its weight that a head has moved, the mean of all heads, in percent."""
    return formats.points(float(panel.far.mean()))


QUESTIONS = (
    Question(
        "Fifty labels",
        "Lab BERT has read novels without labels. Does it, with 50 labelled sentences, beat the same network that "
        "began from nothing and has 1,000?",
        few_or_many,
        Prediction(
            ask="Who has more labels right?",
            measured=who_with_less,
            options=(PRETRAINED, FROM_NOTHING, NEITHER),
            hides=("training_finetune*",),
        ),
        controls={"view": "finetune"},
        given=("tuned", "against"),
        because="all networks so far began at random, and a trained body can be taken over.",
    ),
    Question(
        "A third of a percent",
        "LoRA keeps all matrices, and trains thin ones beside two of them in each layer. Is rank 2 enough?",
        is_rank_enough,
        Prediction(
            ask="Who has clearly more labels right?",
            measured=rank_or_whole,
            options=(TITLES["lora-2"], TITLES["whole"], LEVEL),
            hides=("training_finetune*",),
        ),
        controls={"view": "finetune", "against": "parameters", "way": "lora-2", "shots": 1_000},
        given=("tuned",),
        because="a copy of the whole model for each task is dear, and perhaps not needed.",
    ),
    Question(
        "Said or told",
        "Without quotation marks, “I” and “you”: is a sentence speech or narration? How many of the five ways are "
        "clearly ahead of a count of words?",
        beside_bag,
        Prediction(
            ask="How many ways are clearly ahead of naive Bayes?",
            measured=ways_ahead_of_bag,
            hides=("training_finetune*",),
        ),
        controls={"view": "finetune", "tuned": "speech", "shots": 1_000},
        given=("against",),
        because="who wrote a sentence shows in single words, and another label might not.",
    ),
    Question(
        "Where heads go",
        "The whole model was trained on 1,000 sentences by three authors. Did its heads look elsewhere afterwards?",
        where_heads_went,
        Prediction(
            ask="What share of its weight has a head moved, as the mean of all?",
            measured=moved_at_the_end,
            unit="%",
            hides=("training_finetune_heads*", "training_finetune_maps*"),
        ),
        controls={"view": "finetune", "shots": 1_000},
        given=("tuned", "way", "seed"),
        because="right labels tell that something was learned, and the maps may tell where.",
    ),
)
