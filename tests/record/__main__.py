"""`python -m tests.record`: report what links show that differs from the record; with `--write`, record it anew.

The record holds, for each link in links.py: what its controls hold; each picture's header and numbers; each panel's
title, shape, how-to-read line, sentence, laws, tables, and the variables of its recipe. Numbers are kept as statistics
(statistics.py), which do not depend on the last digit, as that differs between processors.

A difference is intended, or it is a bug. If it is intended, record anew, and say in the commit what changed and why.
If a panel, picture or variable has got another name, enter both names in record.py instead of recording anew.
Arguments are parts of links; without arguments all links are visited, as in
`python -m tests.record masks?masks_view=leaks --write`.
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
