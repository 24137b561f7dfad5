"""How numbers, tokens and sentences are written, and colours: the same way everywhere in the app."""
