"""`python -m tests.record`: report what links show that differs from the record; with `--update`, write it anew.

The record is a file for each link of links.py and for each question of each lens, tests/record/links/<lens>/….json. It
holds what the link shows (content.py): facts, words, each panel's sentence, laws and table, what its recipe yields, and
each picture's header and numbers. Numbers have six digits; of long arrays there are statistics and a few values
(statistics.py), which are compared so that the last digits, others on another processor, are no difference.

A difference is intended, or it is a bug. If it is intended, write anew what was meant to change, look at the
difference of the files, and say in the commit why:

    python -m tests.record --update masks?masks_view=leaks "heads: All tokens"

Arguments are parts of links, or of a question's lens and name; without any, all links are visited. Files that do not
differ are left as they are. `--update` also removes the files of questions that are no more.
"""

import argparse
import sys
from collections.abc import Sequence

import torch

from tests.record.addresses import FOLDER, Link, recorded_links
from tests.record.content import content_of
from tests.record.files import changed, orphans, write

MOST_LINES = 12  # of a link's differences


def main(arguments: Sequence[str]) -> int:
    """Report, or update; the exit status: 1 if something differs and is not written anew."""
    parser = argparse.ArgumentParser(prog="python -m tests.record", description="What links show, beside the record.")
    parser.add_argument("parts", nargs="*", metavar="LINK", help="parts of links or of questions; by default all")
    parser.add_argument("--update", action="store_true", help="write anew what differs, and say which files")
    asked = parser.parse_args(arguments)
    links = [link for link in recorded_links() if not asked.parts or any(part in name_of(link) for part in asked.parts)]
    if not links:
        parser.error(f"expected parts of links, such as heads?seed=2; got {' '.join(asked.parts)}")
    differ = [link for link in links if _visit(link, update=asked.update)]
    without_link = orphans()
    for file in without_link:
        sys.stdout.write(f"{file}: {'removed' if asked.update else 'is of no link'}\n")
        if asked.update:
            (FOLDER / file).unlink()
    sys.stdout.write(f"{len(differ)} of {len(links)} links {'were written anew' if asked.update else 'differ'}.\n")
    return int(bool(differ or without_link) and not asked.update)


def name_of(link: Link) -> str:
    """What arguments are a part of."""
    return f"{link.address} {link.lens}: {link.question}" if link.question else link.address


def _visit(link: Link, *, update: bool) -> bool:
    """Report the differences of one link, and write them down if that is asked for; return whether there are any."""
    now = content_of(link)
    lines = changed(link, now)
    if not lines:
        return False
    more = [f"... and {len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else []
    sys.stdout.write("\n    ".join([str(link.file.relative_to(FOLDER)), *lines[:MOST_LINES], *more]) + "\n")
    if update:
        write(link, now)
    return True


if __name__ == "__main__":
    torch.set_num_threads(1)
    sys.exit(main(sys.argv[1:]))
