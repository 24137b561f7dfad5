"""How numbers, names and sentences are written, the same way everywhere."""
