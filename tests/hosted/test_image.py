"""What the image for hosting copies starts, and the image's own check finds it healthy: no engine is needed."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from benchmarks.live.serve import is_healthy
from tests.hosted.waiting import until
from tests.test_hosting import COMMAND, HEALTH, ROOT, STEPS, copied
from tests.test_locks import locked
from tests.tfm_ui.store.redis_server import free_port
from tfm_core.training.folder import FOLDER


@pytest.fixture(scope="module")
def image(tmp_path_factory) -> Path:
    """The image's working folder. Its packages are those of this environment: nothing is downloaded for a test."""
    folder = tmp_path_factory.mktemp("image")
    for source, place in copied():
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, folder / place, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / source, folder / place)
    [compiled] = [rest for name, rest in STEPS if name == "RUN" and "compileall" in rest]
    program, *rest = shlex.split(compiled)
    assert program == "python"
    subprocess.run([sys.executable, *rest], cwd=folder, check=True)
    assert list(folder.glob("tfm_ui/**/*.pyc"))
    return folder


def test_what_is_copied_starts_and_is_healthy_by_the_check_of_the_image(image, tmp_path):
    port = str(free_port())
    program, *arguments = COMMAND
    command = [Path(sys.executable).with_name(program), *arguments]
    # At this machine's own address: a test opens nothing to the network.
    local = [word.replace("0.0.0.0", "127.0.0.1") for word in map(str, command)]
    outside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment = outside | {"STREAMLIT_SERVER_PORT": port, FOLDER: str(tmp_path), "ATTENTION_LAB_PRESET": "hosted"}
    assert HEALTH[0] == "python"
    check = [sys.executable, *(word.replace(":8501", f":{port}") for word in HEALTH[1:])]
    assert check[1:] != HEALTH[1:]

    def answers() -> bool:
        assert server.poll() is None, (tmp_path / "log").read_text()
        return is_healthy(int(port))

    def passes_the_check() -> bool:
        return subprocess.run(check, capture_output=True).returncode == 0

    with (tmp_path / "log").open("w") as log:
        server = subprocess.Popen(local, cwd=image, env=environment, stdout=log, stderr=log)
        try:
            until(answers)  # before that, the check would take the processor from it
            until(passes_the_check)
        finally:
            server.terminate()
            server.wait(timeout=20)
    assert not passes_the_check(), "nothing answers"


def test_the_list_of_parts_has_each_package_of_the_app_with_its_licence(tmp_path):
    [made] = [rest for name, rest in STEPS if name == "RUN" and "cyclonedx-py" in rest]
    program, *arguments, python = shlex.split(made.rpartition("&&")[2])
    assert python == "/opt/venv/bin/python"
    tool = Path(sys.executable).with_name(Path(program).name)
    # Without the comparison with the format's schema, which takes half a minute.
    command = [tool, *arguments, "--no-validate", sys.executable]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    [copied_from] = [rest.split()[1] for name, rest in STEPS if name == "COPY" and rest.startswith("--from=parts")]
    listed = json.loads((tmp_path / Path(copied_from).name).read_text("utf-8"))
    parts = {canonicalize_name(part["name"]): part for part in listed["components"]}
    wanted = locked((ROOT / "locks" / "app.txt").read_text("utf-8"))
    assert wanted.keys() <= parts.keys()
    assert {name: f"=={parts[name]['version']}" for name in wanted} == {n: str(p.specifier) for n, p in wanted.items()}
    # The metadata of two say theirs in a form that the tool does not read; docs/licences.md has them.
    assert {name for name in wanted if not parts[name].get("licenses")} <= {"protobuf", "pydeck"}
