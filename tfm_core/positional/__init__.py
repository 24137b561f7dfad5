"""Positional encodings: `maths` has the equations of their papers, `schemes` the modules that a model is built with."""
