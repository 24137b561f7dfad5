"""The roles of a model's heads, for the pages: kept where its weights are kept, else measured."""

from tfm_core import TOKENIZERS, Tokens, TransformerConfig, encode
from tfm_core.language.head_scores import BATCH, LENGTH
from tfm_core.language.kept_roles import COMMAND, KeptRoles, kept_roles
from tfm_core.language.marked import read_sentences
from tfm_core.language.role_scores import role_scores
from tfm_core.pretrained import offered
from tfm_core.pretrained.roles import are_kept, folder_of
from tfm_ui.live.cache import cached, never
from tfm_ui.live.memory import LITTLE
from tfm_ui.live.passes import transformer
from tfm_ui.state.arrays import WEIGHTS_ALONE
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pass_cost import NUMBER, weight_bytes
from tfm_ui.state.pretrained import known

WORDS = "word"  # the tokenizer in which an untrained model reads the sentences
MOST = 40_000_000  # parameters of a model that is measured on the page; larger ones take half a minute and more
ROOM = 300  # numbers that are kept at a time for each number of a row's width, in a pass through the random tokens


def why_not(model: ModelState) -> str:
    """Why roles cannot be shown of this model, in sentences; "" if they can."""
    if model.array:
        return WEIGHTS_ALONE
    if model.is_encoder_decoder:
        return (
            "Roles are measured in a single stack: here queries and keys may be two texts. Choose the architecture "
            "encoder or decoder."
        )
    if model.trained:
        return (
            "These weights know the tokens of their task alone, and the marked sentences cannot be written in them. "
            "Choose Lab GPT, another pretrained model, or random weights."
        )
    if of := model.pretrained:
        if of.why_not_there or are_kept(of.name):
            return ""
        if folder_of(of.name):
            command = offered.COMMAND if of.name in offered.OFFERED else COMMAND
            return (
                f"What the heads of {of.within} do has not been measured on this server. To measure it, run: {command}"
            )
        if weight_bytes(model.config) > NUMBER * MOST:
            return (
                f"{of.short} has more than {MOST:,} parameters: to measure its heads takes too long here. "
                "`role_scores` of tfm_core.language.role_scores measures them in a script."
            )
    elif model.tokenizer != WORDS:
        return "Marks are on whole words. Choose “word” for “Tokens by”."
    return ""


def is_kept(model: ModelState) -> bool:
    """Whether nothing has to be computed for this model."""
    return model.pretrained is not None and are_kept(model.pretrained.name)


def roles_of(model: ModelState) -> KeptRoles:
    """What its heads do; only where `why_not` says nothing."""
    if model.pretrained and is_kept(model):
        folder = folder_of(model.pretrained.name)
        assert folder is not None
        return kept_roles(folder)
    return _measured(model.config, model.masks_the_future)


def needs(model: ModelState, _: object = None) -> int:
    """The bytes that measuring takes at most: the model, and one layer's weights on the random tokens."""
    if is_kept(model) or why_not(model):
        return LITTLE
    of_layer = 4 * BATCH * model.num_heads * (2 * LENGTH) ** 2
    states = BATCH * 2 * LENGTH * ROOM * max(1, model.d_model // 8)
    return weight_bytes(model.config) + NUMBER * (of_layer + states) + 4 * LITTLE


@cached(heavy=never)
def _measured(config: TransformerConfig, causal: bool) -> KeptRoles:
    model, brought = transformer(config), known(config.weights)
    cuts = brought.tokenizer if brought else TOKENIZERS[WORDS]

    def prompt(text: str) -> Tokens:
        count = len(cuts.split(text))
        return brought.tokens_of(text, count) if brought else encode(text, cuts, count)

    around = brought.special_around if brought else ((), ())
    first_id = brought.first_id if brought else cuts.first_id
    read = read_sentences(prompt, first_id=first_id, around=around)
    return KeptRoles(role_scores(model, read, causal=causal), {}, 0.0)
