"""Two commands on a fresh machine with Python 3.11 or newer; each does its own set-up.

python3 run.py           start the app (more arguments go to `streamlit run app.py`)
python3 run.py test      every check and every test (more arguments go to pytest)
"""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent
HOME = ROOT / ".venv"
BIN = HOME / ("Scripts" if os.name == "nt" else "bin")
CHECKS = (
    ["ruff", "check", "."],
    ["ruff", "format", "--check", "."],
    ["mypy"],
    ["lint-imports", "--no-cache"],
)


def main(arguments: list[str]) -> int:
    """Set up what the command needs, then run it; its exit code."""
    if sys.version_info < (3, 11):
        print(f"Attention Lab needs Python 3.11 or newer; this is {sys.version.split()[0]}.")
        return 1
    os.chdir(ROOT)
    if arguments[:1] == ["test"]:
        install("requirements-dev.txt")
        install_browser()
        return test(arguments[1:])
    install("requirements.txt")
    return call("streamlit", "run", "app.py", *arguments)


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
    browser = any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
    driver = subprocess.run([BIN / "python", "-m", "playwright", "--version"], capture_output=True)
    if browser and driver.returncode == 0:
        return
    print("Installing Chromium for the browser tests.", flush=True)
    if not install_debians_chromium():
        subprocess.run([BIN / "python", "-m", "playwright", "install", "chromium"], check=True)


def install_debians_chromium() -> bool:
    """Whether apt had one, and we were allowed to install it; and a library that Playwright's driver needs."""
    if not shutil.which("apt-get") or not (os.geteuid() == 0 or shutil.which("sudo")):
        return False
    apt = [*([] if os.geteuid() == 0 else ["sudo"]), "apt-get", "-y", "-qq"]
    unasked = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    steps = (["update"], ["install", "--no-install-recommends", "chromium", "libatomic1"])
    return all(subprocess.run([*apt, *s], stdout=subprocess.DEVNULL, env=unasked).returncode == 0 for s in steps)


def test(arguments: list[str]) -> int:
    """All checks, then all tests; the first failure's exit code, after everything has run."""
    codes = [call(*check) for check in CHECKS]
    # Two at a time: a browser test waits half of its time. A file stays together, as its tests share a running app.
    codes.append(call("pytest", "-n", "2", "--dist", "loadfile", *arguments))
    return next((code for code in codes if code), 0)


def call(*command: str) -> int:
    """Run a tool of .venv; its exit code."""
    print(f"\n$ {' '.join(command)}", flush=True)
    try:
        return subprocess.run([BIN / command[0], *command[1:]]).returncode
    except KeyboardInterrupt:  # the usual way to stop the app
        return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
