"""The distribution: what a wheel and its source hold, and that an installed wheel works where there is no checkout."""

import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

from attention_lab import app
from tests.test_documents import FENCED
from tfm_core.version import __version__
from tfm_ui.folders import ASSETS, FOLDER

ROOT = Path(__file__).parents[1]
PACKAGES = ("attention_lab", "tfm_core", "tfm_ui")
APP_FILES = (".streamlit", "app.py", "assets", "pages")
LEFT_OUT = {"tests", "benchmarks", "locks", "hosting", "models", "node_modules", "run.py"}
# What a program that only computes has no use for, and would wait for.
HEAVY = ("streamlit", "plotly", "pandas", "transformers", "matplotlib", "tokenizers", "gguf", "IPython")
NAMES = (
    "LAB_GPT, MASKS, TASKS, Transformer, TransformerConfig, causal_mask, encode, generate, recording, run_store, train"
)

# Begins a program that then imports: what it does beside is noted. What torch does at its own import is torch's.
WATCHED = """
import os, sys, threading
import torch
from torch.autograd.profiler import profile
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGES = "os.mkdir os.rename os.remove os.rmdir os.link os.symlink os.truncate subprocess.Popen socket.connect".split()
noted, threads = [], threading.active_count()

def note(event, arguments):
    if event == "open":
        path, mode, flags = arguments
        is_code = str(path).endswith((".py", ".pyc", ".so"))
        if flags & WRITES or not is_code and "tfm_core" in str(path):
            noted.append((event, path, flags))
    elif event in CHANGES:
        noted.append((event, arguments))

with profile(profile_memory=True):
    torch.zeros(1)
sys.addaudithook(note)
with profile(profile_memory=True) as measured:
    import tfm_core
    %s
assert not noted, noted
assert threading.active_count() == threads, threading.enumerate()
sizes = [abs(event.cpu_memory_usage) for event in measured.function_events]
assert max(sizes, default=0) < 1_000_000, sizes
assert os.listdir(".") == [] and os.listdir(os.environ["XDG_CACHE_HOME"]) == []
print("quiet", tfm_core.__file__)
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> tuple[Path, Path]:
    """The wheel, and the source from which it was built."""
    folder = tmp_path_factory.mktemp("built")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return folder / f"attention_lab-{__version__}-py3-none-any.whl", folder / f"attention_lab-{__version__}.tar.gz"


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory) -> Path:
    """The folder of programs of a new environment with the wheel; it borrows all other packages from this one."""
    home = tmp_path_factory.mktemp("installed")
    venv.create(home)
    folder = "Scripts" if os.name == "nt" else "bin"
    python = home / folder / "python"
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-compile"]
    subprocess.run([*install, "--no-deps", "--no-index", built[0]], check=True, capture_output=True)
    asked = "import sysconfig; print(sysconfig.get_path('purelib'))"
    told = subprocess.run([python, "-c", asked], check=True, capture_output=True, text=True).stdout.strip()
    Path(told, "borrowed.pth").write_text(sysconfig.get_path("purelib"))
    return home / folder


def run(installed: Path, program: str, folder: Path) -> str:
    """What a program prints that runs in an empty folder, where no module of the checkout can be found."""
    (folder / "here").mkdir()
    (folder / "cache").mkdir()
    place = {"XDG_CACHE_HOME": str(folder / "cache"), "ATTENTION_LAB_RUNS": "", "ATTENTION_LAB_MODELS_FOLDER": ""}
    command = [installed / "python", "-I", "-B", "-W", "error", "-c", program]
    done = subprocess.run(command, cwd=folder / "here", env=os.environ | place, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def files_of(folder: Path) -> set[str]:
    """What lies in a folder of the checkout, without what Python compiles; by its path in the checkout."""
    every = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(ROOT).as_posix() for path in every}


def test_the_wheel_holds_the_packages_and_the_apps_own_files_and_nothing_else(built):
    names = {name for name in ZipFile(built[0]).namelist() if not name.endswith("/")}
    info = f"attention_lab-{__version__}.dist-info/"
    packages = {name for package in PACKAGES for name in files_of(ROOT / package)}
    of_the_app = {name for part in APP_FILES for name in (files_of(ROOT / part) or {part})}
    assert "assets/pictures/canvas.js" in of_the_app
    assert {name for name in names if not name.startswith(info)} == {
        *packages,
        *(f"tfm_ui/app_files/{name}" for name in of_the_app),
        "tfm_core/pretrained/requirements-models.txt",
    }
    assert {f"{package}/py.typed" for package in PACKAGES} < names
    assert {f"{info}licenses/LICENSE", f"{info}entry_points.txt"} < names


def test_the_source_holds_what_the_wheel_is_built_from_and_its_documents(built):
    with tarfile.open(built[1]) as source:
        names = {name.partition("/")[2] for name in source.getnames()}
    assert {"LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml", "docs/library.md", "app.py"} < names
    assert not {name.partition("/")[0] for name in names} & LEFT_OUT
    assert not [name for name in names if "__pycache__" in name]


def test_the_wheel_says_what_the_project_says(built):
    wheel = ZipFile(built[0])
    text = wheel.read(f"attention_lab-{__version__}.dist-info/METADATA").decode()
    assert f"\nVersion: {__version__}\n" in text
    assert "\nLicense-Expression: MIT\n" in text
    assert "\nRequires-Python: >=3.11\n" in text
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert re.findall(r"^Provides-Extra: (.*)$", text, re.MULTILINE) == sorted(project["optional-dependencies"])


def test_the_example_of_the_readme_runs_where_only_the_wheel_is(installed, tmp_path):
    [example] = [
        body for language, body in FENCED.findall((ROOT / "README.md").read_text("utf-8")) if language == "python"
    ]
    shown = (
        "import tfm_ui.folders\nprint(picture.parts[0]['shape'], picture.weights.shape, len(picture.to_html()) > 9**5)"
    )
    told = run(installed, f"{example}\n{shown}\nprint(tfm_ui.folders.ASSETS)", tmp_path)
    assert told.startswith("(layer, head, query, key) = (2, 4, 6, 6) (6, 6) True")
    assert str(ROOT / "assets") not in told


def test_the_example_of_the_library_runs_where_only_the_wheel_is(installed, tmp_path):
    text = (ROOT / "docs/library.md").read_text("utf-8")
    [example] = [body for language, body in FENCED.findall(text) if language == "python"]
    told = run(installed, f"{example}\nprint(logits.shape)\nimport tfm_core\nprint(tfm_core.__file__)", tmp_path)
    assert told.startswith("torch.Size([1, 10, 4096])")
    assert str(ROOT / "tfm_core") not in told


@pytest.mark.parametrize("names", ["pass", "[getattr(tfm_core, name) for name in tfm_core.__all__]"])
def test_an_import_writes_nothing_reads_no_data_and_takes_no_memory(installed, tmp_path, names):
    assert run(installed, WATCHED % names, tmp_path).startswith("quiet")


@pytest.mark.parametrize("names", ["", f"from tfm_core import {NAMES}"])
def test_an_import_brings_no_heavy_package_with_it(installed, tmp_path, names):
    program = f"import sys, tfm_core\n{names}\nprint(*sys.modules)"
    loaded = {module.partition(".")[0] for module in run(installed, program, tmp_path).split()}
    assert "tfm_core" in loaded
    assert not loaded & {*HEAVY, "tfm_ui", "attention_lab"}


def test_weights_and_data_that_come_with_the_library_are_in_the_wheel(installed, tmp_path):
    program = """
