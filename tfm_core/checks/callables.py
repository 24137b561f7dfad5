"""How code of others is built and called: parameters in the usual spellings, masks by name, any kind of output.

Nothing is known of the code but its signature, so that names decide where they say something, and the order elsewhere.
"""

import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from traceback import extract_tb
from typing import Any

import torch
from torch import Tensor, nn

Sizes = Mapping[str, Any]

# The usual names of what a constructor takes, without underscores and in lower case.
SPELLINGS: dict[str, frozenset[str]] = {
    "d_model": frozenset(
        "dmodel dim embeddim embdim embedsize embsize embeddingdim embeddingsize hiddensize hiddendim nembd nembed "
        "numhiddens din dout dembed dembedding modeldim size features inputdim inputsize keysize querysize valuesize "
        "width normalizedshape normshape modelsize dimmodel ndim channels".split()
    ),
    "num_heads": frozenset("numheads nheads nhead h heads numattentionheads headcount headnum nhd numhead".split()),
    "d_k": frozenset("dk dv dq dhead headdim headsize dimhead keydim".split()),
    "temperature": frozenset({"temperature"}),
    "d_ff": frozenset(
        "dff dffn ffdim ffndim hidden ffnhidden dimfeedforward dhidden ffnnumhiddens intermediatesize mlpdim dinner "
        "dimff hiddenff feedforwarddim ffhidden feedforwardsize ffsize nhidden ffnhiddendim".split()
    ),
    "expansion": frozenset("forwardexpansion mlpratio expansion expansionfactor ffmult mlpexpansion".split()),
    "dropout": frozenset(
        "dropout p drop droprate dropoutrate dropoutp pdrop dropprob dropoutprob attndrop residdrop attnpdrop "
        "residpdrop embdpdrop attentiondropout".split()
    ),
    "context": frozenset(
        "contextlength blocksize maxlen maxseqlen maxseqlength seqlen seqlength nctx contextsize maxlength ctxlen "
        "npositions maxpositionembeddings maxpositions maxsequencelength contextlen sequencelength".split()
    ),
    "vocab_size": frozenset("vocabsize nvocab vocab numtokens srcvocabsize vsize dvocab ntoken ntokens".split()),
    "num_layers": frozenset("numlayers nlayer nlayers n depth numblocks nblocks numblks blocks layers".split()),
    "eps": frozenset("eps epsilon layernormeps varianceepsilon layernormepsilon".split()),
    "bias": frozenset({"bias", "qkvbias", "usebias"}),
    "batch_first": frozenset({"batchfirst"}),
}
CONFIGS = frozenset("config cfg args conf hparams params opt".split())
FIRST = ("d_model", "num_heads", "d_ff", "dropout")  # what a constructor takes by position, if no name says anything


def plain(name: str) -> str:
    """A name in lower case, without underscores."""
    return name.replace("_", "").lower()


def meaning(name: str) -> str:
    """What a constructor's parameter means, a key of `SPELLINGS`; "" if its name says nothing."""
    return next((key for key, spellings in SPELLINGS.items() if plain(name) in spellings), "")


class Config(dict[str, Any]):
    """A configuration that answers to each usual name, as an attribute and as a key."""

    def __missing__(self, name: str) -> Any:
        key = meaning(name)
        if key not in self:
            raise KeyError(name)
        return self[key]

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


BLANK = "There is a blank, `...`, that is still to be filled in."


# The folders of torch, of Python and of this library: what is raised there was called by a line elsewhere.
FOLDERS = Path(str(torch.__file__)).parent, Path(os.__file__).parent, Path(__file__).parents[1]
OURS = tuple(f"{folder}{os.sep}" for folder in FOLDERS)


class CodeFailed(Exception):
    """The code that is checked raised an exception; the text is its last line.

    Args:
        told: the text.
        where: the line of that code, as a sentence; "" if it is not known.
    """

    def __init__(self, told: str, where: str = "") -> None:
        super().__init__(told)
        self.where = where


