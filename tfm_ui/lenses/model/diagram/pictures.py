"""The pictures of the view "diagram", as functions of the link."""

from tfm_ui.pictures.registry import Picture

PICTURES: dict[str, Picture] = {}
