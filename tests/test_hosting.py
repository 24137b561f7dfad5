"""The files for hosting, without an engine for containers: what they copy, start, set and name exists."""

import os
import re
import shlex
import subprocess
import sys
from json import loads
from pathlib import Path

import pytest
import yaml

from benchmarks.load import GLIBC
from locks.__main__ import pins
from tfm_core.training.folder import FOLDER
from tfm_ui.settings import ENTRIES, SETTINGS, read
from tfm_ui.store.kinds import KINDS

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


def test_the_builds_of_torch_for_the_cloud_are_those_that_are_locked():
    lock = (ROOT / "locks" / "torch-cpu.txt").read_text(encoding="utf-8")
    required = re.findall(r"^torch==(\S+)\+cpu", lock, re.MULTILINE)
    hashes = re.findall(r"sha256:(\w+)", lock)[::2]  # the others are of ARM
    lines = (HOSTING / "cloud" / "requirements.txt").read_text(encoding="utf-8").splitlines()
    builds = [line for line in lines if line.startswith("torch @")]
    assert len(builds) == 3
    parts = r"torch-(.*?)%2Bcpu-cp(\d+)-.*#sha256=(\w+) .*python_version == \"(.*)\""
    for build, locked in zip(builds, hashes, strict=False):  # Python 3.14 is not offered there
        version, python, digest, marker = re.findall(parts, build)[0]
        assert digest == locked
        assert [version] == required
        assert python == marker.replace(".", "")
    [beside] = [line.removeprefix("-r ") for line in lines if line.startswith("-r ")]
    assert (HOSTING / "cloud" / beside).resolve() == ROOT / "locks" / "app.txt"


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
        assert (HOSTING / replica["build"]["context"]).resolve() == DOCKERFILE.parent
    for volume in nginx["volumes"]:
        assert (HOSTING / volume.partition(":")[0]).exists()


def test_each_image_is_a_default_that_a_digest_can_replace():
    [python] = [rest for name, rest in STEPS if name == "ARG" and rest.startswith("PYTHON_IMAGE=")]
    bases = {rest.split()[0] for name, rest in STEPS if name == "FROM"}
    stages = {rest.split(" AS ")[1] for name, rest in STEPS if name == "FROM" and " AS " in rest}
    assert bases - stages == {"${PYTHON_IMAGE}"}
    services = COMPOSE["services"].values()
    named = [service["image"] for service in services if "image" in service]
    named += [service["build"]["args"]["PYTHON_IMAGE"] for service in services if "build" in service]
    assert len(named) == len(services)
    defaults = dict(re.fullmatch(r"\$\{([A-Z]+_IMAGE):-([^}@]+)\}", image).groups() for image in named)
    assert defaults.keys() == {"PYTHON_IMAGE", "NGINX_IMAGE", "REDIS_IMAGE"}
    assert f"PYTHON_IMAGE={defaults['PYTHON_IMAGE']}" == python


DOCKER = """#!/bin/sh
echo "$@" >>"$(dirname "$0")/asked"
[ "$4" = {missing} ] && {{ echo "no such image" >&2; exit 1; }}
echo "{digest}"
"""


@pytest.mark.parametrize("missing", ["none", "nginx:1.29-alpine"])
def test_images_are_pinned_by_what_the_registry_answers_and_by_nothing_else(tmp_path, missing):
    digest = "sha256:" + "0123456789abcdef" * 4
    (tmp_path / "docker").write_text(DOCKER.format(digest=digest, missing=missing))
    (tmp_path / "docker").chmod(0o755)
    environment = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run([HOSTING / "pin_images"], env=environment, capture_output=True, text=True)
    lines = dict(line.split("=", 1) for line in done.stdout.splitlines())
    assert all(value.endswith(f"@{digest}") and not value.startswith("@") for value in lines.values())
    if missing == "none":
        assert done.returncode == 0, done.stderr
        assert lines.keys() == {"PYTHON_IMAGE", "NGINX_IMAGE", "REDIS_IMAGE"}
    else:
        assert done.returncode
        assert "NGINX_IMAGE" not in lines


def test_what_is_no_digest_pins_nothing(tmp_path):
    (tmp_path / "docker").write_text(DOCKER.format(digest="<no value>", missing="none"))
    (tmp_path / "docker").chmod(0o755)
    environment = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run([HOSTING / "pin_images"], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert "expected a digest of" in done.stderr


def test_the_image_installs_all_with_hashes_and_brings_transformers_only_when_asked():
    runs = [part for name, rest in STEPS if name == "RUN" for part in rest.split("&&")]
    installs = [part for part in runs if "pip install" in part]
    assert [rest for rest in installs if "--require-hashes" not in rest] == []
    locks = [re.findall(r"locks/([\w-]+)\.txt", rest) for rest in installs]
    assert locks == [["app", "transformers"], ["torch-cpu"], ["sbom"]]
    assert "${TRANSFORMERS:+--requirement locks/transformers.txt}" in installs[0]
    assert ("ARG", "TRANSFORMERS=") in STEPS
    assert not [pin for pin in pins((ROOT / "locks" / "app.txt").read_text("utf-8")) if pin.startswith("transformers")]


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


def test_what_redis_must_have_room_for_is_what_may_be_kept():
    text = (ROOT / "docs/hosting.md").read_text(encoding="utf-8")
    needed = sum(kind.together for kind in KINDS) + SETTINGS.rooms * SETTINGS.room_bytes
    assert f"{needed / 1e6:.0f} MB with the usual ones" in text


def test_nginx_limits_the_connections_of_an_address_and_leaves_room_for_its_tabs():
    """The app does not, and docs/hosting.md says that a proxy does."""
    template = (HOSTING / "nginx.conf.template").read_text(encoding="utf-8")
    assert "limit_conn_zone $binary_remote_addr zone=addresses:1m;" in template
    [most] = re.findall(r"^ +limit_conn addresses (\d+);", template, re.MULTILINE)
    assert int(most) >= 3 * ENTRIES["tabs_per_address"].hosted  # each member of a room has one more
    assert int(most) > ENTRIES["tabs_per_address"].local
