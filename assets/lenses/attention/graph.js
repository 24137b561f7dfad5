/* All of a pass for one logit as a graph, from the tokens at the foot up to the logit. graph_layout.js says where everything
   stands, graph_drawing.js paints it; this file handles the pointer and the keyboard. A node that is locked, and the token
   whose logit it is, are in the link. */

import { TO_LOGIT, readGraph, walked } from "./graph_data.js"
import { paintGraph } from "./graph_drawing.js"
import { layOutGraph } from "./graph_layout.js"
import { saidOfNode } from "./graph_words.js"
import { isTouched, room, stretch, watch } from "../../pictures/canvas.js"
import { actOn, partsOf } from "../../pictures/elements.js"
import { save } from "../../pictures/files.js"
import { contextOf, dress } from "../../pictures/paint.js"

const NEAR = { mouse: 4, touch: 14 } // px around a node in which a pointer still means it

/** @param {Picture<GraphHeader>} picture */
export default function ({ header, numbers, root, commit }) {
  const $ = partsOf(root), data = readGraph({ header, numbers })
  const frame = $(".scroll"), canvas = /** @type {HTMLCanvasElement} */ (root.querySelector("canvas")), context = contextOf(canvas)
  const memory = root._memory ??= { told: null, locked: "" }
  if (memory.told !== header.locked) memory.locked = memory.told = header.locked // otherwise the page does not know of the last act yet
  const numberOf = (/** @type {string} */ code) => {
    const number = data.nodes.findIndex(node => node.code === code)
    return number < 0 ? null : number
  }
  /** @type {Skin} */
  let skin
  /** @type {GraphLayout} */
  let layout
  /** @type {number | null} */
  let hovered = null
  let isSaved = false
  /** @type {Map<string, number>} */
  const widths = new Map() // a layout that fits is looked for in several sizes

  function draw() {
    if (!root.clientWidth) return // the picture is being removed from the page
    skin = dress(root)
    const { high, fill } = room(root, canvas)
    layout = memory.layout = layOutGraph(data, { width: root.clientWidth, rem: skin.rem, high, fill, measure })
    canvas.style.width = layout.width + "px"
    stretch(canvas, layout.width, layout.height, skin.paper)
    if (memory.width !== layout.width) frame.scrollLeft = layout.logit.x - frame.clientWidth / 2 // what is wider begins at the logit
    memory.width = layout.width
    look(hovered)
  }

  /** @type {Measure} */
  function measure(text, size) {
    const key = `${size} ${skin.family} ${text}`, known = widths.get(key)
    if (known !== undefined) return known
    context.font = `${size}px ${skin.family}`
    const { width } = context.measureText(text)
    widths.set(key, width)
    return width
  }

  /** Light a node; if it is null, the locked one.
   * @param {number | null} node */
  function look(node) {
    hovered = node
    if (!layout) return // not drawn yet
    const locked = numberOf(memory.locked), focus = node ?? locked
    paintGraph({ context, data, skin, layout, focus, locked, from: isSaved ? 0 : frame.scrollLeft })
    $(".say").textContent = focus !== null ? saidOfNode(data, focus)
      : !data.nodes.length ? ""
        : isTouched ? "Tap a node for its edges, and again to let it go. A tap on a token asks for the logit after it."
          : "Hover over a node for its edges. A click locks it, Esc lets go; arrow keys walk. A click on a token asks for the logit after it."
  }

  /** @param {number | null} node */
  function lock(node) {
    memory.locked = node === null || node < 0 ? "" : data.nodes[node].code
    look(hovered)
    commit({ attention_from_key: memory.locked })
  }

  /** @param {number} node */
  function toggle(node) {
    if (node === TO_LOGIT) return look(node) // a link names none but the nodes
    const isLocked = memory.locked === data.nodes[node].code
    if (isLocked) hovered = null
    lock(isLocked ? null : node)
  }

  /** What is under the pointer: a node, or a token whose logit can be asked for.
   * @param {PointerEvent} event @returns {{ node: number | null, token: number | null }} */
  function under(event) {
    if (!layout) return { node: null, token: null }
    const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top
    const near = event.pointerType === "mouse" ? NEAR.mouse : NEAR.touch, { logit } = layout
    let node = null, best = Infinity
    layout.places.forEach((place, i) => {
      const far = Math.hypot(place.x - x, place.y - y) - place.r
      if (far < Math.min(best, near)) [node, best] = [i, far]
    })
    if (node === null && Math.abs(x - logit.x) < logit.w / 2 && Math.abs(y - logit.y) < logit.h / 2) node = TO_LOGIT
    const foot = layout.feet[layout.feet.length - 1], isFoot = node === null && y >= foot.y && y <= foot.y + foot.h
    const slant = foot.turn === "slanted" ? y - foot.y - 5 * layout.rem : 0 // a slanted name begins further left
    const column = isFoot ? foot.columns.find(column => Math.abs(column.x - (x + slant)) <= column.w / 2) : null
    return { node, token: column && column.at >= 0 ? column.at : null }
  }

  canvas.onpointermove = event => {
    if (event.pointerType !== "mouse") return
    const { node, token } = under(event)
    canvas.style.cursor = node !== null || token !== null ? "pointer" : "default"
    if (node !== hovered) look(node)
  }
  canvas.onpointerleave = event => { if (event.pointerType === "mouse" && hovered !== null) look(null) }
  frame.onscroll = () => look(hovered)
  canvas.onclick = event => {
    const { node, token } = under(/** @type {PointerEvent} */ (event))
    if (node !== null) toggle(node)
    else if (token !== null && token !== header.asked.at) commit({ attention_query: token + 1 })
  }
  canvas.onkeydown = event => {
    const at = hovered ?? numberOf(memory.locked)
    const walk = () => look(at === null ? TO_LOGIT : walked(data, layout.places, layout.logit, at, event.key))
    const letGo = () => hovered !== null && hovered !== numberOf(memory.locked) ? look(null) : (hovered = null, lock(null))
    const isAnything = hovered !== null || memory.locked, place = at === null || at < 0 ? null : data.nodes[at]
    const canAsk = place && place.stack === header.stacks.length - 1 && place.at >= 0 && place.at !== header.asked.at
    actOn(event, {
      ArrowLeft: walk, ArrowRight: walk, ArrowUp: walk, ArrowDown: walk,
      Enter: at === null ? undefined : () => toggle(at), " ": at === null ? undefined : () => toggle(at),
      Escape: isAnything ? letGo : undefined, q: canAsk ? () => commit({ attention_query: place.at + 1 }) : undefined,
    })
  }
  canvas.setAttribute("aria-label", `${header.about} Arrow keys walk the nodes, Enter locks one, q asks for the logit after a node's token.`)

  root.savePicture = (name, words = {}) => {
    hovered = null
    isSaved = true
    save(root, name, words, { width: layout.width, draw, sheet: () => canvas })
    isSaved = false
    draw()
  }
  return watch(root, draw)
}
