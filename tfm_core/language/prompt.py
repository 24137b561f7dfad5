"""What Lab GPT reads of a text: the end of it, as what comes next hangs on that."""

from tfm_core.language.bpe import START
from tfm_core.language.lab_gpt import LAB_GPT, lab_tokenizer
from tfm_core.model.tokens import PAD_ID, Tokens


def lab_prompt(text: str, seq_len: int | None = None) -> Tokens:
    """A text as Lab GPT reads it. The last tokens of a long text are read; an empty text is read as the start token.

    Tokens are those of `lab_tokenizer`, byte-level BPE: Radford et al. 2019, section 2.2.

    Args:
        text: any text.
        seq_len: how many ids there are to be, at most the context; by default as many as there are, up to the context.

    Raises:
        ValueError: for a seq_len below 1 or above the context.

    Examples:
        >>> from tfm_core import lab_prompt
        >>> lab_prompt("It is a truth", seq_len=8).batch.shape
        torch.Size([1, 8])
    """
    if seq_len is not None and not 1 <= seq_len <= LAB_GPT.max_len:
        raise ValueError(f"seq_len: expected a whole number from 1 to {LAB_GPT.max_len}, got {seq_len!r}")
    tokenizer = lab_tokenizer()
    pieces = tokenizer.split(text) or [START]
    length = min(len(pieces), LAB_GPT.max_len) if seq_len is None else seq_len
    read = tuple(pieces[-length:])
    ids = tuple(map(tokenizer.id_of, read)) + (PAD_ID,) * (length - len(read))
    return Tokens(read, ids, dropped=len(pieces) - len(read))
