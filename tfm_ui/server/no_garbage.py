"""Imported before all else when a process starts: until `start.preload` is done, nobody looks for garbage.

What an import makes is not garbage, and looking for some would take a fourth of the time that all imports take.
"""

import gc

gc.disable()
