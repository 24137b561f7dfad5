"""The locks: each package that an installation has is pinned with hashes, and what is locked is what was tested."""

import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from locks import licences
from locks.__main__ import FOLDER, LOCKS, TORCH, pins, wanted

ROOT = Path(__file__).parents[1]
TEXTS = {lock: (FOLDER / f"{lock}.txt").read_text("utf-8") for lock in LOCKS}
ENTRY = re.compile(r"^(?P<pin>[a-z0-9.-]+==[^ \\]+(?: ; [^\\]+)?)(?P<hashes>(?: \\\n    --hash=sha256:[0-9a-f]{64})+)$")
# An installation of the app: with torch's build of the index, or with a build that somebody brings, which has no hash.
COMBINED = {"app and torch": ("app", "torch"), "app": ("app",), "app and transformers": ("app", "transformers")}


def entries(text: str) -> list[str]:
    """The entries of a lock, each with its lines joined as they stand, without comments."""
    return re.split(r"\n(?=\S)", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).strip())


def locked(*texts: str) -> dict[str, Requirement]:
    """Name -> the pin that counts for this system and this Python, of all these locks.

    Raises:
        ValueError: if a line is no pin with hashes, or two locks differ.
    """
    by_name: dict[str, Requirement] = {}
    for entry in (entry for text in texts for entry in entries(text)):
        match = ENTRY.match(entry)
        if not match:
            raise ValueError(f"expected a pin with hashes, got {entry!r}")
        pin = Requirement(match["pin"])
        if pin.marker and not pin.marker.evaluate():
            continue
        if by_name.setdefault(pin.name, pin).specifier != pin.specifier:
            raise ValueError(f"expected the same version in each lock, got {pin} and {by_name[pin.name]}")
    return by_name


def lacking(requirements: list[Requirement], by_name: dict[str, Requirement]) -> list[str]:
    """What is required, directly or by what is installed here, and not locked in a version that fits."""
    lacks, to_ask, asked = [], list(requirements), set[str]()
    while to_ask:
        requirement = to_ask.pop()
        name, extras = canonicalize_name(requirement.name), sorted(requirement.extras) or [""]
        if requirement.marker and not any(requirement.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            continue
        pin = by_name.get(name)
        if not pin or not requirement.specifier.contains(next(iter(pin.specifier)).version, prereleases=True):
            lacks.append(f"{requirement}, got {pin}")
        for extra in extras:
            if f"{name}[{extra}]" not in asked:
                asked.add(f"{name}[{extra}]")
                needed = map(Requirement, distribution(name).requires or ())
                to_ask += [each for each in needed if not each.marker or each.marker.evaluate({"extra": extra})]
    return lacks


def required(lock: str) -> list[Requirement]:
    lines = (line.partition(" #")[0].strip() for line in wanted(lock).splitlines())
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize("lock", LOCKS)
def test_each_line_is_a_pin_with_hashes_and_names_no_index(lock):
    assert locked(TEXTS[lock])
    assert "://" not in TEXTS[lock]
    assert not re.search(r"^\s*-(?!-hash=)", TEXTS[lock], re.MULTILINE)


@pytest.mark.parametrize("chosen", COMBINED)
def test_whatever_an_installation_needs_is_locked_in_a_version_that_fits(chosen):
    brought = not chosen.endswith("torch")  # a build without CUDA, whose own requirements the lock of the app has
    by_name = locked(*(TEXTS[lock] for lock in COMBINED[chosen]))
    roots = [each for lock in COMBINED[chosen] for each in required(lock)]
    lacks = lacking(roots, by_name)
    assert [each for each in lacks if not (brought and each.startswith("torch=="))] == []


def test_the_tool_for_lists_of_parts_is_locked_whole():
    assert lacking(required("sbom"), locked(TEXTS["sbom"])) == []


def test_what_is_required_is_locked_as_it_is_required():
    for lock in LOCKS:
        asked = {each.name: each.specifier for each in required(lock) if not each.marker or each.marker.evaluate()}
        pinned = locked(TEXTS[lock], TEXTS["torch"])
        assert asked
        assert {name: pinned[name].specifier for name in asked} == asked


def test_the_tests_run_with_the_versions_that_are_locked():
    pinned = {name: next(iter(pin.specifier)).version for name, pin in locked(*TEXTS.values()).items()}
    different = {}
    for name, version in pinned.items():
        try:
            installed = distribution(name).version.partition("+")[0]  # torch's build without CUDA is "2.13.0+cpu"
        except PackageNotFoundError:
            assert TORCH.match(f"{name}=="), f"{name} is locked, and not installed"
            continue
        if installed != version:
            different[name] = (version, installed)
    assert different == {}


def test_only_the_lock_of_torch_has_torch_and_cuda():
    assert [pin for pin in pins(TEXTS["torch"]) if pin.startswith("torch==")]
    assert [pin for pin in pins(TEXTS["torch"]) if pin.startswith("nvidia-")]
    assert [pin for lock, text in TEXTS.items() if lock != "torch" for pin in pins(text) if TORCH.match(pin)] == []


def test_the_builds_of_torch_without_cuda_are_of_the_version_that_is_required():
    [entry] = entries((FOLDER / "torch-cpu.txt").read_text("utf-8"))
    match = ENTRY.match(entry)
    assert match
    [version] = [next(iter(each.specifier)).version for each in required("torch")]
    assert match["pin"] == f"torch=={version}+cpu"
    hashes = re.findall(r"\w{64}", match["hashes"])
    assert len(set(hashes)) == len(hashes) == 8  # two processors, four Pythons
    assert not set(hashes) & set(re.findall(r"\w{64}", TEXTS["torch"]))  # these are the index's, with CUDA


def test_a_lock_that_is_not_current_is_noticed():
    text = TEXTS["app"]
    by_name, roots = locked(text, TEXTS["torch"]), required("app")
    assert lacking(roots, by_name) == []
    assert lacking(roots, {name: pin for name, pin in by_name.items() if name != "starlette"})
    assert lacking([*roots, Requirement("numpy>=99")], by_name)
    assert lacking(roots, by_name | {"starlette": Requirement("starlette==0.1")})
    with pytest.raises(ValueError, match="expected a pin with hashes"):
        locked("attrs==1.0\n")
    with pytest.raises(ValueError, match="expected a pin with hashes"):
        locked("attrs>=1.0 \\\n    --hash=sha256:" + "0" * 64)
    with pytest.raises(ValueError, match="the same version"):
        locked(text, re.sub(r"^numpy==\S+", "numpy==1.0", text, flags=re.MULTILINE))


def test_the_licences_are_those_that_the_packages_state():
    _, _, rest = licences.DOCUMENT.read_text("utf-8").partition(licences.BEGIN)
    written, _, _ = rest.partition(licences.END)
    assert written == licences.table(), "`python -m locks` writes the table anew"
    assert "UNKNOWN" not in written
    rows = {canonicalize_name(name) for name in re.findall(r"^\| ([\w.-]+) \|", written, re.MULTILINE)} - {"name"}
    by_hand = licences.names_by_hand()
    assert rows | by_hand == licences.locked_names()
    assert not rows & by_hand
