"""Faults that are put in on purpose, one at a time: do the tests notice each of them?

    python3 run.py test --seeded [NAME...]

A fault is a patch in `faults`, a small slip that a user would meet. Each is put into a copy of the working tree; there
run the tests that are likely to notice it, then all others, tier by tier, until one fails.

To add a fault, make the slip, and write what `git diff` prints to `faults/<name>.patch`, after three lines on it:

    Fault: what is wrong then, in a sentence.
    Room: the folder, such as tfm_core/masks, or "attacks" for what strangers could do.
    Seen by: files of tests, or single tests, that are likely to notice it.
"""
