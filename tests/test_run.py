"""run.py without installing anything: the message for an old Python, the address, the order of checks and tests."""

import ast
import json
import runpy
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import run

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "run.py"
OLD = [(3, 6, 15), (3, 8, 20), (3, 10, 14)]


@pytest.mark.parametrize("version", OLD)
def test_an_old_python_can_read_it_and_is_told_in_one_sentence(version, monkeypatch):
    ast.parse(SCRIPT.read_text(), feature_version=version[:2])
    monkeypatch.setattr(sys, "version_info", version)
    monkeypatch.setattr(sys, "version", ".".join(map(str, version)) + " (main)")
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(SCRIPT), run_name="__main__")
    sentence = f"Attention Lab needs Python 3.11 or newer; this is {'.'.join(map(str, version))}."
    assert ended.value.code == sentence  # of a sentence Python makes exit code 1


def test_nothing_that_an_old_python_lacks_comes_before_the_check():
    first, second, check = ast.parse(SCRIPT.read_text()).body[:3]
    assert isinstance(first, ast.Expr)  # the docstring
    assert ast.unparse(second) == "import sys"
    assert ast.unparse(check).startswith("if sys.version_info < (3, 11):\n    sys.exit(")


@pytest.mark.parametrize(
    ("given", "passed_on"),
    [
        ([], []),
        (["--address", "0.0.0.0"], ["--server.address=0.0.0.0"]),
        (["--address=::"], ["--server.address=::"]),
        (["--server.address=0.0.0.0"], ["--server.address=0.0.0.0"]),
        (["--server.port", "9000", "--address", "10.0.0.1"], ["--server.port", "9000", "--server.address=10.0.0.1"]),
    ],
)
def test_an_address_is_asked_for_in_our_words_or_in_streamlits(given, passed_on, monkeypatch):
    started = []
    monkeypatch.setattr(run, "install", lambda requirements: None)
    monkeypatch.setattr(run, "serve", lambda *command: started.append(command) or 0)
    monkeypatch.chdir(ROOT)
    assert run.main(given) == 0
    assert started == [("streamlit", "run", "app.py", *passed_on)]


@pytest.mark.parametrize(
    ("given", "is_said"), [(["--address", "0.0.0.0"], True), (["--address", "127.0.0.1"], False), ([], False)]
)
def test_who_opens_the_app_to_a_network_reads_what_that_means(given, is_said, capsys):
    run.for_streamlit(given)
    assert ("is made to stand behind a reverse proxy" in capsys.readouterr().out) == is_said


@pytest.mark.parametrize(
    ("version", "lock"),
    [
        ("2.13.0", "locks/torch.txt"),
        ("2.13.0+cpu", "locks/torch-cpu.txt"),
        ("2.13.0+cu130", ""),
        ("", ""),  # pip would install nothing: it is there
    ],
)
@pytest.mark.parametrize("requirements", ["requirements.txt", "requirements-dev.txt"])
def test_all_is_installed_with_hashes_but_a_build_of_torch_that_no_lock_has(
    requirements, version, lock, monkeypatch, tmp_path
):
    called = []

    def pip(command, **_):
        called.append([str(word) for word in command[4:]])
        chosen = [{"metadata": {"version": version}}] if version else []
        return subprocess.CompletedProcess(command, 0, json.dumps({"install": chosen}))

    monkeypatch.setattr(run, "HOME", tmp_path)
    monkeypatch.setattr("run.venv.create", lambda folder, **_: None)
    monkeypatch.setattr("run.subprocess.run", pip)
    run.install(requirements)
    run.install(requirements)  # it is there: nothing is asked or installed again
    asked, hashed, *rest = called
    assert {"--dry-run", "--report"} < set(asked)
    locks = ["locks/app.txt", "locks/transformers.txt", *filter(None, [lock])]
    assert "--require-hashes" in hashed
    assert [word for word in hashed if word.endswith(".txt")] == locks
    assert all((ROOT / lock).exists() for lock in locks)
    torch = asked[-1]
    assert torch.startswith("torch==")
    tools = [requirements] if requirements != "requirements.txt" else []
    assert [command[-1] for command in rest] == [torch] * (not lock) + tools


