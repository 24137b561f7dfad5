"""Pretrained models as the model's state sees them: weights that have read prose, and so read any text.

Lab GPT is always there; the others are there where somebody has installed them (`tfm_core.pretrained.offered`), and
this server's setting offers them. Of one that is not, its shape is known all the same.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

from tfm_core import LAB_GPT, TOKENIZERS, Tokens, TransformerConfig, encode, lab_prompt, lab_tokenizer
from tfm_core.language import wordpiece
from tfm_core.language.bpe import SPECIAL
from tfm_core.language.lab_bert import LAB_BERT
from tfm_core.model.tokens import PAD_ID, Tokenizer
from tfm_core.pretrained import offered, register
from tfm_core.pretrained.registered import Readable, Registered, registered
from tfm_ui.settings import SETTINGS
from tfm_ui.store import model_folder


@dataclass(frozen=True)
class Known:
    """A pretrained model. This one is Lab GPT.

    Attributes:
        name: of its weights, in a link.
        config: of the model.
    """

    name: str = LAB_GPT.weights
    config: TransformerConfig = LAB_GPT

    called = "Lab GPT: trained on prose"  # where weights are chosen
    badge = "Lab GPT, trained on prose"
    about = (
        "Lab GPT: pretrained by a script of this project on Austen’s novels, “Moby Dick” and presidents’ addresses, "
        "1790 to 1864"
    )
    short = "Lab GPT"  # within a sentence
    learned = "Lab GPT has learned from prose of 1790 to 1864."
    first_id = len(SPECIAL)  # ids below it are special
    why_not_there = ""  # why it cannot be run, in a sentence; "" if it can
    pads = True  # whether it has a token for padding

    @property
    def within(self) -> str:
        """Its name where it does not begin a sentence."""
        return self.short

    @property
    def special_around(self) -> tuple[list[int], list[int]]:
        """The ids of special tokens that stand before each text, and after it."""
        return [], []

    @property
    def context(self) -> int:
        """How many tokens it reads at most."""
        return min(self.config.max_len, SETTINGS.max_tokens)

    @property
    def tokenizer(self) -> Tokenizer:
        """What cuts texts into its tokens."""
        return lab_tokenizer()

    @property
    def tokens_by(self) -> str:
        """Its tokenizer in a few words."""
        return f"byte pairs: {self.config.vocab_size:,} tokens"

    @property
    def reads(self) -> str:
        """What it reads of a long text, in a few words."""
        return f"at most {self.context} tokens: the last ones of a longer text"

    def tokens_of(self, text: str, seq_len: int) -> Tokens:
        """What it reads of a text: its end, if it is longer than that; the start token, if it is empty."""
        return lab_prompt(text, seq_len)

    def every_token(self) -> Tokens:
        """All tokens that there are, as a text."""
        pieces = self.tokenizer.pieces
        return Tokens(pieces, tuple(range(len(pieces))), dropped=0)


@dataclass(frozen=True)
class FromFiles(Known):
    """A model whose files lie on this server: what both kinds of them have in common."""

    @property
    def _read(self) -> Readable:
        """The files, once they are read."""
        raise NotImplementedError(f"expected {type(self).__name__} to say where its files are")

    @property
    def is_here(self) -> bool:
        """Whether it can be run."""
        return not self.why_not_there

    @property
    def badge(self) -> str:  # type: ignore[override]
        """The short line of facts."""
        return f"{self.short}, pretrained"

    @property
    def special_around(self) -> tuple[list[int], list[int]]:
        """The ids of special tokens that stand before each text, and after it."""
        return self._read.around

    @property
    def pads(self) -> bool:  # type: ignore[override]
        """Whether it has a token for padding, and its id is that of all padding here."""
        return self.config.pad_id == PAD_ID

    @property
    def tokenizer(self) -> Tokenizer:
        """What cuts texts into its tokens; where it is not there, into words, of which nothing is computed."""
        return self._read.tokenizer if self.is_here else TOKENIZERS["word"]

    @property
    def tokens_by(self) -> str:
        """Its tokenizer in a few words."""
        return f"its own: {self.config.vocab_size:,} tokens"

    @property
    def reads(self) -> str:
        """What it reads of a long text, in a few words."""
        which = "last" if self.config.architecture == "decoder" else "first"
        return f"at most {self.context} tokens: the {which} ones of a longer text"

    def tokens_of(self, text: str, seq_len: int) -> Tokens:
        """What it reads of a text; where it is not there, words."""
        return self._read.prompt(text, seq_len) if self.is_here else encode(text, self.tokenizer, seq_len)


@dataclass(frozen=True)
class LabBert(FromFiles):
    """Lab BERT, which comes along."""

    name: str = LAB_BERT.weights
    config: TransformerConfig = LAB_BERT

    called = "Lab BERT: an encoder, trained on prose"
    badge = "Lab BERT, trained on prose"
    about = (
        "Lab BERT: an encoder of BERT’s form, pretrained by a script of this project on the prose of Lab GPT, 1790 to "
        "1864, by masked words and next sentences"
    )
    short = "Lab BERT"
    learned = "Lab BERT has learned to fill gaps in prose of 1790 to 1864."
    first_id = len(wordpiece.SPECIAL)

    @property
    def _read(self) -> Readable:
        return offered.readable(self.name)

    @property
    def tokens_by(self) -> str:
        """Its tokenizer in a few words."""
        return f"WordPiece: {self.config.vocab_size:,} tokens"


@dataclass(frozen=True)
class FromPackage(FromFiles):
    """A model that `run.py --models` installs."""

    @property
    def _offered(self) -> offered.Offered:
        return offered.OFFERED[self.name]

    @property
    def _read(self) -> Registered:
        return offered.registered_model(self.name)

    @property
    def short(self) -> str:  # type: ignore[override]
        """What people call it."""
        return self._offered.called

    @property
    def called(self) -> str:  # type: ignore[override]
        """Its name where weights are chosen, and whether it is there."""
        kind = "a language model" if self.config.architecture == "decoder" else "an encoder"
        return f"{self.short}: {kind}, pretrained" + (f" (needs {offered.COMMAND})" if self.why_not_there else "")

    @property
    def about(self) -> str:  # type: ignore[override]
        """Who trained it on what."""
        made = f" {offered.pretrained(self.name).about}" if self._offered.is_there else ""
        return f"{self.short}, {self._offered.about}. Licence: {self._offered.licence}.{made}"

    @property
    def learned(self) -> str:  # type: ignore[override]
        """Who trained it on what, as a sentence."""
        return f"{self.short}: {self._offered.about}."

    @property
    def why_not_there(self) -> str:  # type: ignore[override]
        """Why it cannot be run."""
        if self.name not in SETTINGS.models:
            return f"This server does not offer {self.short}, by its setting ATTENTION_LAB_MODELS."
        if self._offered.is_there:
            return ""
        return f"{self.short} is not installed on this server. To install it, run: {offered.COMMAND}"

    @property
    def first_id(self) -> int:  # type: ignore[override]
        """Ids below it are special."""
        return self._offered.first_id


@dataclass(frozen=True)
class Brought(FromFiles):
    """A model that a visitor has brought.

    Attributes:
        is_kept: whether it is still on this server.
    """

    is_kept: bool = True

    first_id = 0

    @property
    def _read(self) -> Registered:
        return registered(self.name)

    @property
    def short(self) -> str:  # type: ignore[override]
        """What it is called: nobody knows its name, but its family."""
        return f"Your {self._read.checkpoint.family} model" if self.is_kept else "Your model"

    @property
    def within(self) -> str:
        """Its name where it does not begin a sentence."""
        return f"y{self.short[1:]}"

    @property
    def called(self) -> str:  # type: ignore[override]
        """Its name where weights are chosen."""
        return self.short

    @property
    def badge(self) -> str:  # type: ignore[override]
        """The short line of facts."""
        return f"{self.short}, from a file"

    @property
    def about(self) -> str:  # type: ignore[override]
        """Where it is from."""
        return f"{self.short}, as its file has it. {self._read.checkpoint.about}".strip()

    @property
    def learned(self) -> str:  # type: ignore[override]
        """Who trained it on what, as a sentence: only who has brought it knows."""
        return f"{self.short}: what it was trained on stands in no file."

    @property
    def why_not_there(self) -> str:  # type: ignore[override]
        """Why it cannot be run."""
        if self.is_kept:
            return ""
        return "The model of this link is not on this server any more: load it again, from a file or folder."


GONE = replace(LAB_GPT, weights="gone")  # stands for the unknown shape of a model that is not there any more


def known(name: str) -> Known | None:
    """The pretrained model of this name; None if there can be none of that name."""
    if name in KNOWN:
        return KNOWN[name]
    if not model_folder.NAME.fullmatch(name):
        return None
    return _brought(name) if model_folder.folder_of(name) else Brought(name, replace(GONE, weights=name), is_kept=False)


@lru_cache(maxsize=64)
def _brought(name: str) -> Brought:
    """A model that is kept, read once in each process."""
    folder = model_folder.folder_of(name)
    assert folder is not None
    return Brought(name, register(folder, name))


def is_here(name: str) -> bool:
    """Whether this server offers the model of this name, so that questions can ask about it."""
    return not KNOWN[name].why_not_there


CAPITAL = {"weights": "smollm2", "text": "The capital of France is"}  # fields of the model's state
KNOWN: dict[str, Known] = {
    LAB_GPT.weights: Known(),
    LAB_BERT.weights: LabBert(),
    **{name: FromPackage(name, model.config) for name, model in offered.OFFERED.items()},
}
