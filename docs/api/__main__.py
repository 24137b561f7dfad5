"""Write the pages of the API: `python -m docs.api`, into build/api or another folder."""

import argparse
from pathlib import Path

parser = argparse.ArgumentParser(prog="python -m docs.api", description=__doc__)
parser.add_argument("folder", nargs="?", type=Path, default=Path("build/api"), help="where to; build/api by default")
folder = parser.parse_args().folder

from docs.api.page import write  # noqa: E402 - who asks for help does not wait for torch

write(folder)