def _where(error: Exception) -> str:
    """The line that raised an exception, the last one that is neither of this library nor of torch or Python."""
    frames = [each for each in extract_tb(error.__traceback__) if not each.filename.startswith(OURS)]
    if not frames:
        return ""
    line = (frames[-1].line or "").strip()
    return f"Line {frames[-1].lineno} of the code{': ' if line else '.'}{line}"


def guarded(f: Callable[..., Any], *args: Any, **keywords: Any) -> Any:
    """What the code gives.

    Raises:
        CodeFailed: where it raises an exception, an interruption passes; and where it returns `...`, a blank.
    """
    try:
        result = f(*args, **keywords)
    except Exception as error:
        last = (str(error).strip().splitlines() or [""])[-1]
        told = f"{type(error).__name__}: {last}" if last else f"{type(error).__name__}."
        raise CodeFailed(f"{told}. {BLANK}" if "llipsis" in str(error) else told, _where(error)) from error
    if result is ...:
        raise CodeFailed(f"nothing, and returned `...`. {BLANK}")
    return result


def check_callable(check: str, f: object, expected: str) -> None:
    """Refuse what is no code.

    Raises:
        ValueError: for anything that cannot be called.
    """
    if not callable(f):
        raise ValueError(f"{check}: expected {expected}; got {f!r}.")


def parameters(f: Callable[..., Any]) -> list[inspect.Parameter] | None:
    """The parameters of a function, of a module's forward, or of a class's constructor; None if they are not told."""
    try:
        signature = inspect.signature(f.forward if isinstance(f, nn.Module) else f)
    except (ValueError, TypeError):
        return None
    return list(signature.parameters.values())


def by_place(params: Sequence[inspect.Parameter]) -> list[inspect.Parameter]:
    """Those that can be handed over by position."""
    return [each for each in params if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]


def has_any_number(params: Sequence[inspect.Parameter]) -> bool:
    """Whether there is a *args."""
    return any(each.kind is each.VAR_POSITIONAL for each in params)


def built(check: str, f: object, sizes: Sizes) -> nn.Module:
    """The module itself, or what a class or a function makes for these sizes.

    Args:
        check: the name of the check, for messages.
        f: a module, a class, or a function that returns a module.
        sizes: the values to hand over, by the keys of `SPELLINGS`.

    Raises:
        ValueError: where no module can come of it.
        CodeFailed: where the constructor raises an exception.
    """
    if isinstance(f, nn.Module):
        return f
    expected = "a module, its class, or a function that returns it"
    check_callable(check, f, expected)
    assert callable(f)
    args, keywords = _constructed_with(check, f, sizes)
    module = guarded(f, *args, **keywords)
    if not isinstance(module, nn.Module):
        raise ValueError(f"{check}: expected {expected}; got a function that returns {type(module).__name__}.")
    return module


def _constructed_with(check: str, f: Callable[..., Any], sizes: Sizes) -> tuple[list[Any], dict[str, Any]]:
    params = parameters(f) or []
    named = [each for each in params if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]
    keywords: dict[str, Any] = {}
    unknown = []
    for each in named:
        key = meaning(each.name)
        required = each.default is each.empty
        if key in sizes and (
            required or key in ("d_model", "num_heads", "d_ff", "batch_first", "context", "expansion")
        ):
            keywords[each.name] = sizes[key]
        elif plain(each.name) in CONFIGS and required:
            keywords[each.name] = Config(sizes)
        elif required:
            unknown.append(each.name)
    if not unknown:
        return [], keywords
    required_names = [each.name for each in named if each.default is each.empty]
    ordered = [sizes[key] for key in FIRST if key in sizes]
    if unknown == required_names and len(unknown) <= len(ordered):
        return ordered[: len(unknown)], {}
    raise ValueError(
        f"{check}: expected a constructor whose parameters are named like d_model, num_heads or dropout; got "
        f"{', '.join(unknown)}. Hand over an instance."
    )


def tensors_in(output: Any) -> list[Tensor]:
    """The tensors of an output: itself, or those of a tuple, a list, a dict or an object like one, in order."""
    return list(_tensors(output))


