"""The pictures of the view "efficient", as functions of the link."""

from tfm_ui.pictures.registry import Picture

PICTURES: dict[str, Picture] = {}
