"""What worker processes share. The process from which they are forked imports this module once, and nothing else does.

Forked processes share memory until it is written to, and need no imports: so all lenses are imported here, and the
default model has had its first pass, which takes longest.
"""

import gc

from tfm_ui.lenses import lenses
from tfm_ui.server import start

lenses()
start.preload()
gc.collect()
gc.freeze()  # otherwise the collector of each worker would write to all of the shared memory
