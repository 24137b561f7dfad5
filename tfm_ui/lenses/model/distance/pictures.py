"""The pictures of the view "distance", as functions of the link."""

from tfm_ui.pictures.registry import Picture

PICTURES: dict[str, Picture] = {}
