"""Panels as data, the registry of pictures, and the canvases that several lenses draw on."""
