"""What the browser draws of the Positions lens, each a function of the model's state and the lens's."""

from collections.abc import Callable

from tfm_ui.components.canvas import Canvas, Content
from tfm_ui.components.clocks import CLOCKS
from tfm_ui.components.entry import ENTRY
from tfm_ui.components.knobs import KNOBS
from tfm_ui.components.lines import LINES
from tfm_ui.components.maps import MAPS
from tfm_ui.position_pictures import beyond, clocks, fault, in_model, knobs, see, why

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
