"""The cache of Hugging Face's hub on this machine, with what somebody has downloaded. Nothing is fetched here."""

import os
import re
from pathlib import Path


def _cache() -> Path:
    """Where Hugging Face's libraries keep what they have downloaded, by their own environment variables."""
    if named := os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE"):
        return Path(named)
    home = os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "huggingface")
    return Path(home, "hub")


CACHE = _cache()


def folder_of(name: str, cache: Path | None = None) -> Path | None:
    """The folder of the newest snapshot of a model, such as "gpt2" or "bert-base-uncased"; None if it is not there.

    A name without an owner is looked for as it is, and then under any owner: "gpt2" is "openai-community/gpt2" today.
    """
    where = CACHE if cache is None else cache
    if not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", name) or not where.is_dir():
        return None
    wanted = f"models--{name.replace('/', '--')}"
    folders = [where / wanted, *([] if "/" in name else sorted(where.glob(f"models--*--{name}")))]
    for folder in folders:
        if snapshot := _snapshot(folder):
            return snapshot
    return None


def _snapshot(folder: Path) -> Path | None:
    """The one that "main" names, or the newest that has a configuration."""
    main = folder / "refs" / "main"
    if main.is_file():
        named = folder / "snapshots" / main.read_text(encoding="utf-8").strip()
        if (named / "config.json").exists():
            return named
    whole = [each.parent for each in folder.glob("snapshots/*/config.json")]
    return max(whole, key=lambda each: each.stat().st_mtime, default=None)
