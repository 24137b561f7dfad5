/* Layers x heads as thumbnails: one transfer of bytes, one canvas, a real button per head.

   payload, behind the header: uint8 [layer][head][row][column]. A byte of 0 to 254 is a share of the head's largest
   weight, header.ends[head] that weight's place on the scale (1 is its dark end); 255 is masked.
   Everything but the click stays in the browser. User text reaches the page through textContent alone. */

import { density, isTouched, room, watch } from "../../pictures/canvas.js"
import { make, partsOf } from "../../pictures/elements.js"
import { save } from "../../pictures/files.js"
import { clamp, contextOf, dress, image, palette, pool, word } from "../../pictures/paint.js"
import { fillBox, veil, write } from "../../pictures/pen.js"

/* In pixels, and those with a comment also at a root font of 16: */
const LABELS = 24, EDGES = 34 // the heads' numbers above, the layers' at the left
const LARGEST = 108, LEAST = 22, GAP = 4 // a thumbnail's side, and what is between two
const WIDER = 1.3, NARROWER = 0.75 // how many times as wide as high a thumbnail may be that fills the room
const DEEP = 12, MOST_BANDS = 3 // so many layers stand below each other; more may be folded into bands side by side
const TINY = 12 // the least side of a thumbnail where a click only opens the lens
const SCROLLED = 36 // a thumbnail's side where layers are so many that the page is scrolled anyway

const LARGE = ".st-key-panel_head" // the panel that shows the picked head large

/** Where the large map stands below the grid, as on a phone, a tap on a thumbnail would change something out of sight.
 * @param {Element | null} panel */
function bringIntoView(panel) {
  if (!(panel instanceof HTMLElement) || panel.getBoundingClientRect().top < 0.75 * innerHeight) return
  panel.style.scrollMarginTop = "4rem" // below the bar of the page
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches
  panel.scrollIntoView({ behavior: still ? "auto" : "smooth", block: "start" })
}

/** One head as an image: a pixel per cell, or, where cells are smaller than pixels, the largest weight of each block;
 * rows of padding are veiled. A byte that is masked counts as less than any weight.
 * @param {Uint8Array} map @param {HeadsGridHeader} header @param {number} end @param {number} block
 * @param {number[]} table @param {number} masked @param {string} paper */
function tileOf(map, { rows, columns, read }, end, block, table, masked, paper) {
  const ranks = map.map(byte => (byte + 1) & 255) // masked is 0, and the weights follow
  const { largest, across, down } = pool(ranks, columns, { left: 0, top: 0, columns, rows }, block, 0)
  const tile = image(across, down, i =>
    largest[i] ? table[Math.min(255, Math.round((largest[i] - 1) / 254 * end * 255))] : masked)
  veil(contextOf(tile), paper, 0, Math.ceil(read / block), across, down)
  return tile
}

/** The grid with its labels, for a file.
 * @param {HTMLElement} cells @param {HTMLCanvasElement} canvas @param {Skin} skin */
function poster(cells, canvas, skin) {
  const ratio = density(), sheet = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height })
  const context = contextOf(sheet), origin = cells.getBoundingClientRect()
  fillBox(context, skin.paper, 0, 0, sheet.width, sheet.height)
  context.drawImage(canvas, 0, 0)
  context.font = `${13 * ratio * skin.rem}px ${skin.family}`
  for (const label of cells.querySelectorAll(".column, .row")) {
    const box = label.getBoundingClientRect(), x = box.left - origin.left + box.width / 2, y = box.top - origin.top + box.height / 2
    write(context, label.innerText, x * ratio, y * ratio, skin.muted, "center")
  }
  return sheet
}

