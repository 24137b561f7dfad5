"""The tokenizer in a GGUF file: its tokens and merges, and by name how a text is split before it is merged.

A GGUF file has no `tokenizer.json`: of the steps around the vocabulary it names but one, in tokenizer.ggml.pre, and
each program knows by heart what the name means. Here the families of byte-level BPE are known that Llamas have.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors

from tfm_core.pretrained.tokenizer import LLAMA_3, QWEN_2, check_added, check_tokens, refused

MODEL = "gpt2"  # byte-level BPE, in the words of GGUF
CONTROL, USER_DEFINED = 3, 4  # types of tokens that are found in a text before it is split; the first are special
MOST_MERGES = 1_000_000  # Gemma has 515,000


@dataclass(frozen=True)
class Pre:
    """How a family reads a text before it merges.

    Attributes:
        pattern: the regular expression that splits the text; without one, GPT-2's.
        digits: whether each digit is on its own, before that.
        nfc: whether characters are composed first.
        whole: whether a word that is a token is that token, whatever the merges say.
        begins: whether a text begins with the first token, where the file does not say.
    """

    pattern: str | None = None
    digits: bool = False
    nfc: bool = False
    whole: bool = False
    begins: bool = False


_LLAMA_3 = Pre(LLAMA_3, whole=True, begins=True)
_QWEN_2 = Pre(QWEN_2, nfc=True)
PRE = {
    "default": Pre(),
    "gpt-2": Pre(),
    "smollm": Pre(digits=True),
    "llama-bpe": _LLAMA_3,
    "llama3": _LLAMA_3,
    "llama-v3": _LLAMA_3,
    "qwen2": _QWEN_2,
    "deepseek-r1-qwen": _QWEN_2,
}


def of_gguf(fields: Mapping[str, Any], *, source: str = "GGUF") -> tokenizers.Tokenizer:
    """The library's tokenizer that a GGUF file describes; `as_tokenizer` makes ours of it.

    Args:
        fields: the file's metadata as strings, numbers and lists of them, as `ReaderField.contents()` of the gguf
            package gives them: tokenizer.ggml.model, tokens, merges and token_type; pre, "default" where it is
            missing; bos_token_id, eos_token_id, add_bos_token and add_eos_token, if a text begins and ends with them.
        source: what errors call the file.

    Raises:
        ValueError: for a kind of tokenizer that is not known, and for fields that do not go together.
    """
    kind, name = _field(fields, "model"), _field(fields, "pre", "default")
    beside = "a tokenizer.json beside the file is read instead"
    if kind != MODEL:
        raise ValueError(f"{source}: tokenizer.ggml.model: expected {MODEL!r}; got {kind!r:.100} ({beside})")
    if not isinstance(name, str) or name not in PRE:
        raise ValueError(
            f"{source}: tokenizer.ggml.pre: expected one of {', '.join(PRE)}; got {name!r:.100} ({beside})"
        )
    pre, tokens = PRE[name], _texts(fields, "tokens", source)
    ids = {token: number for number, token in enumerate(tokens)}
    if len(ids) < len(tokens):
        double = next(token for number, token in enumerate(tokens) if ids[token] != number)
        raise ValueError(f"{source}: tokenizer.ggml.tokens: expected each token once; got {double!r:.100} twice")
    check_tokens(tokens, source)
    merges, added = _merges(fields, source), _added(fields, tokens, source)
    with refused(source, "tokens and merges that go together"):
        made = tokenizers.Tokenizer(models.BPE(vocab=ids, merges=merges, ignore_merges=pre.whole))
        made.add_tokens(added)
    if pre.nfc:
        made.normalizer = normalizers.NFC()
    steps: list[pre_tokenizers.PreTokenizer] = [pre_tokenizers.Digits(individual_digits=True)] if pre.digits else []
    if pre.pattern:
        steps.append(pre_tokenizers.Split(tokenizers.Regex(pre.pattern), behavior="isolated"))
    steps.append(pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=not pre.pattern))
    made.pre_tokenizer = pre_tokenizers.Sequence(steps)
    made.decoder = decoders.ByteLevel()
    first = _end(fields, "bos", tokens, source) if _flag(fields, "add_bos_token", pre.begins, source) else None
    last = _end(fields, "eos", tokens, source) if _flag(fields, "add_eos_token", False, source) else None
    ends = {sign: number for sign, number in {"first": first, "last": last}.items() if number is not None}
    if ends:
        # Signs of our own in the template, because a name may have a colon, which means something there.
        made.post_processor = processors.TemplateProcessing(
            single=[sign for sign in ("first", "$A", "last") if sign == "$A" or sign in ends],
            special_tokens=[{"id": sign, "ids": [id_], "tokens": [tokens[id_]]} for sign, id_ in ends.items()],
        )
    return made


def _field(fields: Mapping[str, Any], name: str, default: Any = None) -> Any:
    return fields.get(f"tokenizer.ggml.{name}", default)


def _texts(fields: Mapping[str, Any], name: str, source: str) -> Sequence[str]:
    texts = _field(fields, name)
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{source}: tokenizer.ggml.{name}: expected a list of texts; got {texts!r:.100}")
    return texts


def _merges(fields: Mapping[str, Any], source: str) -> list[tuple[str, str]]:
    pairs = _texts(fields, "merges", source)
    if len(pairs) > MOST_MERGES:
        raise ValueError(f"{source}: tokenizer.ggml.merges: expected at most {MOST_MERGES:,}; got {len(pairs):,}")
    merges = []
    for pair in pairs:
        left, space, right = pair.partition(" ")
        if not (left and space and right) or " " in right:
            raise ValueError(f"{source}: tokenizer.ggml.merges: expected two tokens and a space; got {pair!r:.100}")
        merges.append((left, right))
    return merges


def _added(fields: Mapping[str, Any], tokens: Sequence[str], source: str) -> list[tokenizers.AddedToken]:
    """The tokens that are found in a text as they are written."""
    types = _field(fields, "token_type", [])
    if not isinstance(types, list | tuple) or (types and len(types) != len(tokens)):
        expected = f"a list of {len(tokens)} numbers"
        raise ValueError(f"{source}: tokenizer.ggml.token_type: expected {expected}; got {types!r:.100}")
    added = [(token, kind) for token, kind in zip(tokens, types, strict=False) if kind in (CONTROL, USER_DEFINED)]
    check_added([token for token, _ in added], source)
    return [tokenizers.AddedToken(token, special=kind == CONTROL, normalized=False) for token, kind in added]


def _flag(fields: Mapping[str, Any], name: str, default: bool, source: str) -> bool:
    flag = _field(fields, name, default)
    if not isinstance(flag, bool):
        raise ValueError(f"{source}: tokenizer.ggml.{name}: expected true or false; got {flag!r:.100}")
    return flag


def _end(fields: Mapping[str, Any], name: str, tokens: Sequence[str], source: str) -> int:
    number = _field(fields, f"{name}_token_id")
    if type(number) is not int or not 0 <= number < len(tokens):
        expected = f"an id below {len(tokens)}"
        raise ValueError(f"{source}: tokenizer.ggml.{name}_token_id: expected {expected}; got {number!r:.100}")
    return number
