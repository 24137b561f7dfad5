/* Reading a chart by keys, and saying what is read, by keys or by pointer: the arrow keys go from one x to the next, or
   from row to row. What is said is of all charts that have the same x. */

import { isTouched } from "./canvas.js"
import { grouped, powered } from "./paint.js"

const AFTER_A_TAP = 100 // ms until the browser has sent all events of a tap

/** 0.1234, 12.34, 1,234, 2.3×10⁻⁵; with a true minus.
 * @param {number} value */
export function written(value) {
  const size = Math.abs(value), sign = value < 0 ? "−" : ""
  if (size >= 1000) return sign + grouped(size)
  return sign + (size === 0 || size >= 0.001 ? +size.toPrecision(4) : powered(size))
}

/** @typedef {{ which: string, at: number }} Place the number of an x axis, and an x or a row */

/** @param {PlotElement} plot @param {{ header: ChartHeader }} memory @param {HTMLElement} say the live region */
export function reading(plot, memory, say) {
  /** @type {Place | null} */
  let here = null
  const layout = () => memory.header.figure.layout, isRows = () => layout().meta.kind === "rows"

  /** @param {{ points: { x: number, y: number, xaxis: { _id: string } }[] }} event */
  const placeOf = ({ points: [{ x, y, xaxis }] }) => ({ which: xaxis._id.slice(1), at: isRows() ? y : x })

  /** @param {Place} place */
  function tell(place) {
    here = place
    say.textContent = isRows() ? saidOfRow(plot, place.at) : saidOfX(plot, layout(), place)
  }

  plot.on("plotly_hover", event => tell(placeOf(event)))
  // A tap: where dragging scrolls the page, Plotly takes back what it shows as soon as the finger has left.
  if (isTouched) plot.on("plotly_click", event => {
    const place = placeOf(event)
    setTimeout(() => {
      point(plot, place, isRows())
      tell(place)
    }, AFTER_A_TAP)
  })
  plot.on("plotly_unhover", () => { say.textContent = "" })

  plot.addEventListener("keydown", event => {
    const which = here?.which ?? "", all = stops(plot, which, isRows()), last = all.length - 1
    const now = here ? all.indexOf(here.at) : -1, [forwards, backwards] = isRows() ? ["ArrowDown", "ArrowUp"] : ["ArrowRight", "ArrowLeft"]
    const by = /** @type {ByKey<number>} */ ({ [forwards]: Math.min(now + 1, last), [backwards]: Math.max(now - 1, 0), Home: 0, End: last })
    const next = by[event.key]
    if (event.key === "Escape" && here) {
      here = null
      Plotly.Fx.unhover(plot)
      say.textContent = ""
    } else if (next !== undefined && all.length) {
      const place = { which, at: all[next] }
      point(plot, place, isRows())
      tell(place)
    } else return
    event.preventDefault()
    event.stopPropagation() // the page has keys of its own
  })
}

/** What can be read in the chart with these axes.
 * @param {PlotElement} plot @param {string} which */
const readable = (plot, which) => plot._fullData.filter(trace =>
  trace.visible === true && trace.hoverinfo !== "skip" && (trace.xaxis ?? "x") === `x${which}`)

/** The places that keys go to: every x with a value, or every row.
 * @param {PlotElement} plot @param {string} which @param {boolean} isRows */
function stops(plot, which, isRows) {
  const all = readable(plot, which).filter(trace => !isRows || trace.type === "bar").flatMap(trace => [...(isRows ? trace.y : trace.x)])
  return [...new Set(all)].sort((a, b) => a - b)
}

/** Show what the pointer would show.
 * @param {PlotElement} plot @param {Place} place @param {boolean} isRows */
function point(plot, { which, at }, isRows) {
  if (!isRows) return Plotly.Fx.hover(plot, { xval: at }, `x${which}y${which}`)
  const points = plot._fullData.flatMap((trace, curveNumber) => trace.type !== "bar" ? []
    : [...trace.y].flatMap((y, pointNumber) => y === at ? [{ curveNumber, pointNumber }] : []))
  Plotly.Fx.hover(plot, points)
}

/** @param {PlotElement} plot @param {any} layout @param {Place} place */
function saidOfX(plot, layout, { which, at }) {
  const { text } = layout[`xaxis${which}`].title, name = text.split(",")[0]
  const alike = Object.keys(layout).filter(key => key.startsWith("xaxis") && layout[key].title.text === text).map(key => key.slice(5))
  const charts = alike.flatMap(number => {
    const heading = layout[`yaxis${number}`].title.text
    const values = readable(plot, number).flatMap(trace => [...trace.x].flatMap((x, i) => x !== at ? []
      : trace.customdata ? [`${trace.name}: ${trace.customdata[i]}`]
      : Number.isFinite(trace.y[i]) ? [`${trace.name}: ${written(trace.y[i])}`] : []))
    return values.length ? [`${heading}: ${values.join(", ")}`] : []
  })
  return plain(`${charts.join("; ")} at ${name} = ${written(at)}`)
}

/** @param {PlotElement} plot @param {number} row */
const saidOfRow = (plot, row) => plain(readable(plot, "").filter(trace => trace.type === "bar")
  .flatMap(trace => [...trace.y].flatMap((y, i) => y === row ? [trace.customdata[i]] : [])).join("; "))

/** A text of Plotly without tags.
 * @param {string} text */
const plain = text => text.replaceAll("<br>", " ").replace(/<\/?b>/g, "").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&")
