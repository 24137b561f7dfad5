"""The files for hosting, without an engine for containers: what they copy, start, set and name exists."""

import re
import shlex
import subprocess
import sys
from json import loads
from pathlib import Path

import yaml

from benchmarks.load import GLIBC
from tfm_core.training.folder import FOLDER
from tfm_ui.settings import ENTRIES, read

ROOT = Path(__file__).parents[1]
HOSTING = ROOT / "hosting"
DOCKERFILE = ROOT / "Dockerfile"
COMPOSE = yaml.safe_load((HOSTING / "compose.yaml").read_text(encoding="utf-8"))
VARIABLES = {FOLDER, *(entry.variable for entry in ENTRIES.values())}


def steps(text: str) -> list[tuple[str, str]]:
    """The instructions of a Dockerfile, each with the rest of its line; continued lines are joined."""
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    return [(line.split()[0], line.partition(" ")[2]) for line in lines if line and not line.startswith("#")]


STEPS = steps(DOCKERFILE.read_text(encoding="utf-8"))
[COMMAND] = [loads(rest) for name, rest in STEPS if name == "CMD"]
[HEALTH] = [loads(rest.partition("CMD ")[2]) for name, rest in STEPS if name == "HEALTHCHECK"]


def copied() -> list[tuple[str, str]]:
    """(source in the project, place below the image's working folder) of the last stage."""
    last = max(at for at, (name, _) in enumerate(STEPS) if name == "FROM")
    copies = [shlex.split(rest) for name, rest in STEPS[last:] if name == "COPY" and not rest.startswith("--from")]
    return [(source, f"{to}/{source}" if to == "./" else to) for *sources, to in copies for source in sources]


def test_the_linter_of_dockerfiles_has_no_objection():
    linter = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([linter, DOCKERFILE], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_all_that_is_copied_exists_and_is_let_through():
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    sources = {source for source, _ in copied()}
    assert [source for source in sources if not (ROOT / source).exists()] == []
    assert ignored[1] == "*"
    assert {line[1:] for line in ignored if line.startswith("!")} == sources


def test_the_builds_of_torch_for_the_cloud_are_of_the_version_that_is_required():
    required = re.findall(r"^torch==(\S+)", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)
    lines = (HOSTING / "cloud" / "requirements.txt").read_text(encoding="utf-8").splitlines()
    builds = [line for line in lines if line.startswith("torch @")]
    assert len(builds) == 3
    for build in builds:
        version, python, marker = re.findall(r"torch-(.*?)%2Bcpu-cp(\d+)-.*python_version == \"(.*)\"", build)[0]
        assert [version] == required
        assert python == marker.replace(".", "")
    [beside] = [line.removeprefix("-r ") for line in lines if line.startswith("-r ")]
    assert (HOSTING / "cloud" / beside).resolve() == ROOT / "requirements.txt"


def test_compose_sets_what_the_app_and_the_template_of_nginx_read():
    services = COMPOSE["services"]
    replicas = {name: service for name, service in services.items() if name.startswith("replica_")}
    [exposed] = [rest for name, rest in STEPS if name == "EXPOSE"]
    places = {
        name.upper(): f"{service['networks']['lab']['ipv4_address']}:{exposed}" for name, service in replicas.items()
    }
    nginx = services["nginx"]
    names = set(re.findall(r"\$\{(\w+)\}", (HOSTING / "nginx.conf.template").read_text(encoding="utf-8")))
    assert nginx["environment"].keys() == names
    assert places.items() <= nginx["environment"].items()
    for replica in replicas.values():
        settings = replica["environment"]
        assert {name for name in settings if name.startswith("ATTENTION_LAB_")} <= VARIABLES
        assert read(settings).store == "redis://redis:6379/0"
        assert settings["FORWARDED_ALLOW_IPS"] == nginx["networks"]["lab"]["ipv4_address"]
        assert (HOSTING / replica["build"]).resolve() == DOCKERFILE.parent
    for volume in nginx["volumes"]:
        assert (HOSTING / volume.partition(":")[0]).exists()


def test_the_space_of_hugging_face_asks_the_port_that_the_image_opens():
    _, front, _ = (HOSTING / "huggingface" / "README.md").read_text(encoding="utf-8").split("---\n")
    space = yaml.safe_load(front)
    assert space["sdk"] == "docker"
    assert ("EXPOSE", str(space["app_port"])) in STEPS


def test_the_unit_of_systemd_starts_the_app_with_settings_that_exist():
    unit = (HOSTING / "attention-lab@.service").read_text(encoding="utf-8")
    assert set(re.findall(r"ATTENTION_LAB_[A-Z_]+", unit)) <= VARIABLES
    [start] = re.findall(r"^ExecStart=(.*)$", unit, re.MULTILINE)
    assert start.split()[1:3] == COMMAND[1:3]


def test_glibc_gives_memory_back_in_each_place_as_where_it_is_measured():
    unit = (HOSTING / "attention-lab@.service").read_text(encoding="utf-8")
    [image] = [rest for name, rest in STEPS if name == "ENV" and "MALLOC" in rest]
    [started] = [line for line in unit.splitlines() if "MALLOC" in line]
    variables = [f"{name}={value}" for name, value in GLIBC.items()]
    assert image.split() == variables
    assert started.removeprefix("Environment=").split() == variables
