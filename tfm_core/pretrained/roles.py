"""The roles of heads of the models that come with the project or are installed: where they are kept, and measured."""

from collections.abc import Callable
from pathlib import Path

from tfm_core.language import lab_bert, lab_gpt
from tfm_core.language.bpe import SPECIAL
from tfm_core.language.kept_roles import has_roles, keep_roles
from tfm_core.language.marked import ReadSentences, read_sentences
from tfm_core.language.prompt import lab_prompt
from tfm_core.language.wordpiece import CLS_ID, MASK_ID, SEP_ID
from tfm_core.language.wordpiece import SPECIAL as OF_WORDPIECE
from tfm_core.model.tokens import Tokens
from tfm_core.model.transformer import Transformer
from tfm_core.pretrained.offered import OFFERED, registered_model


def folder_of(name: str) -> Path | None:
    """Where the roles of a model's heads are kept; None of a model that is neither shipped nor offered."""
    shipped = {lab_gpt.NAME: lab_gpt.FOLDER, lab_bert.NAME: lab_bert.FOLDER}
    return OFFERED[name].folder if name in OFFERED else shipped.get(name)


def are_kept(name: str) -> bool:
    """Whether the roles of this model's heads have been measured and kept."""
    folder = folder_of(name)
    return folder is not None and has_roles(folder)


def measurable() -> list[str]:
    """The names of the models that are here."""
    shipped = [
        name for name, at in ((lab_gpt.NAME, lab_gpt.WEIGHTS), (lab_bert.NAME, lab_bert.WEIGHTS)) if at.is_file()
    ]
    return [*shipped, *(name for name, offered in OFFERED.items() if offered.is_there)]


def of_model(name: str) -> tuple[Transformer, ReadSentences]:
    """A model, and the marked sentences in its tokens.

    Raises:
        ValueError: if it is not here.
    """
    if name not in measurable():
        raise ValueError(f"expected one of {', '.join(measurable())}, got {name!r}")
    if name == lab_gpt.NAME:
        return Transformer(lab_gpt.LAB_GPT).eval(), read_sentences(lab_prompt, first_id=len(SPECIAL))
    if name == lab_bert.NAME:
        return Transformer(lab_bert.LAB_BERT).eval(), _by_lab_bert()
    registered = registered_model(name)
    read = read_sentences(registered.prompt, first_id=OFFERED[name].first_id, around=registered.around)
    return registered.checkpoint.model(), read


def _by_lab_bert() -> ReadSentences:
    tokenizer = lab_bert.lab_bert_tokenizer()

    def prompt(text: str) -> Tokens:
        pieces = tuple(tokenizer.split(text))
        return Tokens(pieces, tuple(map(tokenizer.id_of, pieces)), dropped=0)

    return read_sentences(prompt, first_id=len(OF_WORDPIECE), around=([CLS_ID], [SEP_ID]), mask_id=MASK_ID)


def measure(name: str, *, silence: bool = True, told: Callable[[str], None] = lambda _: None) -> None:
    """Measure the roles of a model's heads, and keep them; errors as `of_model`.

    Args:
        name: of the model.
        silence: whether it is measured, too, what breaks without them.
        told: called with a line after each part.
    """
    folder = folder_of(name)
    model, sentences = of_model(name)
    assert folder is not None
    keep_roles(folder, model, sentences, silence=silence, told=told)