def _tensors(output: Any) -> Iterator[Tensor]:
    if isinstance(output, Tensor):
        yield output.detach()
    elif isinstance(output, Mapping):
        for value in output.values():
            yield from _tensors(value)
    elif isinstance(output, (tuple, list)):
        for value in output:
            yield from _tensors(value)
    elif hasattr(output, "__dict__"):
        for value in vars(output).values():
            if isinstance(value, Tensor):
                yield value.detach()


ROLES = {"q": "query", "k": "key", "v": "value"}


def role_in(name: str) -> str:
    """Which of query, key and value a parameter is by its name; "" if that is not told."""
    short = plain(name)
    for letter, role in ROLES.items():
        if short in (letter, f"x{letter}", f"{letter}s", f"{letter}x", f"{letter}in") or short.startswith(role):
            return role
    return "query" if short.startswith("queries") else ""


class NoPlaceForMask(Exception):
    """The code takes no mask."""


@dataclass(frozen=True)
class Signature:
    """What code takes: its inputs, and a mask.

    Attributes:
        inputs: the names of the tensors before and beside masks, in order; of unknown names "".
        masks: the names of parameters that are masks, or lengths.
        required: of all these, those without a default.
        open: whether anything more is taken by position.
    """

    inputs: tuple[str, ...]
    masks: tuple[str, ...]
    required: frozenset[str]
    open: bool

    @property
    def takes_lengths(self) -> bool:
        """Whether the mask is a number of tokens for each sentence."""
        return len(self.masks) == 1 and "len" in plain(self.masks[0])


def is_mask(name: str) -> bool:
    """Whether a parameter is a mask, or the lengths of sentences, by its name."""
    short = plain(name)
    return "mask" in short or short in ("validlens", "validlen", "lengths", "validlengths")


def signature(f: Callable[..., Any]) -> Signature:
    """The inputs and masks of a function or of a module's forward."""
    params = parameters(f)
    if params is None:
        return Signature((), (), frozenset(), True)
    places = by_place(params)
    keyword = [each for each in params if each.kind is each.KEYWORD_ONLY]
    return Signature(
        tuple(each.name for each in places if not is_mask(each.name)),
        tuple(each.name for each in (*places, *keyword) if is_mask(each.name)),
        frozenset(each.name for each in (*places, *keyword) if each.default is each.empty),
        has_any_number(params),
    )


def called(f: Callable[..., Any], inputs: Mapping[str, Tensor], masks: Mapping[str, Tensor | None]) -> Any:
    """What the code gives for some tensors, by name where names tell, and masks by the names that it has for them.

    Args:
        f: a function or a module.
        inputs: the tensors, by their role, in the usual order.
        masks: by the name of the code's parameter; "" for a mask whose name is not known. None is handed over only
            where a mask is required.

    Raises:
        NoPlaceForMask: where a mask is to be handed over and nothing takes it.
        CodeFailed: where the code raises an exception.
    """
    takes = signature(f)
    inputs = {role: tensor.clone() for role, tensor in inputs.items()}  # some code works in place
    masks = {name: None if mask is None else mask.clone() for name, mask in masks.items()}
    keywords: dict[str, Any] = {}
    roles = {role_in(name): name for name in takes.inputs}
    if set(inputs) <= set(roles) and len(inputs) > 1:
        keywords = {roles[role]: tensor for role, tensor in inputs.items()}
        places: list[Any] = []
    else:
        places = list(inputs.values())
    for name in takes.masks:
        if masks.get(name) is not None or name in takes.required:
            keywords[name] = masks.get(name)
    unnamed = masks.get("")
    more = takes.inputs[len(inputs) :]
    if unnamed is not None:
        if takes.open or not takes.inputs or (more and not takes.masks and not keywords):
            places.append(unnamed)
        else:
            raise NoPlaceForMask
    elif more and more[0] in takes.required and not takes.masks:
        places.append(None)
    first = takes.inputs[: len(places)]
    if places and takes.masks and len(first) == len(places) and any(name in takes.required for name in takes.masks):
        # A mask may stand between the inputs: each by its name.
        keywords |= dict(zip(first, places, strict=True))
        places = []
    with torch.no_grad():
        return guarded(f, *places, **keywords)
