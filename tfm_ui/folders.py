"""The folder of the app's files that are no package: `app.py`, `pages`, `assets` and `.streamlit`.

A checkout has them at its root; a wheel carries them inside this package (pyproject.toml says how).
"""

from pathlib import Path

_INSTALLED = Path(__file__).with_name("app_files")
FOLDER = _INSTALLED if _INSTALLED.is_dir() else Path(__file__).parents[1]
ASSETS = FOLDER / "assets"
