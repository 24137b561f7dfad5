"""Two commands on a fresh machine with Python 3.11 or newer; each does its own set-up.

python3 run.py           start the app for this machine alone (more arguments go to `streamlit run app.py`)
python3 run.py test      every check and every test (more arguments go to pytest)
"""

import sys

# Before anything that an old Python cannot do; and in this file no syntax that it cannot read.
if sys.version_info < (3, 11):
    sys.exit(f"Attention Lab needs Python 3.11 or newer; this is {sys.version.split()[0]}.")

import argparse
import os
import shutil
import signal
import subprocess
import threading
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent
HOME = ROOT / ".venv"
BIN = HOME / ("Scripts" if os.name == "nt" else "bin")
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")  # the lightest first
PATIENCE = 2.5  # seconds in which a server that was told to end does so by itself
CHECKS = (
    ["ruff", "check", "."],
    ["ruff", "format", "--check", "."],
    ["mypy"],
    ["lint-imports", "--no-cache"],
    ["node", "node_modules/typescript/bin/tsc"],
    ["node", "node_modules/typescript/bin/tsc", "--project", "tests/scripts"],
    ["node", "node_modules/eslint/bin/eslint.js", "."],
    [
        "node",
        "--test",
        "--test-reporter=spec",
        *sorted(str(file.relative_to(ROOT)) for file in ROOT.glob("tests/scripts/*.test.js")),
    ],
)


def main(arguments: list[str]) -> int:
    """Set up what the command needs, then run it; its exit code."""
    os.chdir(ROOT)
    if arguments[:1] == ["test"]:
        install("requirements-dev.txt")
        install_browser()
        install_script_checks()
        return test(arguments[1:])
    streamlits = for_streamlit(arguments)
    install("requirements.txt")
    return serve("streamlit", "run", "app.py", *streamlits)


def for_streamlit(arguments: list[str]) -> list[str]:
    """The arguments, with our own in Streamlit's words."""
    parser = argparse.ArgumentParser(
        usage="python3 run.py [--address ADDRESS] [Streamlit’s options]\n       python3 run.py test [pytest’s options]",
        description="Start the app, or test it; what that needs is set up first.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--address",
        help="of this machine, to answer at; 0.0.0.0 is all that it has. By default 127.0.0.1: no other machine can "
        "reach the app. At another address whoever can reach this machine can use the app: it asks for no password, "
        "and encrypts nothing",
    )
    ours, rest = parser.parse_known_args(arguments)
    return rest + ([f"--server.address={ours.address}"] if ours.address else [])


def install(requirements: str) -> None:
    """The packages of a file into .venv, unless this very file was installed there before."""
    wanted = (ROOT / "requirements.txt").read_text() + (ROOT / requirements).read_text()
    done = HOME / f"{requirements}.installed"
    if done.exists() and done.read_text() == wanted:
        return
    print(f"Setting up {HOME} from {requirements}: a few minutes, once.", flush=True)
    if not (BIN / "python").exists() and not (BIN / "python.exe").exists():
        venv.create(HOME, with_pip=True)
    # torch first: packages that need any torch at all then find the right one.
    torch = next(line for line in wanted.splitlines() if line.startswith("torch=="))
    for what in ([torch], ["-r", requirements]):
        subprocess.run([BIN / "python", "-m", "pip", "install", "--quiet", *what], check=True)
    done.write_text(wanted)


def install_browser() -> None:
    """A Chromium for the browser tests: the system's if there is one, Debian's package, else Playwright's own."""
    browser = any(map(shutil.which, BROWSERS))
    driver = subprocess.run([BIN / "python", "-m", "playwright", "--version"], capture_output=True)
    if browser and driver.returncode == 0:
        return
    print("Installing Chromium for the browser tests.", flush=True)
    if not install_debians_chromium():
        subprocess.run([BIN / "python", "-m", "playwright", "install", "chromium"], check=True)


def install_debians_chromium() -> bool:
    """Whether apt had one, and we were allowed to install it; and a library that Playwright's driver needs.

    The one without windows, where there is such a package: it needs a fifth less time for the same tests.
    """
    return any(install_from_debian("libatomic1", package) for package in BROWSERS[:2])


def install_from_debian(*packages: str) -> bool:
    """Whether there is apt, we are allowed to install with it, and it had these."""
    if not shutil.which("apt-get") or not (os.geteuid() == 0 or shutil.which("sudo")):
        return False
    apt = [*([] if os.geteuid() == 0 else ["sudo"]), "apt-get", "-y", "-qq"]
    unasked = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}

    def get(*step: str) -> bool:
        return subprocess.run([*apt, *step], stdout=subprocess.DEVNULL, env=unasked).returncode == 0

    return get("update") and get("install", "--no-install-recommends", *packages)


def install_script_checks() -> None:
    """What checks the browser scripts: Node, from Debian if need be, and the packages of package-lock.json.

    Without them the checks fail, and all other checks and tests are run nevertheless.
    """
    wanted, done = (ROOT / "package-lock.json").read_text(), ROOT / "node_modules" / ".installed"
    if shutil.which("node") and done.exists() and done.read_text() == wanted:
        return
    print("Setting up node_modules from package-lock.json, for the checks of the browser scripts.", flush=True)
    if not (shutil.which("node") and shutil.which("npm")):
        install_from_debian("nodejs", "npm")
    npm = shutil.which("npm")
    if not npm or subprocess.run([npm, "ci", "--no-audit", "--no-fund", "--loglevel=error"]).returncode:
        print("The checks of the browser scripts will FAIL: they need Node 18.18 or newer, npm, and its registry.")
        return
    done.write_text(wanted)


def test(arguments: list[str]) -> int:
    """All checks beside all tests; the first failure's exit code, after everything has run."""
    beside = ThreadPoolExecutor(1)  # one check at a time, as the tests need the machine too
    try:
        checks = [beside.submit(call, *check, whole=True) for check in CHECKS]
        # More workers than two processors have room for, as a test with a browser often waits for it.
        tests = call("pytest", "-n", "3", "--dist", "worksteal", *arguments)
        codes = [*(check.result() for check in checks), tests]
    finally:
        beside.shutdown(cancel_futures=True)
    return next((code for code in codes if code), 0)


def call(*command: str, whole: bool = False) -> int:
    """Run a tool of .venv, or Node; its exit code. What it says appears as it is said, or whole, at its end."""
    title = f"\n$ {' '.join(command)}"
    tool = shutil.which("node") if command[0] == "node" else BIN / command[0]
    if tool is None:
        print(f"{title}\nFAILED: there is no node.", flush=True)
        return 1
    if not whole:
        print(title, flush=True)
        return subprocess.run([tool, *command[1:]]).returncode
    done = subprocess.run([tool, *command[1:]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    # In one piece, so that nothing of what the tests say meanwhile stands within it.
    print(
        f"{title}\n{done.stdout}" + (f"FAILED with exit code {done.returncode}." if done.returncode else ""), flush=True
    )
    return done.returncode


def serve(*command: str) -> int:
    """Run a server of .venv until it ends; its exit code, or 0 if it was told to end, by Ctrl-C or SIGTERM."""
    server = subprocess.Popen([BIN / command[0], *command[1:]])
    told: list[int] = []

    def end(number: int, _: object) -> None:
        told.append(number)
        server.terminate()  # a terminal tells it as well as us, a service manager tells us alone
        last_resort = threading.Timer(PATIENCE, server.kill)
        last_resort.daemon = True
        last_resort.start()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    code = server.wait()
    return 0 if told else code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
