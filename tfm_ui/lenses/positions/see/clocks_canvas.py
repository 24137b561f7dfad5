"""Pairs of dimensions as clocks with two hands, and sliders that move them along the positions."""

from tfm_ui.lenses.positions.see.clocks_figure import clocks_figure
from tfm_ui.pictures.canvas import Canvas

CLOCKS = Canvas(
    "lenses/positions/clocks",
    """
<div class="clocks" data-picture>
  <div class="drive">
    <label class="query"><span></span><input type="range" min="0"></label>
    <label class="key"><span></span><input type="range" min="0"></label>
    <button class="together" aria-pressed="false">Move both</button>
    <button class="play">Play</button>
    <span class="apart"></span>
  </div>
  <canvas tabindex="0" role="application"></canvas>
  <div class="tip" hidden></div>
  <span class="say" aria-live="polite"></span>
</div>
""",
    clocks_figure,
)
