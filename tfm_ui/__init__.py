"""tfm_ui: the app's pages and everything that they need. It uses tfm_core, which knows nothing of it."""

import os

# One thread for a matrix, in each thread of the server and in all of its processes: two become very slow when another
# process uses the processor, and the last digit depends on their number. Torch reads it when it is loaded, so whoever
# imports torch before this package must say it itself. `torch.set_num_threads` is no substitute: what computes first in
# a new thread is not bound by it.
os.environ["OMP_NUM_THREADS"] = "1"
