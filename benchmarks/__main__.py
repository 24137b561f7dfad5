"""`python -m benchmarks [name ...]`: run the named benchmarks, by default all of them."""

import signal
import sys
from importlib import import_module
from pathlib import Path

NAMES = sorted(
    path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in ("__init__", "__main__", "measure")
)

if __name__ == "__main__":
    wanted = sys.argv[1:] or NAMES
    if unknown := set(wanted) - set(NAMES):
        sys.exit(f"expected some of {', '.join(NAMES)}; got {', '.join(sorted(unknown))}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended
    for name in wanted:
        import_module(f"benchmarks.{name}").main()