/** @param {Picture<HeadsGridHeader>} picture */
export default function ({ header, numbers: maps, root, alone, setTriggerValue }) {
  const memory = root._memory ??= { shape: "", isolated: null } // what outlives an update
  const { layers, heads, rows, columns, picked } = header
  const $ = partsOf(root)
  /** @type {Skin} */
  let skin
  /** @type {number[]} */
  let table
  /** @type {number} */
  let masked
  const size = rows * columns
  /** @param {number} side */
  const blockFor = side => Math.max(1, Math.ceil(Math.max(rows, columns) / side))
  /** @param {number} i @param {number} side */
  const tile = (i, side) =>
    tileOf(maps.subarray(i * size, (i + 1) * size), header, header.ends[i], blockFor(side), table, masked, skin.paper)
  /** @param {number} i */
  const nameOf = i => `layer ${Math.floor(i / heads) + 1} · head ${i % heads + 1}`

  // the frame: labels, and a button per head, which brings focus, touch and screen readers
  const cells = $(".cells")
  if (memory.shape !== `${layers}x${heads}`) {
    memory.shape = `${layers}x${heads}`
    memory.isolated = null
    memory.bands = 1
    cells.style.setProperty("--columns", String(heads))
    cells.classList.toggle("dense", heads > 8)
    cells.replaceChildren(document.createElement("canvas"))
    /** @param {string} kind @param {string} text @param {"span" | "button"} [tag] */
    const add = (kind, text, tag = "span") =>
      cells.appendChild(make(tag, { className: kind, textContent: text }))
    add("corner", "")
    for (let head = 1; head <= heads; head++) {
      add("column", "").append(make("span", { textContent: "head " }), String(head)) // the word is hidden where it has no room
    }
    for (let layer = 0; layer < layers; layer++) {
      add("row", `L${layer + 1}`).title = `layer ${layer + 1}`
      for (let head = 0; head < heads; head++) add("head", "", "button")
    }
  }
  const buttons = [...cells.querySelectorAll("button")]
  const canvas = cells.querySelector("canvas")

  function wear() {
    skin = dress(root)
    table = palette(skin.weights).map(word)
    masked = word(skin.masked)
    $(".bar i").style.background = `linear-gradient(90deg, ${skin.weights.join(",")})`
  }

  wear() // a focus may come before the first drawing

  /* How high and how wide a thumbnail can be where layers are folded into so many bands. */
  /** @param {number} bands @param {number} high */
  function sides(bands, high) {
    const { rem } = skin
    return {
      each: Math.floor((high - LABELS * rem) / Math.ceil(layers / bands) - GAP),
      wide: Math.floor((root.clientWidth - bands * EDGES * rem) / (bands * heads) - GAP),
    }
  }

  /* Layers below each other, or the layers of a deep model in bands side by side, whichever makes thumbnails larger. */
  /** @param {number} high */
  function fold(high) {
    let bands = 1
    const sideOf = (/** @type {number} */ count) => { const { each, wide } = sides(count, high); return Math.min(each, wide) }
    if (layers > DEEP && high < Infinity) {
      for (let count = 2; count <= MOST_BANDS; count++) if (sideOf(count) > sideOf(bands)) bands = count
      if (sideOf(bands) < LEAST) bands = 1
    }
    if (bands === memory.bands) return bands
    memory.bands = bands
    cells.style.gridTemplateColumns = bands === 1 ? "" : Array(bands).fill(
      `1.75rem repeat(${heads}, minmax(${LEAST}px, var(--most, ${LARGEST}px)))`).join(" ")
    const down = Math.ceil(layers / bands)
    for (const copy of cells.querySelectorAll(".copied")) copy.remove()
    const [rowLabels, columnLabels] = [cells.querySelectorAll(".row"), cells.querySelectorAll(".column")]
    /** @param {Element} element @param {number} row @param {number} column */
    const put = (element, row, column) => {
      if (element instanceof HTMLElement) element.style.gridArea = bands === 1 ? "" : `${row + 1} / ${column + 1}`
    }
    for (let layer = 0; layer < layers; layer++) {
      const row = 1 + layer % down, column = Math.floor(layer / down) * (heads + 1)
      put(rowLabels[layer], row, column)
      for (let head = 0; head < heads; head++) put(buttons[layer * heads + head], row, column + 1 + head)
    }
    columnLabels.forEach((label, head) => {
      put(label, 0, 1 + head)
      for (let band = 1; band < bands; band++) {
        const copy = /** @type {HTMLElement} */ (label.cloneNode(true))
        copy.classList.add("copied")
        copy.ariaHidden = "true"
        cells.append(copy)
        put(copy, 0, band * (heads + 1) + 1 + head)
      }
    })
    return bands
  }

  /* Make the grid as large as the room allows: heads may be wider than high where they fill it. */
  function fit() {
    const { high, fill } = room(root, cells), { rem } = skin
    const { each, wide } = sides(fold(high), high), isLimited = high < Infinity
    if (!picked && layers > DEEP && memory.bands === 1) {
      cells.style.gridTemplateColumns = `1.75rem repeat(${heads}, ${clamp(wide, TINY, SCROLLED)}px)`
    }
    const most = fill ? each : Math.min(each, LARGEST * rem)
    const least = each < LEAST && layers > DEEP ? clamp(wide, LEAST, SCROLLED) : LEAST
    const side = Math.max(least, fill ? Math.min(WIDER * each, wide) : Math.min(most, layers > DEEP ? wide : most))
    cells.style.setProperty("--most", isLimited ? `${side}px` : "")
    cells.style.setProperty("--ratio", fill ? String(Math.max(NARROWER, Math.min(side, wide) / each)) : "")
  }

  function draw() {
    if (!cells.offsetWidth) return // the picture is being removed from the page
    wear()
    const ratio = density()
    fit()
    canvas.width = 0 // so that the canvas does not hold the cells apart while they are measured
    const width = cells.scrollWidth, height = cells.scrollHeight, origin = cells.getBoundingClientRect()
    canvas.width = width * ratio
    canvas.height = height * ratio
    canvas.style.width = width + "px"
    canvas.style.height = height + "px"
    const context = contextOf(canvas)
    context.imageSmoothingEnabled = false
    const inset = parseInt(getComputedStyle(cells).getPropertyValue("--inset"))
    let side = 1
    buttons.forEach((button, i) => {
      const box = button.getBoundingClientRect(), edge = (/** @type {number} */ at) => Math.round(at * ratio) // whole device pixels
      const left = edge(box.left - origin.left + inset), top = edge(box.top - origin.top + inset)
      const tall = Math.max(1, edge(box.height - 2 * inset)), wide = Math.max(1, edge(box.width - 2 * inset))
      side = Math.min(tall, wide)
      context.globalAlpha = memory.isolated !== null && memory.isolated !== i ? 0.25 : 1
      context.drawImage(tile(i, side), left, top, wide, tall)
    })
    const block = header.block * blockFor(side)
    $(".exact").textContent = block > 1 ? `pooled: the largest of ${block} × ${block} cells` : "one cell per number"
  }

  // the magnifier: the head under the pointer, large enough to read, with its sentence
  const glass = $(".glass"), chosen = picked ? picked[0] * heads + picked[1] : null
  const act = picked ? "lock" : "open"
  /** @param {number | null} i @param {string} how */
  const say = (i, how) => $(".say").replaceChildren(make("b", { textContent: i === null ? "" : nameOf(i) }), ` ${how}`)
  /** @param {number | null} i */
  function preview(i) {
    glass.hidden = i === null || i === chosen
    const how = isTouched ? `tap to ${alone ? "look" : "open"}` : `hover to look${alone ? "" : ", click to open"}`
    if (i === null) return say(chosen, picked ? "locked" : how)
    const button = buttons[i], lens = glass.querySelector("canvas"), side = 176 * devicePixelRatio
    lens.width = lens.height = side
    const context = contextOf(lens)
    context.imageSmoothingEnabled = false
    context.drawImage(tile(i, side), 0, 0, side, side)
    glass.querySelector("b").textContent = nameOf(i)
    glass.querySelector("p").textContent = header.about[i]
    const middle = button.offsetLeft + button.offsetWidth / 2 - $(".scroll").scrollLeft
    glass.style.left = clamp(middle - 104, 0, root.clientWidth - 208) + "px"
    glass.style.top = button.offsetTop + button.offsetHeight + 14 + "px"
    say(i, i === chosen ? "locked" : alone ? "" : `preview: ${isTouched ? "tap" : "click"} to ${act}`)
  }
  /** @param {number} i */
  function lock(i) {
    if (alone) return preview(i)
    glass.hidden = true
    setTriggerValue("picked", [Math.floor(i / heads), i % heads])
    if (picked) bringIntoView(document.querySelector(LARGE))
  }
  /** @param {number} i */
  function isolate(i) {
    memory.isolated = memory.isolated === i ? null : i
    draw()
  }

  buttons.forEach((button, i) => {
    button.tabIndex = i === (chosen ?? 0) ? 0 : -1 // Tab stops once at the grid; arrow keys move within it
    button.setAttribute("aria-pressed", String(i === chosen))
    button.setAttribute("aria-label", `${nameOf(i)}. ${header.about[i]}`)
    button.onpointerenter = event => event.pointerType === "mouse" && preview(i)
    button.onfocus = () => button.matches(":focus-visible") && preview(i)
    button.onclick = () => lock(i)
    button.ondblclick = () => isolate(i)
  })
  cells.onpointerleave = () => preview(null)
  cells.onkeydown = event => {
    const i = buttons.findIndex(button => button === cells.getRootNode().activeElement)
    if (i < 0) return
    const at = /** @type {ByKey<number>} */ ({
      ArrowRight: i + 1, ArrowLeft: i - 1, ArrowDown: i + heads, ArrowUp: i - heads, Home: 0, End: buttons.length - 1,
    })[event.key]
    if (at !== undefined) { buttons[at]?.focus(); event.preventDefault() }
    if (event.key === "i") isolate(i)
    if (event.key === "Escape") { if (memory.isolated !== null) isolate(memory.isolated); preview(null) }
  }
  $(".bar b").textContent = header.topText
  $(".chip").hidden = !header.masked
  preview(null)
  root.savePicture = (name, words = {}) =>
    save(root, name, { foot: `weights from 0, light, to ${header.topText}, dark`, ...words },
      { width: cells.scrollWidth, draw, sheet: () => poster(cells, canvas, skin) })
  return watch(cells, draw)
}
