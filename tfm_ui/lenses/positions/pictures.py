"""What the browser draws of the Positions lens, each a function of the model's state and the lens's."""

from collections.abc import Callable

from tfm_ui.lenses.positions import sliders as knobs
from tfm_ui.lenses.positions.beyond import pictures as beyond
from tfm_ui.lenses.positions.fault import pictures as fault
from tfm_ui.lenses.positions.in_model import pictures as in_model
from tfm_ui.lenses.positions.in_model.entry_canvas import ENTRY
from tfm_ui.lenses.positions.see import clocks_pictures as clocks
from tfm_ui.lenses.positions.see import pictures as see
from tfm_ui.lenses.positions.see.clocks_canvas import CLOCKS
from tfm_ui.lenses.positions.why import pictures as why
from tfm_ui.pictures.canvas import Canvas, Content
from tfm_ui.pictures.knobs import KNOBS
from tfm_ui.pictures.lines import LINES
from tfm_ui.pictures.maps import MAPS

# name -> how it is drawn, and what from
POSITIONS: dict[str, tuple[Canvas, Callable[..., Content]]] = {
    "positions_knobs": (KNOBS, knobs.positions_knobs),
    "positions_encode_a": (MAPS, see.encode_a),
    "positions_encode_b": (MAPS, see.encode_b),
    "positions_bias_a": (MAPS, see.bias_a),
    "positions_bias_b": (MAPS, see.bias_b),
    "positions_distance_a": (LINES, see.distance_a),
    "positions_distance_b": (LINES, see.distance_b),
    "positions_curves_a": (LINES, see.curves_a),
    "positions_curves_b": (LINES, see.curves_b),
    "positions_curves": (LINES, see.curves),
    "positions_wavelengths": (LINES, see.wavelengths),
    "positions_clocks_a": (CLOCKS, clocks.turning_a),
    "positions_clocks_b": (CLOCKS, clocks.turning_b),
    "positions_pairs": (MAPS, why.pairs),
    "positions_distances": (LINES, why.distances),
    "positions_shift_matrix": (MAPS, why.shift_matrix),
    "positions_shift_errors": (LINES, why.shift_errors),
    "positions_turned": (LINES, why.turned),
    "positions_unique": (LINES, why.unique),
    "positions_beyond": (LINES, beyond.vectors),
    "positions_beyond_scores": (LINES, beyond.by_distance),
    "positions_beyond_turns": (LINES, beyond.wavelengths),
    "positions_maps": (MAPS, in_model.positions_maps),
    "positions_distance": (LINES, in_model.positions_distance),
    "positions_shuffled": (MAPS, in_model.positions_shuffled),
    "positions_entry": (ENTRY, in_model.positions_entry),
    "positions_fault_added": (MAPS, fault.positions_fault_added),
    "positions_fault_maps": (MAPS, fault.positions_fault_maps),
}
