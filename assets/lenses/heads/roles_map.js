/* Layers x heads, coloured by role, with the role's letter in each cell; or the scores of one role as a heat map.

   payload, behind the header: float32 [layer][head], the score of the cell's role, NaN where it has none. A click opens
   the head. */

import { density, isTouched, room, watch } from "../../pictures/canvas.js"
import { make, partsOf } from "../../pictures/elements.js"
import { save } from "../../pictures/files.js"
import { clamp, contextOf, dress, floats, inCell, ink, isLeftOut, palette } from "../../pictures/paint.js"
import { fillBox, hatch, outlineBox, stroke, write } from "../../pictures/pen.js"

const LABELS = 24, GAP = 3 // pixels: the heads' numbers above, and what is between two cells
const LOWEST = 13, HIGHEST = 52 // how high a cell may be
const NUMBERS = 38 // pixels: the width from which a number has room in a cell

/** @param {Picture<RolesMapHeader>} picture */
export default function ({ header, numbers, root, alone, setTriggerValue }) {
  const memory = root._memory ??= { shape: "" } // what outlives an update
  const { layers, heads, picked, single } = header, scores = floats(numbers), $ = partsOf(root)
  const cells = $(".cells")
  if (memory.shape !== `${layers}x${heads}`) {
    memory.shape = `${layers}x${heads}`
    cells.style.setProperty("--columns", String(heads))
    cells.replaceChildren(document.createElement("canvas"), make("span", { className: "corner" }))
    for (let head = 1; head <= heads; head++) cells.append(make("span", { className: "column", textContent: head }))
    for (let layer = 0; layer < layers; layer++) {
      cells.append(make("span", { className: "row", textContent: `L${layer + 1}` }))
      for (let head = 0; head < heads; head++) cells.append(make("button", { className: "head" }))
    }
  }
  const buttons = [...cells.querySelectorAll("button")], canvas = cells.querySelector("canvas")
  const chosen = picked[0] * heads + picked[1], byRole = new Map(header.legend.map(each => [each.role, each]))
  /** @type {Skin} */
  let skin = dress(root)
  let table = palette(skin.weights)

  /** The colour of a cell or a key.
   * @param {RoleKey | undefined} key */
  const colourOf = key => !key ? skin.paper : key.colour < 0 ? skin.masked : skin.heads[key.colour]

  /** @param {Context} context @param {number} i @param {{ x: number, y: number, w: number, h: number }} box */
  function cell(context, i, { x, y, w, h }) {
    const key = byRole.get(header.roles[i])
    if (!key) return outlineBox(context, skin.rule, 1, x + 0.5, y + 0.5, w - 1, h - 1)
    const colour = single ? table[Math.round(255 * clamp(scores[i] / header.top, 0, 1))] : colourOf(key)
    fillBox(context, colour, x, y, w, h)
    if (!single && key.role === "sep") {
      const lines = new Path2D()
      hatch(lines, x, y, w, h)
      stroke(context, skin.hatch, 1, lines)
    }
    if (single && header.has[i]) outlineBox(context, skin.key, 3, x + 1.5, y + 1.5, w - 3, h - 3)
    const text = single ? (w < NUMBERS || isLeftOut(inCell(scores[i]), true) ? "" : inCell(scores[i])) : key.letter
    const size = clamp(0.62 * h, 9, single ? 13 : 18)
    if (text) write(context, text, x + w / 2, y + h / 2 + 0.5, ink(colour), "center", { font: `600 ${size}px ${skin.family}` })
  }

  function legend() {
    $(".bar").hidden = !single
    $(".bar i").style.background = `linear-gradient(90deg, ${skin.weights.join(",")})`
    $(".bar b").textContent = header.topText
    $(".keys").replaceChildren(...(single ? [] : header.legend).map(key => {
      const chip = make("i", { textContent: key.letter })
      chip.style.background = colourOf(key)
      chip.style.color = ink(colourOf(key))
      return make("span", { className: "key" }, chip, key.title)
    }))
  }

  function draw() {
    if (!cells.offsetWidth) return // the picture is being removed from the page
    skin = dress(root)
    table = palette(skin.weights)
    legend()
    const { high, fill } = room(root, cells), each = Math.floor((high - LABELS * skin.rem) / layers) - GAP
    cells.style.setProperty("--high", `${clamp(high < Infinity ? each : HIGHEST, LOWEST, fill ? Math.max(each, LOWEST) : HIGHEST)}px`)
    canvas.width = 0 // so that the canvas does not hold the cells apart while they are measured
    const ratio = density(), width = cells.scrollWidth, height = cells.scrollHeight, origin = cells.getBoundingClientRect()
    canvas.width = width * ratio
    canvas.height = height * ratio
    canvas.style.width = width + "px"
    canvas.style.height = height + "px"
    const context = contextOf(canvas)
    context.scale(ratio, ratio)
    buttons.forEach((button, i) => {
      const box = button.getBoundingClientRect()
      cell(context, i, { x: box.left - origin.left, y: box.top - origin.top, w: box.width, h: box.height })
    })
  }

  /** The grid with its labels and its legend, for a file. */
  function sheet() {
    const ratio = density(), made = document.createElement("canvas"), origin = cells.getBoundingClientRect(), foot = single ? 0 : 26
    made.width = canvas.width
    made.height = canvas.height + foot * ratio
    const context = contextOf(made)
    fillBox(context, skin.paper, 0, 0, made.width, made.height)
    context.drawImage(canvas, 0, 0)
    context.scale(ratio, ratio)
    context.font = `${13 * skin.rem}px ${skin.family}`
    for (const label of /** @type {NodeListOf<HTMLElement>} */ (cells.querySelectorAll(".column, .row"))) {
      const box = label.getBoundingClientRect()
      write(context, label.innerText, box.left - origin.left + box.width / 2, box.top - origin.top + box.height / 2, skin.muted, "center")
    }
    const said = header.legend.map(({ letter, title }) => `${letter} ${title}`).join("   ")
    if (foot) write(context, said, 4, canvas.height / ratio + foot / 2, skin.ink, "left", { room: canvas.width / ratio - 8 })
    return made
  }

  /** @param {number} i */
  const nameOf = i => `layer ${Math.floor(i / heads) + 1} · head ${i % heads + 1}`
  /** @param {number | null} i */
  function preview(i) {
    const at = i ?? chosen, how = i === null || i === chosen ? "" : alone ? "" : ` (${isTouched ? "tap" : "click"} for all of its scores)`
    $(".say").replaceChildren(make("b", { textContent: nameOf(at) }), ` ${header.told[at]}${how}`)
  }
  buttons.forEach((button, i) => {
    button.tabIndex = i === chosen ? 0 : -1 // Tab stops once at the grid; arrow keys move within it
    button.setAttribute("aria-pressed", String(i === chosen))
    button.setAttribute("aria-label", `${nameOf(i)}. ${header.told[i]}`)
    button.onpointerenter = event => event.pointerType === "mouse" && preview(i)
    button.onfocus = () => button.matches(":focus-visible") && preview(i)
    button.onclick = () => alone ? preview(i) : setTriggerValue("picked", [Math.floor(i / heads), i % heads])
  })
  cells.onpointerleave = () => preview(null)
  cells.onkeydown = event => {
    const i = buttons.findIndex(button => button === cells.getRootNode().activeElement)
    const at = /** @type {ByKey<number>} */ ({
      ArrowRight: i + 1, ArrowLeft: i - 1, ArrowDown: i + heads, ArrowUp: i - heads, Home: 0, End: buttons.length - 1,
    })[event.key]
    if (i < 0 || at === undefined) return
    buttons[at]?.focus()
    event.preventDefault()
  }
  preview(null)
  root.savePicture = (name, words = {}) => save(root, name, words, { width: cells.scrollWidth, draw, sheet })
  return watch(cells, draw)
}
