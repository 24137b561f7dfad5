"""The measurements of this lens that the server keeps."""

from tfm_core.profiling.files import as_json, from_json
from tfm_ui.live.measurements import Measurements

measurements = Measurements("", as_json, from_json)
