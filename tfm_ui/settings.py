"""Settings of the server, read from environment variables when it starts: each is declared once, in `Settings`.

What the table of docs/hosting.md says, how a value is read, what an error says and what /status shows follow from the
declaration. A setting has two defaults: one for a computer of one's own, and one for a small host, with 1 GB of memory
and 1 to 2 processors. The variable ATTENTION_LAB_PRESET chooses between them; a variable of a setting's own goes first.
"""

import dataclasses
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

PREFIX = "ATTENTION_LAB_"
MEGABYTE, MEBIBYTE = 1_000_000, 2**20
PLACE = re.compile(r"(?:[a-zA-Z0-9.-]+|\[[0-9a-fA-F:.]+\]):([0-9]{1,5})")  # an address, and its port


@dataclass(frozen=True)
class Kind:
    """A kind of value.

    Attributes:
        expected: what a value must be, in words.
        read: the value that a variable's text stands for; None if the text is no such value.
        write: the text that stands for a value.
        unit: the unit in which the text counts; "" if it counts nothing.
    """

    expected: str
    read: Callable[[str], Any]
    write: Callable[[Any], str] = str
    unit: str = ""


def whole(low: int, high: int = 0, *, unit: str = "", times: int = 1) -> Kind:
    """A whole number from `low` to `high`, without an upper limit if that is 0; the value is `times` as large."""

    def read(raw: str) -> int | None:
        plain = raw.isascii() and raw.isdigit() and len(raw) < 10
        return int(raw) * times if plain and low <= int(raw) <= (high or int(raw)) else None

    expected = f"a whole number from {low} " + (f"to {high}" if high else "on")
    return Kind(expected, read, lambda value: str(value // times), unit)


def _seconds(raw: str) -> float | None:
    plain = raw.isascii() and raw.replace(".", "", 1).isdigit() and len(raw) < 10
    return float(raw) if plain else None


def one_of(*names: str) -> Kind:
    """One of a few words."""
    return Kind(f"one of {', '.join(names)}", lambda raw: raw if raw in names else None)


def _sources(raw: str) -> str | None:
    breaks_out = any(sign in raw for sign in ";,\r\n") or not raw.strip() or not raw.isascii()
    return None if breaks_out else " ".join(raw.split())


def _store(raw: str) -> str | None:
    if not raw:
        return raw
    try:
        parts = urlsplit(raw)
        may_be = raw.isprintable() and bool(parts.hostname) and parts.port != 0
    except ValueError:  # of the port
        return None
    may_be = may_be and parts.scheme in ("redis", "rediss") and bool(re.fullmatch("(/[0-9]{0,4})?", parts.path))
    return raw if may_be else None


def _name(raw: str) -> str | None:
    return raw if re.fullmatch("[A-Za-z0-9_-]{0,40}", raw) else None


def _models(raw: str) -> tuple[str, ...] | None:
    if raw in ("all", "none"):
        return MODELS if raw == "all" else ()
    names = tuple(raw.split())
    return names if names and set(names) <= set(MODELS) else None


def _place(raw: str) -> str | None:
    port = PLACE.fullmatch(raw)
    return raw if not raw or (port and 0 < int(port[1]) < 2**16) else None


MODELS = ("smollm2", "minilm")  # those of tfm_core.pretrained.offered
MEGABYTES = whole(1, unit="MB", times=MEGABYTE)
MEBIBYTES = whole(1, unit="MiB", times=MEBIBYTE)
COUNT = whole(1)
MINUTES = whole(1, unit="minutes", times=60)
SECONDS = Kind("seconds, from 0 on, such as 2.5", _seconds, lambda value: f"{value:g}", "seconds")
SOURCES = Kind("addresses separated by spaces", _sources)
NAMES = Kind(
    f"all, none, or names separated by spaces, of {' and '.join(MODELS)}",
    _models,
    lambda value: "all" if value == MODELS else " ".join(value) or "none",
)
METRICS = Kind("nothing, or an address and a port, such as 127.0.0.1:9464", _place)
STORE = Kind("nothing, or an address that begins with redis:// or rediss://", _store)

NAME = Kind("at most 40 letters, digits, - and _", _name)


@dataclass(frozen=True)
class Entry:
    """What is declared of a setting.

    Attributes:
        variable: its environment variable.
        kind: which values it may have.
        local: the default on a computer of one's own.
        hosted: the default on a small host.
        about: what it is, in words.
        secret: whether a value may hold a password, so that it is shown nowhere.
    """

    variable: str
    kind: Kind
    local: Any
    hosted: Any
    about: str
    secret: bool = False

    def read(self, raw: str) -> Any:
        """The value that a variable's text stands for.

        Raises:
            ValueError: if it stands for none.
        """
        value = self.kind.read(raw)
        if value is None:
            got = "something else" if self.secret else repr(raw)
            raise ValueError(f"{self.variable}: expected {self.kind.expected}, got {got}")
        return value

    @property
    def row(self) -> str:
        """The setting's row in the table of docs/hosting.md."""
        local, hosted = (f"`{text}`" if (text := self.kind.write(value)) else "" for value in (self.local, self.hosted))
        unit = f" ({self.kind.unit})" if self.kind.unit else ""
        return f"| `{self.variable}` | {local} | {hosted} | {self.about}{unit} |"


def _setting(name: str, kind: Kind, local: str, hosted: str, about: str, *, secret: bool = False) -> Any:
    """A field of `Settings`: the end of its variable's name, its kind, both defaults as text, and what it is."""
    entry = Entry(PREFIX + name, kind, kind.read(local), kind.read(hosted), about, secret)
    return dataclasses.field(default=entry.local, repr=not secret, metadata={"entry": entry})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of one server. `entries` tells what each is."""

    preset: str = _setting("PRESET", one_of("local", "hosted"), "local", "hosted", "which column of defaults counts")
    cache_bytes: int = _setting("CACHE_MB", MEGABYTES, "200", "80", "all caches of results together")
    picture_bytes: int = _setting(
        "PICTURE_MB",
        whole(50, unit="MB", times=MEGABYTE),
        "1000",
        "300",
        "what computing one picture may take in addition to what its process has",
    )
    workers: int = _setting(
        "WORKERS", whole(0), "0", "2", "processes that compute pictures; 0 is one for each processor"
    )
    heavy_at_once: int = _setting("HEAVY_AT_ONCE", COUNT, "1", "1", "computations that take long at once")
    waiting_per_visitor: int = _setting(
        "WAITING_PER_VISITOR", COUNT, "24", "24", "pictures of one visitor that may wait"
    )
    waiting_per_address: int = _setting(
        "WAITING_PER_ADDRESS", COUNT, "96", "192", "pictures of one network address that may wait"
    )
    waiting: int = _setting("WAITING", COUNT, "192", "288", "pictures of all visitors that may wait in all")
    rest_seconds: float = _setting(
        "REST", SECONDS, "2.5", "2.5", "how long after the last of a row of presses at a box of numbers the page is run"
    )
    tabs_per_visitor: int = _setting("TABS_PER_VISITOR", COUNT, "60", "12", "open tabs of one visitor")
    tabs_per_address: int = _setting("TABS_PER_ADDRESS", COUNT, "200", "100", "open tabs of one network address")
    tabs: int = _setting("TABS", COUNT, "500", "150", "open tabs in all")
    file_bytes_per_tab: int = _setting("FILES_MB_PER_TAB", MEGABYTES, "30", "10", "uploaded files of one open tab")
    file_bytes: int = _setting("FILES_MB", MEGABYTES, "150", "40", "uploaded files of all open tabs")
    upload_bytes_per_visitor: int = _setting(
        "UPLOADS_MIB_PER_VISITOR", MEBIBYTES, "16", "8", "masks and attention weights that are kept for one visitor"
    )
    upload_bytes: int = _setting(
        "UPLOADS_MIB", MEBIBYTES, "64", "32", "masks and attention weights that are kept in all"
    )
    runs_bytes: int = _setting("RUNS_MB", MEGABYTES, "100", "100", "trained runs that are kept")
    rooms: int = _setting("ROOMS", COUNT, "20", "20", "rooms for lectures that are open at the same time")
    room_members: int = _setting("ROOM_MEMBERS", COUNT, "300", "150", "those who are in one room")
    room_answers: int = _setting("ROOM_ANSWERS", COUNT, "10000", "5000", "answers and done tasks that a room keeps")
    room_bytes: int = _setting("ROOM_KB", whole(100, unit="kB", times=1000), "2000", "1000", "all that a room keeps")
    store: str = _setting(
        "STORE",
        STORE,
        "",
        "",
        "address of the Redis server where several servers keep what they share; without it, local files",
        secret=True,
    )
    deployment: str = _setting(
        "DEPLOYMENT", NAME, "", "", "what the servers that share a Redis are called there, if others use the same one"
    )
    job_worker: str = _setting(
        "JOB_WORKER",
        one_of("early", "late"),
        "early",
        "late",
        "whether the process that measures and trains, 170 MB, starts with the first page that offers it or with a job",
    )
    job_bytes: int = _setting("JOB_MB", MEGABYTES, "4000", "300", "what one measurement or training may take")
    job_seconds: int = _setting(
        "JOB_SECONDS", whole(1, unit="seconds"), "3600", "300", "after which a measurement or training is stopped"
    )
    jobs_per_visitor: int = _setting(
        "JOBS_PER_VISITOR", COUNT, "3", "3", "measurements and trainings of one visitor that may wait"
    )
    jobs_per_address: int = _setting(
        "JOBS_PER_ADDRESS", COUNT, "32", "32", "measurements and trainings of one network address that may wait"
    )
    jobs: int = _setting("JOBS", COUNT, "40", "40", "measurements and trainings that may wait in all")
    job_time_per_visitor: int = _setting(
        "JOB_MINUTES_PER_VISITOR", MINUTES, "6", "6", "their estimated duration, of one visitor"
    )
    job_time_per_address: int = _setting(
        "JOB_MINUTES_PER_ADDRESS", MINUTES, "40", "40", "their estimated duration, of one network address"
    )
    job_time: int = _setting("JOB_MINUTES", MINUTES, "60", "60", "their estimated duration, in all")
    max_tokens: int = _setting("MAX_TOKENS", whole(16, 1024), "1024", "256", "tokens that the model may read")
    max_layers: int = _setting("MAX_LAYERS", whole(2, 8), "8", "6", "layers of the model")
    max_heads: int = _setting("MAX_HEADS", whole(4, 16), "16", "8", "heads of the model")
    max_d_model: int = _setting("MAX_D_MODEL", whole(32, 256), "256", "256", "d_model of the model")
    max_draws: int = _setting(
        "MAX_DRAWS", whole(3, 20), "20", "3", "draws of the weights of five networks, in the Model lens"
    )
    embed: str = _setting("EMBED", SOURCES, "'self'", "'self'", "who may show the app in a frame, see below")
    status: str = _setting(
        "STATUS",
        one_of("local", "everybody"),
        "local",
        "local",
        "who may read /status: programs on this machine, or everybody",
    )
    metrics: str = _setting(
        "METRICS",
        METRICS,
        "",
        "",
        "where a Prometheus server reads figures, such as 127.0.0.1:9464; nowhere by default",
    )
    transformers: str = _setting(
        "TRANSFORMERS",
        one_of("yes", "no"),
        "yes",
        "no",
        "whether the library transformers, 100 MB in each process, is loaded when somebody opens its masks",
    )
    models: tuple[str, ...] = _setting(
        "MODELS",
        NAMES,
        "all",
        "none",
        "which pretrained models are offered where they are installed, see below",
    )
    model_bytes: int = _setting(
        "MODEL_MB",
        whole(0, unit="MB", times=MEGABYTE),
        "2000",
        "0",
        "a model that a visitor brings, in float32; 0: nobody may bring one",
    )
    logs: str = _setting("LOGS", one_of("text", "json"), "text", "json", "how the server's log is written, see below")

    def lowered_by(self, name: str) -> str:
        """How a sentence names the setting of this field where it is lower than usual; "" where it is not."""
        entry = ENTRIES[name]
        return f" (this server's setting {entry.variable})" if getattr(self, name) < entry.local else ""


ENTRIES: Mapping[str, Entry] = {field.name: field.metadata["entry"] for field in dataclasses.fields(Settings)}


def read(environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings in the environment.

    Raises:
        ValueError: if a value is not what its setting expects.
    """
    preset = ENTRIES["preset"].read(environment.get(ENTRIES["preset"].variable, "local"))
    return Settings(
        **{
            name: entry.read(environment[entry.variable]) if entry.variable in environment else getattr(entry, preset)
            for name, entry in ENTRIES.items()
        }
        | {"preset": preset}
    )


def written(settings: Settings) -> dict[str, str]:
    """Variable -> the text that stands for its value in these settings, without what may hold a password."""
    return {
        entry.variable: "(set)"
        if entry.secret and getattr(settings, name)
        else entry.kind.write(getattr(settings, name))
        for name, entry in ENTRIES.items()
    }


def _of_server() -> Settings:
    """The settings of this process; one that cannot be ends it with a sentence, whichever file was started."""
    try:
        return read()
    except ValueError as problem:
        sys.exit(f"{problem}.")


SETTINGS = _of_server()
