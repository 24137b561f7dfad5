"""What a chart shows in the browser: its texts' boxes, and the numbers that Plotly draws."""

from typing import Any

from playwright.sync_api import Locator

# What is wrong with the texts of a chart: those that leave it, and those that lie over others. Boxes of texts are a
# little higher than their letters.
FAULTS = """plot => {
  const inside = plot.querySelector(".main-svg").getBoundingClientRect()
  const texts = [...plot.querySelectorAll(".xtick text, .ytick text, .legendtext, .annotation-text, .textpoint text")]
    .map(e => [e.textContent.trim(), e.getBoundingClientRect()]).filter(([text, box]) => text && box.width)
  const leaves = box => box.left < inside.left - 1 || box.right > inside.right + 1
    || box.top < inside.top - 3 || box.bottom > inside.bottom + 3
  const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 5
  return [
    ...texts.filter(([, box]) => leaves(box)).map(([text]) => `“${text}” is cut off`),
    ...texts.flatMap(([text, box], i) => texts.slice(i + 1).filter(([, other]) => meet(box, other))
      .map(([other]) => `“${text}” lies over “${other}”`)),
  ]
}"""


def faults(plot: Locator) -> list[str]:
    """The texts of a chart that are cut off or lie over each other."""
    return plot.evaluate(FAULTS)


def hover(plot: Locator, x: float, share: float = 0.5, axis: str = "") -> None:
    """Put the mouse at an x of one of the charts, by default half of the way up."""
    at = plot.evaluate(
        """(plot, [x, share, axis]) => {
            const box = plot.querySelector(".main-svg").getBoundingClientRect()
            const { [`xaxis${axis}`]: across, [`yaxis${axis}`]: up } = plot._fullLayout
            return { x: box.left + across._offset + across.d2p(x), y: box.top + up._offset + (1 - share) * up._length }
        }""",
        [x, share, axis],
    )
    plot.page.mouse.move(at["x"] - 2, at["y"])
    plot.page.mouse.move(at["x"], at["y"])


def tips(plot: Locator) -> list[str]:
    """What the hover says, a text for each line and each chart."""
    return [text.replace("\u200b", "") for text in plot.locator(".hoverlayer text").all_text_contents() if text]


def lines(plot: Locator) -> list[dict[str, Any]]:
    """Name, x axis, x and y of each line, from left to right and in the order in which they are drawn."""
    return plot.evaluate("""plot => plot._fullData.filter(({ type, meta }) => type === "scatter" && meta !== "gap")
        .map(({ name, xaxis, x, y }) => ({ name, xaxis, x: [...x ?? []], y: [...y ?? []] }))""")


def ranges(plot: Locator) -> dict[str, list[float]]:
    """What each axis shows now: its name -> its range, as powers of ten on a log axis."""
    return plot.evaluate("""({ _fullLayout: layout }) => Object.fromEntries(Object.keys(layout)
        .filter(key => /^[xy]axis/.test(key)).map(key => [key, [...layout[key].range]]))""")
