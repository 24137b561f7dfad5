/* Measurements as lines; the exact values of all of them are read at one x, by pointer or arrow keys.

   payload, behind the header: float32, for each line of each chart its x and then its y, `count` of each.
   Charts whose x have the same name are read together. User text reaches the page through textContent and fillText. */

import { keep, save, stretch, watch } from "./canvas.js"
import { colourOf, dot } from "./lines_curves.js"
import { layOut, paint, written } from "./lines_drawing.js"
import { contextOf, dress, floats } from "./paint.js"

/** @param {Picture<LinesHeader>} picture */
export default function ({ header, numbers, root }) {
  const memory = root._memory ??= { at: null } // at: {x, axis}, what is read
  const values = floats(numbers)
  let used = 0
  /** @param {number} count */
  const take = count => values.subarray(used, used += count)
  const charts = header.charts.map(chart => /** @type {Chart} */ ({ // `layOut` adds where it goes
    ...chart, lines: chart.lines.map(line => ({ ...line, x: take(line.count), y: take(line.count) })),
  }))
  const canvas = root.querySelector("canvas"), context = contextOf(canvas)
  while (root.querySelectorAll(".tip").length < charts.length)
    root.append(Object.assign(document.createElement("div"), { className: "tip", hidden: true }))
  const tips = [...root.querySelectorAll(".tip")]
  /** @type {Skin} */
  let skin
  /** @type {(() => void) | undefined} */
  let bare

  function draw() {
    const width = root.clientWidth
    if (!width) return // the picture is being removed from the page
    skin = dress(root, header.skin)
    stretch(canvas, width, layOut(context, charts, width, skin), skin.paper)
    for (const chart of charts) paint(context, chart, skin)
    bare = keep(canvas)
    look(memory.at)
  }

  /** Read one x of all charts that have it, or none.
   * @param {{ x: number, axis: string } | null} at */
  function look(at) {
    memory.at = at
    if (!bare) return // not drawn yet
    bare()
    tips.forEach(tip => tip.hidden = true)
    const said = at ? charts.map((chart, i) => chart.x === at.axis && indexOf(chart.stops, at.x) >= 0 ? mark(chart, tips[i], at.x) : "") : []
    root.querySelector(".say").textContent = said.filter(Boolean).join("; ")
  }

  /** @param {Chart} chart @param {HTMLElement} tip @param {number} x */
  function mark(chart, tip, x) {
    const [across] = chart.at(x, 1), rows = []
    context.strokeStyle = skin.ink
    context.lineWidth = 1
    context.strokeRect(across, chart.top, 0, chart.height)
    for (const line of chart.lines) {
      const here = line.y.filter((_, i) => line.x[i] === x)
      if (!here.length || !line.name) continue // without a name it is there to be seen
      context.fillStyle = context.strokeStyle = colourOf(skin, line)
      here.forEach(y => dot(context, chart.at(x, y), line.style === "dots", skin.rem * 1.5))
      const least = Math.min(...here), most = Math.max(...here)
      const said = Number.isFinite(least) ? `${written(least)}${least === most ? "" : ` to ${written(most)}`}` : header.gap
      rows.push(`${line.name}: ${said}`)
    }
    tip.textContent = [`${chart.x.split(",")[0]} = ${written(x)}`, ...rows].join("\n")
    tip.hidden = false
    const right = across + 10, fits = right + tip.offsetWidth <= chart.left + chart.width
    tip.style.left = Math.max(0, fits || across - 10 - tip.offsetWidth < chart.x0 ? right : across - 10 - tip.offsetWidth) + "px"
    tip.style.top = Math.max(0, chart.top + chart.height - tip.offsetHeight - 6) + "px"
    return `${chart.y}: ${rows.join(", ")} at ${chart.x.split(",")[0]} = ${written(x)}`
  }

  /** The x with a value that is nearest to the pointer.
   * @param {MouseEvent} event */
  function under(event) {
    const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top
    const chart = charts.find(c => x >= c.x0 && x <= c.x0 + c.each && y >= c.y0 && y <= c.top + c.height + 42 * skin.rem)
    if (!chart?.stops.length) return null
    /** @param {number} stop */
    const far = stop => Math.abs(chart.at(stop, 1)[0] - x)
    return { axis: chart.x, x: chart.stops.reduce((a, b) => far(b) < far(a) ? b : a) }
  }

  /** Where a number stands among rising ones; -1 if it does not.
   * @param {Float32Array} rising @param {number} number */
  function indexOf(rising, number) {
    let low = 0, high = rising.length - 1
    while (low <= high) {
      const middle = (low + high) >> 1
      if (rising[middle] === number) return middle
      if (rising[middle] < number) low = middle + 1
      else high = middle - 1
    }
    return -1
  }

  canvas.onpointermove = canvas.onpointerdown = event => {
    const at = under(event)
    if (at?.x !== memory.at?.x || at?.axis !== memory.at?.axis) look(at)
  }
  canvas.onpointerleave = event => event.pointerType === "mouse" && look(null)
  canvas.onkeydown = event => {
    const { key } = event, chart = charts.find(c => c.x === memory.at?.axis) ?? charts[0], { stops } = chart
    const now = indexOf(stops, memory.at?.x), last = stops.length - 1
    const next = /** @type {ByKey<number>} */ ({ ArrowRight: Math.min(now + 1, last), ArrowLeft: Math.max(now - 1, 0), Home: 0, End: last })[key]
    if (key === "Escape" && memory.at) look(null)
    else if (next !== undefined && stops.length) look({ axis: chart.x, x: stops[next] })
    else return
    event.preventDefault()
    event.stopPropagation() // the page has keys of its own
  }
  canvas.setAttribute("aria-label", `${header.about} Arrow keys read the values.`)
  Object.assign(memory, { header, charts })

  root.savePicture = name => { look(null); save(canvas, name, header.foot, skin) }
  return watch(root, draw)
}
