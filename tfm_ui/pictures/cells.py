"""The elements for assets/pictures/cells.js: a canvas, a tip for the cell being read, zoom buttons, and a text line."""

CELLS = """
  <canvas tabindex="0" role="application"></canvas>
  <div class="tip" hidden></div>
  <div class="foot">
    <span class="zoom" hidden>
      <button data-by="-1" aria-label="Zoom out">−</button>
      <button data-by="1" aria-label="Zoom in">+</button>
      <button data-by="0">Whole</button>
    </span>
    <span class="exact"></span> <span class="say" aria-live="polite"></span>
  </div>
"""
