/* A chart: a figure that Plotly's script draws. The figure is in the header; no numbers follow it.

   Nothing is mounted anew when numbers change: what the reader has zoomed, or switched off in the legend, stays. User text
   has no tags: the server has escaped it. A chart that is out of view is drawn when the page has nothing else to do. */

import { isTouched, room, watch } from "./canvas.js"
import { clouded } from "./chart_clouds.js"
import { config, saveChart } from "./chart_files.js"
import { arranged } from "./chart_lines.js"
import { dressed } from "./chart_look.js"
import { called } from "./chart_points.js"
import { reading } from "./chart_reading.js"
import { inRows } from "./chart_rows.js"
import { bringAllBack, whole, withZoom } from "./chart_zoom.js"
import { dress } from "./paint.js"
import { idle, isHere, plotlyFor, styled } from "./plotly.js"

const TOOLS = 36 // the height of Plotly's buttons below a chart, in pixels at a root font of 16

/** @param {Picture<ChartHeader>} picture */
export default function ({ header, root, settling }) {
  const memory = root._memory ??= { hidden: new Set(), zoom: whole() }
  Object.assign(memory, { header })
  const plot = /** @type {PlotElement} */ (/** @type {HTMLElement} */ (root.querySelector(".plot")))
  plot.setAttribute("aria-label", `${header.about} Arrow keys read the values.`)

  /** Whether Plotly's buttons stand below the chart: for fingers, unless the page leaves them out. */
  const hasTools = () => isTouched && getComputedStyle(root).getPropertyValue("--tools").trim() !== "none"

  function draw() {
    const width = root.clientWidth
    if (!width || !isHere() || memory.header !== header) return
    const skin = dress(root), figure = dressed(header.figure, skin)
    const place = figure.layout.meta.kind === "rows" ? inRows : arranged, tools = hasTools() ? TOOLS * skin.rem : 0, space = room(root, plot)
    const placed = place(figure, width, skin, { ...space, high: space.high - tools }, memory.hidden), named = called(figure.data, placed, skin)
    const { data, layout } = clouded(named, withZoom(placed, plot, memory.zoom), memory.hidden)
    plot.hidden = !data.length // a picture of nothing
    plot.style.height = `${layout.height + tools}px`
    if (isTouched) layout.dragmode = false
    Plotly.react(plot, data, layout, config())
    if (!memory.isReady) begin()
  }

  function begin() {
    memory.isReady = true
    styled(plot)
    reading(plot, memory, root.querySelector(".say"))
    plot.on("plotly_restyle", () => { // the legend: names at the ends of lines follow
      const hidden = plot._fullData.filter(trace => trace.visible === "legendonly").map(trace => trace.name)
      if (String([...memory.hidden]) === String(hidden)) return
      memory.hidden = new Set(hidden)
      memory.draw()
    })
    plot.on("plotly_relayout", change => {
      const isWhole = Object.keys(change).some(name => name.endsWith(".autorange"))
      if (isWhole) bringAllBack(memory.zoom)
      if (isWhole || plot.layout.images?.length) memory.draw()
    })
    new IntersectionObserver(entries => {
      memory.isOut = !entries.at(-1)?.isIntersecting
      if (!memory.isOut && memory.isWaiting) memory.draw()
    }, { rootMargin: "25%" }).observe(root)
  }

  memory.draw = () => {
    memory.isWaiting = false
    draw()
  }
  root.savePicture = (name, words = { caption: header.about }) => saveChart(root, plot, name, { ...words, foot: header.foot })
  if (!isHere()) settling(plotlyFor(root).then(() => memory.draw()))
  return watch(root, () => {
    if (!memory.isOut) return memory.draw()
    if (memory.isWaiting) return
    memory.isWaiting = true
    settling(idle().then(() => { if (memory.isWaiting) memory.draw() }))
  }, () => { if (isTouched && memory.isReady) Plotly.Fx.unhover(plot) })
}