from dataclasses import replace
import torch
from tfm_core import LAB_GPT, TASKS, Transformer, lab_prompt
from tfm_core.pretrained.__main__ import REQUIREMENTS
from tfm_core.pretrained.offered import COMMAND, HOME
from tfm_core.training.config import of_task
config = of_task("reverse")
reverse = Transformer(replace(config.transformer, weights=config.name)).eval()
sequence = torch.arange(1, config.about.length + 1)[None]
with torch.no_grad():
    assert torch.equal(reverse(sequence).argmax(-1), sequence.flip(1))
print(len(TASKS["authors"].vocabulary))
with torch.no_grad():
    print(Transformer(LAB_GPT).eval()(lab_prompt("The ship was").batch).shape[-1])
print(HOME)
print(COMMAND.endswith("tfm_core.pretrained"), "--hash" in REQUIREMENTS.read_text())
"""
    words, vocabulary, home, *commands = run(installed, program, tmp_path).split()
    assert (int(words), int(vocabulary)) == (2005, 2048)
    assert commands == ["True", "True"]
    assert Path(home) == tmp_path / "cache" / "attention-lab" / "models"


def test_the_apps_own_files_are_those_of_the_wheel_there_and_those_of_the_checkout_here(installed, tmp_path):
    program = "from tfm_ui.folders import ASSETS, FOLDER\nprint(FOLDER, ASSETS, *map(str, FOLDER.iterdir()), sep='\\n')"
    folder, assets, *inside = map(Path, run(installed, program, tmp_path).splitlines())
    assert folder.parts[-2:] == ("tfm_ui", "app_files")
    assert assets == folder / "assets"
    assert {path.name for path in inside} == set(APP_FILES)
    assert (FOLDER, ASSETS) == (ROOT, ROOT / "assets")


def test_the_command_starts_streamlit_with_the_apps_file_and_passes_options_on(installed, tmp_path):
    assert (installed / "attention-lab").exists() or (installed / "attention-lab.exe").exists()
    program = "from attention_lab.app import command\nprint(*command(['--server.port', '8600']), sep='\\n')"
    python, *started = run(installed, program, tmp_path).splitlines()
    assert Path(python).parent == installed
    assert started[:4] == ["-P", "-m", "streamlit", "run"]
    assert Path(started[4]).parts[-3:] == ("tfm_ui", "app_files", "app.py")
    assert started[5:] == ["--server.port", "8600"]


def test_where_the_packages_of_the_app_are_not_installed_the_command_says_so(monkeypatch, capsys):
    monkeypatch.setattr(app, "find_spec", lambda name: None if name in ("streamlit", "segno") else object())
    assert app.main([]) == 1
    told = capsys.readouterr().err
    assert "streamlit, segno" in told
    assert 'Install it with its extra [app]: pip install ".[app]" in a checkout' in told
    assert app.lacking() == ["streamlit", "segno"]


def test_what_the_command_looks_for_is_what_the_extra_brings():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    brought, to_ask = set(), ["app"]
    while to_ask:
        for each in map(Requirement, extras[to_ask.pop()]):
            to_ask += each.extras
            brought.add(each.name.replace("-", "_"))
    assert set(app.NEEDED) < brought


def test_ranges_hold_the_versions_that_the_app_is_pinned_to():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    every = [*project["dependencies"], *(each for extra in project["optional-dependencies"].values() for each in extra)]
    ranges = {each.name: each.specifier for each in map(Requirement, every) if not each.extras}
    files = ("requirements.txt", "requirements-transformers.txt", "requirements-lab-gpt.txt")
    lines = [line.partition(" #")[0] for file in files for line in (ROOT / file).read_text("utf-8").splitlines()]
    pinned = {
        each.name: next(iter(each.specifier)).version for line in lines if "==" in line for each in [Requirement(line)]
    }
    assert pinned.keys() <= ranges.keys()
    assert [name for name, version in pinned.items() if not ranges[name].contains(version)] == []
    lowest = {each.version for each in ranges["torch"] if each.operator in (">=", "==")}
    assert lowest == {"2.13"}, "the versions above have not been tried"
