"""Settings of the server, read from environment variables; docs/hosting.md says what each is for."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Settings:
    """The limits of one server.

    Attributes:
        cache_bytes: the size limit of the cache.
        light_at_once: how many quick computations may run at the same time.
        heavy_at_once: how many slow computations may run at the same time; quick ones are counted separately.
        embed: which sites may show the app in a frame: sources of a content security policy, separated by spaces.
    """

    cache_bytes: int = 200 * MEGABYTE
    light_at_once: int = 4
    heavy_at_once: int = 1
    embed: str = "'self'"


def read(environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings in the environment.

    Raises:
        ValueError: if a value is not a whole number from 1 on, or `embed` would break its header.
    """
    default = Settings()
    return Settings(
        cache_bytes=_whole(environment, "ATTENTION_LAB_CACHE_MB", default.cache_bytes // MEGABYTE) * MEGABYTE,
        light_at_once=_whole(environment, "ATTENTION_LAB_LIGHT_AT_ONCE", default.light_at_once),
        heavy_at_once=_whole(environment, "ATTENTION_LAB_HEAVY_AT_ONCE", default.heavy_at_once),
        embed=_sources(environment.get("ATTENTION_LAB_EMBED", default.embed)),
    )


def _whole(environment: Mapping[str, str], name: str, default: int) -> int:
    raw = environment.get(name, str(default))
    if not (raw.isascii() and raw.isdigit() and len(raw) < 10 and int(raw) >= 1):
        raise ValueError(f"{name}: expected a whole number from 1 on, got {raw!r}")
    return int(raw)


def _sources(raw: str) -> str:
    if any(sign in raw for sign in ";,\r\n") or not raw.strip() or not raw.isascii():
        raise ValueError(f"ATTENTION_LAB_EMBED: expected addresses separated by spaces, got {raw!r}")
    return " ".join(raw.split())


SETTINGS = read()
