"""The views of the Positions lens, one file each."""
