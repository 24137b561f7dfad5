/* One head's matrices: a step with its operands, or all of them. A click on a cell tells the page which number is meant;
   its derivation comes from the server with the picture.

   payload, behind the header: float32, the matrices one after another; -Infinity where masked.
   User text reaches the page through textContent and fillText alone. */

import { placeTip, room, stretch, watch } from "../../pictures/canvas.js"
import { make, partsOf } from "../../pictures/elements.js"
import { save } from "../../pictures/files.js"
import { exact, light, nameAs, paint, poster, short } from "./matrices_drawing.js"
import { acrossOf, layOutStep, layOutWhole, reachOf } from "./matrices_layout.js"
import { centre, walk } from "./matrices_walk.js"
import { clamp, contextOf, dress, floats, palette } from "../../pictures/paint.js"
import { outlineBox } from "../../pictures/pen.js"

const BEAT = 300 // ms that a new matrix takes to appear
const NAME = 136 // px: as wide as a matrix's name and shape are in most steps (figcaption in matrices.css)

/** @param {Picture<MatricesHeader>} picture */
export default function ({ header, numbers: bytes, root, late, preview, commit, retract, alone }) {
  const $ = partsOf(root)
  const memory = root._memory ??= { at: {}, step: null, playing: false }
  const numbers = floats(bytes)
  const { prefix, steps, step, whole, scene, matrices, starts } = header
  /** @param {string} name */
  const of = name => numbers.subarray(matrices[name].begin, matrices[name].begin + matrices[name].rows * matrices[name].columns)
  /** @param {Values} changes */
  const tell = changes => commit(Object.fromEntries(Object.entries(changes).map(([name, value]) => [prefix + name, value])))
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches
  Object.assign(memory, { header, numbers, of })

  /** @param {string} axis @param {number} i */
  const label = (axis, i) => axis === "query" ? header.queries[i] : axis === "key" ? header.keys[i] : `${i + 1 + starts[axis]}`
  /** @param {string} axis @param {number} i */
  const names = (axis, i) => short(label(axis, i))

  $(".bar").hidden = Boolean(alone) // a saved file has no server to ask for another step
  root.classList.toggle("alone", Boolean(alone)) // and its derivation never changes: it need not stay in sight
  const stop = walk({ root, header, memory, late, tell, preview, retract })

  // the scene: a figure per matrix; kept while its matrices stay the same
  const stage = $(".scene"), told = JSON.stringify([scene, whole])
  if (memory.told !== told) {
    memory.told = told
    stage.className = whole ? "scene whole" : "scene"
    $(".body").classList.toggle("whole", whole)
    stage.replaceChildren(...scene.map(name => name in matrices ? figure(name) : sign(name)))
  }
  /** @param {string} text */
  function sign(text) { return make("span", { className: "sign", textContent: text }) }
  /** @param {string} name */
  function figure(name) {
    const colours = make("div", { className: "colours" }, make("span"), make("i"), make("span"))
    const box = make("figure", {}, make("figcaption", {}, make("b"), make("small"), make("span")), make("canvas"), colours)
    box.dataset.name = name
    return box
  }
  const figures = [...stage.querySelectorAll("figure")]
  /** @param {HTMLElement} box */
  const nameOf = box => box.dataset.name ?? ""

  /** @type {Skin} */
  let skin
  /** @type {Record<"weights" | "signed", string[]>} */
  let tables
  function draw() {
    if (!root.clientWidth) return // the picture is being removed from the page
    skin = dress(root)
    tables = { weights: palette(skin.weights), signed: palette(skin.signed) }
    const { rem, family } = skin, { high, fill } = room(root, root), isLimited = high < Infinity
    root.classList.toggle("narrow", root.clientWidth < (isLimited ? 640 : 900) * rem)
    root.classList.toggle("hall", isLimited && fill && !root.classList.contains("narrow"))
    root.classList.toggle("limited", isLimited)
    root.classList.toggle("roomy", whole && !isLimited && root.clientWidth > 1300 * rem)
    const shown = figures.map(box => matrices[nameOf(box)]), pen = contextOf(figures[0].querySelector("canvas"))
    figures.forEach((box, i) => dressFigure(box, shown[i]))
    pen.font = `${13 * rem}px ${family}`
    const reach = reachOf(pen, { query: header.queries.map(short), key: header.keys.map(short) }, rem)
    const isBeside = whole && !root.classList.contains("narrow") || root.classList.contains("hall"), space = room(root, isBeside ? $(".body") : stage)
    const others = Math.max(...figures.map(box => box.offsetHeight - box.querySelector("canvas").offsetHeight)) + 2
    stage.style.gridTemplateColumns = ""
    const width = !whole ? stage.clientWidth : isLimited ? stage.clientWidth : figures[0].clientWidth - 18
    const place = { rem, family, ...reach, space, width }
    const across = acrossOf(shown, place, others)
    if (whole && isLimited) stage.style.gridTemplateColumns = `repeat(${across}, minmax(0, 1fr))`
    const signs = 14 * (scene.length - 1) + [...stage.querySelectorAll(".sign")].reduce((sum, sign) => sum + sign.offsetWidth, 0)
    const layouts = whole ? shown.map(matrix => layOutWhole(matrix, place, shown.length, across, others)) : layOutStep(shown, place, signs, others)
    // A matrix has room for its name, as long as all still stand side by side.
    const widths = layouts.map(layout => Math.max(layout.width, NAME * rem))
    const isRoomy = widths.reduce((sum, each) => sum + each + 10, signs) <= width
    memory.layouts = Object.fromEntries(shown.map(({ name }, i) => [name, layouts[i]]))
    figures.forEach((box, i) => {
      const canvas = box.querySelector("canvas"), { width, height } = layouts[i]
      box.style.width = whole ? "" : (isRoomy ? widths[i] : width) + "px"
      canvas.style.width = width + "px"
      stretch(canvas, width, height, skin.paper)
      const name = box.querySelector("b")
      if (name.scrollWidth > name.clientWidth) nameAs(name, shown[i].name) // beside eleven others, in a narrow window
      drawn(box)
    })
    const { clientWidth } = $(".chips") // whoever has scrolled there finds it as it was, unless its width is another one
    if (memory.chips !== clientWidth) centre($(".chips"))
    memory.chips = clientWidth
    for (const span of root.querySelectorAll(".lines span")) span.style.color = /** @type {any} */ (skin)[span.className] ?? ""
  }

  /** @param {HTMLElement} box @param {Matrix} matrix */
  function dressFigure(box, matrix) {
    const [name, shape, what] = box.querySelectorAll("figcaption > *")
    nameAs(name, `${matrix.symbol} ${matrix.name}`)
    name.style.color = matrix.role ? skin[matrix.role] : ""
    const isShort = whole && root.classList.contains("limited") // of “T × d = 10 × 8” the numbers, of “−2 2” one of them
    nameAs(shape, isShort ? matrix.shape.split(" = ").at(-1) ?? "" : matrix.shape)
    what.textContent = matrix.what
    what.hidden = !root.classList.contains("roomy")
    box.classList.toggle("focus", whole && matrix.name === step)
    const [low, bar, high] = box.querySelectorAll(".colours > *")
    const mask = matrix.name === "mask"
    bar.hidden = mask
    low.textContent = mask ? "0 may attend, −∞ may not" : matrix.weights ? "0" : isShort ? "" : `−${matrix.topText}`
    high.textContent = mask ? "" : isShort && !matrix.weights ? `±${matrix.topText}` : matrix.topText
    bar.style.background = `linear-gradient(90deg, ${(matrix.weights ? skin.weights : skin.signed).join(",")})`
    const canvas = box.querySelector("canvas")
    canvas.tabIndex = 0
    canvas.setAttribute("role", "application")
    canvas.setAttribute("aria-label", `${matrix.name}, ${matrix.shape}. Arrow keys read the cells, Enter tells how one came about.`)
  }
  /** @param {HTMLElement} box @param {number} [upTo] */
  function drawn(box, upTo) {
    const name = nameOf(box), context = contextOf(box.querySelector("canvas"))
    paint(context, matrices[name], of(name), memory.layouts[name], skin, tables, names, upTo)
    light(context, matrices[name], memory.layouts[name], skin, header.lit[name] ?? [])
    const at = memory.hover?.name === name ? memory.hover : null
    if (at) {
      const { left, top, cell } = memory.layouts[name]
      outlineBox(context, skin.ink, 2, left + at.column * cell.x, top + at.row * cell.y, Math.max(cell.x, 4), Math.max(cell.y, 4))
    }
  }

  // reading cells
  /** @param {HTMLElement} box @param {MouseEvent} event */
  function under(box, event) {
    const name = nameOf(box), { left, top, cell } = memory.layouts[name], frame = box.querySelector("canvas").getBoundingClientRect()
    const column = Math.floor((event.clientX - frame.left - left) / cell.x), row = Math.floor((event.clientY - frame.top - top) / cell.y)
    const { rows, columns } = matrices[name]
    return row < 0 || column < 0 || row >= rows || column >= columns ? null : { name, row, column }
  }
  /** @param {string} axis @param {number} i */
  const called = (axis, i) => axis === "query" || axis === "key" ? `${axis} ${i + starts[axis] + 1} “${label(axis, i)}”`
    : axis === "merged" ? inHead(i) : `${axis === "dim" ? "dimension" : "channel"} ${i + 1 + starts[axis]}`
  /** @param {number} i */
  const inHead = i => `head ${Math.floor((i + starts.merged) / header.headDim) + 1}, dimension ${(i + starts.merged) % header.headDim + 1}`
  /** @param {HTMLElement} box @param {MatrixCell | null} at */
  function look(box, at) {
    const before = memory.hover
    memory.hover = at
    for (const other of figures) if (other === box || nameOf(other) === before?.name) drawn(other)
    const tip = $(".tip")
    tip.hidden = !at
    if (!at) return
    const matrix = matrices[at.name], value = of(at.name)[at.row * matrix.columns + at.column]
    tip.textContent = `${called(matrix.axes[0], at.row)}, ${called(matrix.axes[1], at.column)}\n${matrix.symbol} = ${exact(value, matrix.weights)}` +
      (steps.includes(at.name) ? "" : `\n${matrix.what}`)
    const { left, top, cell } = memory.layouts[at.name], frame = box.querySelector("canvas").getBoundingClientRect()
    const mine = root.getBoundingClientRect()
    const x = frame.left - mine.left + left + (at.column + 0.5) * cell.x, y = frame.top - mine.top + top + at.row * cell.y
    placeTip(tip, { x, y, h: cell.y }, root.clientWidth)
  }
  /** Tell the page which cell was picked, by its tokens, dimension and channel. If its matrix is a step, that step comes into
   * focus.
   * @param {MatrixCell} cell */
  function pick({ name, row, column }) {
    /** @type {Values} */
    const changes = steps.includes(name) && (whole || name === step) ? { step: name } : {}
    /** @param {string} axis @param {number} i */
    const tellAxis = (axis, i) => {
      const at = i + starts[axis]
      if (axis === "merged") Object.assign(changes, { head: Math.floor(at / header.headDim) + 1, dim: at % header.headDim + 1 })
      else changes[axis] = at + 1
    }
    matrices[name].axes.forEach((axis, i) => tellAxis(axis, i ? column : row))
    if (!whole && steps.includes(name) && name !== step) changes.step = name
    stop()
    tell(changes)
  }

  figures.forEach(box => {
    const canvas = box.querySelector("canvas"), { rows, columns, axes } = matrices[nameOf(box)]
    canvas.onpointermove = event => {
      memory.touched = event.pointerType !== "mouse"
      if (event.pointerType !== "mouse") return
      const at = under(box, event)
      if (at?.row !== memory.hover?.row || at?.column !== memory.hover?.column || at?.name !== memory.hover?.name) look(box, at)
    }
    canvas.onpointerleave = () => look(box, null)
    canvas.onclick = event => { const at = under(box, event); if (at) pick(at) }
    canvas.onkeydown = event => {
      const by = /** @type {ByKey<number[]>} */ ({
        ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0], Home: [0, -columns], End: [0, columns],
      })[event.key]
      const here = memory.hover?.name === nameOf(box) ? memory.hover : null
      const first = header.lit[nameOf(box)]?.[0]?.[0] ?? [0, 0]
      if (by) {
        const row = (here?.row ?? first[0] ?? 0) + (here ? by[0] : 0), column = (here?.column ?? first[1] ?? 0) + (here ? by[1] : 0)
        if (!beyond(axes[0], row, rows) && !beyond(axes[1], column, columns))
          look(box, { name: nameOf(box), row: clamp(row, 0, rows - 1), column: clamp(column, 0, columns - 1) })
        else pick({ name: nameOf(box), row, column }) // the window moves on
      } else if ((event.key === "Enter" || event.key === " ") && here) pick(here)
      else if (event.key === "Escape" && here) look(box, null)
      else return
      event.preventDefault()
      event.stopPropagation() // the page has keys of its own
    }
  })
  /** Whether this row or column exists, but outside the part of the text that is shown.
   * @param {string} axis @param {number} i @param {number} count */
  const beyond = (axis, i, count) => (i < 0 ? starts[axis] + i >= 0 : i >= count && starts[axis] + i < header.ends[axis])

  // the derivation
  $(".derived h4").textContent = header.title
  $(".lines").replaceChildren(...header.lines.map(line =>
    make("p", {}, ...line.map(([text, role]) => make("span", { textContent: text, className: role })))))
  $("code").textContent = header.code

  /* Let the matrix of a new step appear row by row, within one beat. */
  function beat() {
    const box = /** @type {HTMLElement} */ (figures.find(figure => nameOf(figure) === step)), { rows } = matrices[step], frames = Math.min(rows, 8)
    memory.beats = Array.from({ length: frames }, (_, i) =>
      setTimeout(() => drawn(box, i + 1 === frames ? undefined : Math.ceil(rows * (i + 1) / frames)), BEAT * i / frames))
  }

  memory.hover = null
  $(".tip").hidden = true
  memory.beats?.forEach(clearTimeout)
  draw()
  if (memory.step && memory.step !== step && !whole && !still) beat()
  memory.step = step

  root.savePicture = (name, words = {}) => {
    look(figures[0], null)
    const derived = [header.title, ...header.lines.map(line => line.map(([text]) => text).join("")), ...header.code.split("\n")]
    save(root, name, { derived, ...words }, { width: stage.clientWidth, draw, sheet: () => poster(stage, skin.paper) })
  }
  return watch(root, draw, () => memory.touched && look(figures[0], null))
}