def test_without_an_address_no_other_machine_can_reach_the_app():
    settings = tomllib.loads((ROOT / ".streamlit/config.toml").read_text())
    assert settings["server"]["address"] == "127.0.0.1"


def test_the_help_says_what_another_address_means(capsys):
    with pytest.raises(SystemExit) as ended:
        run.main(["--help"])
    assert ended.value.code == 0
    assert "everybody who can reach this machine can use the app" in " ".join(capsys.readouterr().out.split())


def test_without_node_the_checks_of_scripts_fail_and_say_so(monkeypatch, capsys):
    checks = [check for check in run.CHECKS if check[0] == "node"]
    assert len(checks) == 4
    assert any(part.endswith("follow_states.test.js") for part in checks[-1])
    monkeypatch.setattr("run.shutil.which", lambda name: None)
    assert all(run.call(*check) == 1 for check in checks)
    assert "there is no node" in capsys.readouterr().out


@pytest.fixture
def tools(monkeypatch, tmp_path):
    """Checks and a pytest that write down when they begin and end, and fail as they are told: name -> exit code."""
    codes, log = {"first": 0, "second": 0, "pytest": 0}, tmp_path / "log"

    def tool(name: str, code: int) -> None:
        told = (
            f"echo {name} begins >>{log}; echo half of {name}; sleep 0.2; echo all of {name}; echo {name} ends >>{log}"
        )
        (tmp_path / name).write_text(f"#!/bin/sh\n{told}\nexit {code}\n")
        (tmp_path / name).chmod(0o755)

    def test(**failing: int) -> tuple[int, list[str]]:
        log.write_text("")
        for name, code in (codes | failing).items():
            tool(name, code)
        return run.choose_tests([]), log.read_text().splitlines()

    monkeypatch.setattr(run, "BIN", tmp_path)
    monkeypatch.setattr(run, "CHECKS", (["first"], ["second"]))
    return test


def test_checks_run_beside_the_tests_and_one_after_the_other(tools, capfd):
    code, log = tools()
    assert code == 0
    assert sorted(log) == sorted(
        f"{name} {when}" for name in ("first", "second", "pytest") for when in ("begins", "ends")
    )
    assert log.index("first begins") < log.index("pytest ends")
    assert log.index("pytest begins") < log.index("second ends")
    assert log.index("first ends") < log.index("second begins")
    printed = capfd.readouterr().out
    for name in ("first", "second"):
        assert f"$ {name}\nhalf of {name}\nall of {name}\n" in printed


@pytest.mark.parametrize(
    ("failing", "expected"),
    [
        ({"first": 3}, 3),
        ({"second": 4, "pytest": 1}, 4),
        ({"first": 3, "second": 4, "pytest": 1}, 3),
        ({"pytest": 2}, 2),
    ],
)
def test_the_first_failure_gives_the_exit_code_after_all_has_run(tools, capfd, failing, expected):
    code, log = tools(**failing)
    assert code == expected
    assert len(log) == 6
    printed = capfd.readouterr().out
    for name in failing.keys() - {"pytest"}:
        assert f"all of {name}\nFAILED with exit code {failing[name]}." in printed
    assert printed.endswith("".join(f"FAILED above: {name}\n" for name in sorted(failing.keys() - {"pytest"})))


SERVER = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: (print("ends", flush=True), sys.exit(3)))
print("runs", flush=True)
time.sleep(60)
"""
SERVING = f"import run, sys; sys.exit(run.serve({Path(sys.executable).name!r}, '-c', {SERVER!r}))"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_it_alone_ends_its_server_and_is_no_failure(number):
    """A service manager sends it to one process alone; a terminal sends it to both."""
    serving = subprocess.Popen([sys.executable, "-c", SERVING], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert serving.stdout
    with serving.stdout as said:
        assert said.readline() == "runs\n"
        serving.send_signal(number)
        assert said.readline() == "ends\n"
    assert serving.wait(30) == 0
