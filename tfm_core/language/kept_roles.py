"""What the heads of a model do, kept beside its weights: measuring takes seconds to minutes.

roles.safetensors has the scores of all roles, silenced.json what breaks without them.
`python -m tfm_core.pretrained roles` makes both.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from tfm_core.language.marked import ReadSentences
from tfm_core.language.role_scores import role_scores
from tfm_core.language.roles import Measured, of_tensors, to_tensors
from tfm_core.language.silenced import DRAWS, Silenced, silenced
from tfm_core.model.transformer import Transformer

SCORES, SILENCED = "roles.safetensors", "silenced.json"
COMMAND = "python -m tfm_core.pretrained roles"
DIGITS = 6


@dataclass(frozen=True)
class KeptRoles:
    """What was measured.

    Attributes:
        measured: the scores of all roles.
        silenced: role -> what breaks without its heads; empty where that was not measured.
        seconds: what both took together; 0 where it is not known.
    """

    measured: Measured
    silenced: Mapping[str, Silenced]
    seconds: float


def keep_roles(
    folder: Path,
    model: Transformer,
    read: ReadSentences,
    *,
    silence: bool = True,
    told: Callable[[str], None] = lambda _: None,
) -> None:
    """Measure, and write the files.

    Args:
        folder: where they are written.
        model: in evaluation mode.
        read: the marked sentences in its tokens.
        silence: whether it is measured, too, what breaks without the heads of a role.
        told: called with a line after each part.
    """
    began = time.perf_counter()
    measured = role_scores(model, read)
    save_file(to_tensors(measured), folder / SCORES)
    told(f"roles of {model.config.num_layers * model.config.num_heads} heads: {time.perf_counter() - began:.0f} s")
    if not silence:
        return
    results: dict[str, object] = {}
    for role, result in silenced(model, read, measured):
        results[role] = asdict(result)
        seconds = round(time.perf_counter() - began)
        kept = {"command": COMMAND, "draws": DRAWS, "seconds": seconds, "roles": _rounded(results)}
        text = json.dumps(kept, indent=1) + "\n"  # after each role, as a large model takes long
        (folder / SILENCED).write_text(text, encoding="utf-8")
        told(f"without {len(result.heads)} heads of the role {role}: {seconds} s")


def _rounded(part: object) -> object:
    if isinstance(part, float):
        return round(part, DIGITS)
    if isinstance(part, dict):
        return {name: _rounded(value) for name, value in part.items()}
    return [_rounded(each) for each in part] if isinstance(part, list | tuple) else part


def has_roles(folder: Path) -> bool:
    """Whether scores are kept in this folder."""
    return (folder / SCORES).is_file()


@lru_cache(maxsize=8)
def kept_roles(folder: Path) -> KeptRoles:
    """What is kept in a folder.

    Raises:
        ValueError: if it is not there, or broken.
    """
    try:
        measured = of_tensors(load_file(folder / SCORES))
        if not (folder / SILENCED).is_file():
            return KeptRoles(measured, {}, 0.0)
        kept = json.loads((folder / SILENCED).read_text(encoding="utf-8"))
        results = {
            role: Silenced(
                tuple((layer, head) for layer, head in each["heads"]),
                each["whole"],
                each["silent"],
                tuple(each["random"]),
                each["are_others"],
            )
            for role, each in kept["roles"].items()
        }
        return KeptRoles(measured, results, float(kept["seconds"]))
    except (SafetensorError, OSError, KeyError, ValueError, TypeError) as problem:
        raise ValueError(f"{folder}: expected what heads do, as `{COMMAND}` measures it; {problem}") from problem
