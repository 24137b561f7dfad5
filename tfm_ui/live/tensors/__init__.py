"""Tensors to take along: what a view computes with, by name and shape, as files and as a page of plain torch."""
