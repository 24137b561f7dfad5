/* Maps that share rows and columns, read together: a hover lights the same cell in all of them, a click locks it. They may
   be a part of a larger table, whose cells the server has pooled: then each has a range of rows and of columns.

   payload, behind the header: float32 [map][row][column]; NaN where a value may not be, infinity where there is no cell.
   Behind a first map of ticks and the others there may be one table more, which says why its cells are hidden.
   User text reaches the page through textContent and fillText alone. */

import { stretch } from "./canvas.js"
import { browse } from "./cells.js"
import { brushOf } from "./maps_brush.js"
import { lightUp, paintMaps } from "./maps_drawing.js"
import { NUMBERED, box, coloursOf, inDigits, largestOf, layOut, rawAt, valueAt } from "./maps_layout.js"
import { whyOf } from "./maps_ticks.js"
import { gridOf, range } from "./maps_window.js"
import { partsOf } from "./elements.js"
import { contextOf, dress, floats, grouped, palette } from "./paint.js"
import { slide } from "./slider.js"

/** @param {Picture<MapsHeader>} picture */
export default function ({ header, numbers, root, alone, late, preview, commit, retract }) {
  const $ = partsOf(root)
  const memory = root._memory ??= {} // what outlives an update
  const values = floats(numbers)
  const Q = header.rows.names.length, K = header.columns.names.length
  Object.assign(memory, { values, header })
  const canvas = root.querySelector("canvas"), context = contextOf(canvas)
  const kinds = { masked: false, absent: false }
  for (const value of values) { kinds.masked ||= isNaN(value); kinds.absent ||= value === Infinity }
  const legend = kinds.masked || kinds.absent || header.crosses.length || header.maps[0].ticks
  const brush = brushOf({ header, values, memory, root, alone, late, preview, commit })
  const grid = gridOf(header, memory, { alone, late, preview, commit, retract }, root)
  const blocks = header.part?.block ?? [1, 1]
  const many = Math.max(...(header.part ? [header.part.height, header.part.width] : [Q, K])) > NUMBERED * 2
  /** @type {MapsScene} */
  let scene
  /** @type {MapsLayout} */
  let layout

  /** @param {Room} room */
  function paint(room) {
    const skin = dress(root)
    layout = memory.layout = layOut(context, header, legend, memory.view, root.clientWidth, skin, room)
    root.toggleAttribute("data-stacked", layout.stacked) // for words that say left and right
    const tables = header.maps.map(map => palette(coloursOf(map, skin)))
    scene = { context, header, values, kinds, view: memory.view, skin, tables, layout }
    stretch(canvas, layout.width, layout.height, skin.paper)
    paintMaps(scene)
  }

  /** @param {CellAt} at */
  function read({ q, k }) {
    const crossed = new Set(header.crosses.filter(([, row, column]) => row === q && column === k).map(([i]) => i))
    const pooled = Math.max(...blocks) > 1 ? ", furthest from 0" : ""
    const said = header.maps.map((map, i) => {
      const which = isFinite(valueAt(scene, i, q, k)) && !map.ticks ? pooled : ""
      const text = map.ticks ? whyOf(scene, q, k, pooled) : valueOf(map, i, q, k)
      return `${map.name}${which}: ${text}${crossed.has(i) ? ` ✕ ${header.crossed}` : ""}`
    })
    const { rows, columns } = header, counted = rows.counted && columns.counted
    return `${called(0, rows, q)}${counted ? ", " : " → "}${called(1, columns, k)}\n${said.join("\n")}`
  }

  /** The value of a cell, also of one that a first map of ticks hides.
   * @param {MapScale} map @param {number} i @param {number} q @param {number} k */
  function valueOf(map, i, q, k) {
    const value = valueAt(scene, i, q, k), raw = rawAt(scene, i, q, k)
    if (value === Infinity) return header.absent
    if (!isNaN(value)) return inDigits(value, map, 4)
    if (raw) return `${inDigits(raw, map, 4)}, ${header.blank}`
    return header.blank === "masked" ? "masked, 0" : header.blank
  }

  /** @param {unknown} number */
  const numbered = number => Number(number) >= 1000 ? grouped(Number(number)) : `${number}`
  /** A row or column in words: “query 3 “sat””, “position 16–31”.
   * @param {number} side @param {MapAxis} axis @param {number} at */
  function called(side, axis, at) {
    const { part } = header
    if (part && blocks[side] > 1) {
      const [first, count] = side ? [part.left, part.columns] : [part.top, part.rows]
      return `${axis.noun} ${range(part.first + first, count, blocks[side], at)}`
    }
    if (axis.counted) return `${axis.noun} ${numbered(axis.names[at])}`
    const place = header.places[side][at]
    return `${axis.noun} ${typeof place === "number" ? `${numbered(place)} ` : ""}“${axis.names[at]}”`
  }

  /** The cell under the pointer; of cells smaller than a pixel, the largest of those drawn there.
   * @param {MouseEvent} event */
  function under(event) {
    const edges = canvas.getBoundingClientRect(), { cw, ch, origins, block: [down, over] } = layout
    const { left, top, columns, rows } = memory.view
    for (let i = 0; i < origins.length; i++) {
      const k = Math.floor((event.clientX - edges.left - origins[i].x) / (cw * over)) * over
      const q = Math.floor((event.clientY - edges.top - origins[i].y) / (ch * down)) * down
      if (k >= 0 && q >= 0 && k < columns && q < rows) return { ...largestOf(scene, i, top + q, left + k), i }
    }
    return null
  }

  /** @param {string} part @param {string} how */
  function exact(part, how) {
    const [down, over] = layout.block.map((cells, side) => cells * blocks[side])
    const which = header.part ? "value furthest from 0" : "largest"
    if (down > 1 || over > 1) return `${part}pooled: the ${which} of ${down} × ${over} cells; ${how}`
    return many ? `${part}one cell per number, ${how}` : header.part ? `${part}one cell per number` : ""
  }

  /** @param {CellAt} at */
  const place = at => /** @type {Box} */ (box(scene, at.i ?? 0, at.q, at.k)) // i is the map that it is read in
  /** @param {CellAt} at */
  function light(at) {
    lightUp(scene, at)
    return place(at)
  }

  /** @param {CellAt} at */
  function lock(at) {
    if (header.asks) commit({ [header.asks[0]]: header.places[0][at.q], [header.asks[1]]: header.places[1][at.k] })
  }

  const empty = kinds.masked && header.blank !== "masked" ? ` Grey cells are ${header.blank}.` : ""
  const keys = `Arrow keys read the cells${header.asks ? ", Enter locks one" : ""}${brush ? ", Space paints one" : ""}.`
  canvas.setAttribute("aria-label", `${header.about}${empty} ${keys}`)

  /* A weight that is dragged: the picture follows at once, the page when it is let go. */
  function edit() {
    const { slider } = header, label = $(".edit"), input = $("input"), output = $("output")
    label.hidden = !slider || Boolean(alone) // a page of its own has no server to ask
    if (!slider) return
    $(".edit span").textContent = slider.label
    const value = () => ({ [slider.parameter]: `${slider.before}${+input.value}${slider.after}` })
    const say = () => { output.textContent = (+input.value).toFixed(2) }
    slide(input, memory, { value: slider.value, late }, {
      move: () => { say(); preview(value()) },
      rest: () => commit(value()),
      back: retract,
    })
    say()
    input.onkeydown = event => event.stopPropagation()
  }
  edit()

  const names = header.part ? [header.rows, header.columns].map(axis => axis.noun.replace(/( \w)?$/, "s$1")) : ["rows", "columns"]
  return browse(root, memory, { Q, K, many, called: names, grid, brush, paint, under, box: place, light, read, exact, lock })
}
