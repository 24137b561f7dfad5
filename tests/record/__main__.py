"""`python -m tests.record`: tell what links show that differs from the record; with `--write`, record it anew.

The record holds, for each link in links.py: what its controls hold; each picture's header and numbers; each panel's
title, shape, how-to-read line, sentence, laws, tables, and what its recipe leaves behind. Numbers are kept as
statistics (statistics.py), which another processor's last digit leaves alone.

A difference is meant, or it is a fault. Where it is meant, record anew, and say in the commit what changed and why.
A panel, picture or variable that has another name needs no new record: write the names down in record.py.
Arguments are parts of links, by default all are visited: `python -m tests.record masks?masks_view=leaks --write`.
"""

import argparse
import logging
import sys

import torch

from tests.record.links import LINKS
from tests.record.page import visited
from tests.record.record import FILE, changed, read, write

if __name__ == "__main__":
    logging.disable(logging.WARNING)  # Streamlit warns that there is no browser
    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(prog="python -m tests.record", description="What links show, beside the record.")
    parser.add_argument("parts", nargs="*", help="parts of links; by default all")
    parser.add_argument("--write", action="store_true", help="record what they show now")
    asked = parser.parse_args()
    before = read() if FILE.exists() else {}
    record = {link: before[link] for link in LINKS if link in before}
    differ = 0
    for link in LINKS:
        if not asked.parts or any(part in link for part in asked.parts):
            now = visited(link)
            lines = list(changed(record[link], now)) if link in record else ["not recorded yet"]
            differ += bool(lines)
            if lines:
                sys.stdout.write("\n    ".join([link, *lines]) + "\n")
            record[link] = now
    if asked.write:
        write({link: record[link] for link in LINKS if link in record})
    sys.stdout.write(f"{differ} links differ from the record{', which is written anew' if asked.write else ''}.\n")
    sys.exit(bool(differ) and not asked.write)
