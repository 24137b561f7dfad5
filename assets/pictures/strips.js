/* Repeated measurements as dots along a line, a strip for each thing; the values are read by pointer or arrow keys.

   payload, behind the header: float32, for each strip the ends and the middle of its band, and then its dots: low,
   middle, high, a dot per round. User text reaches the page through textContent and fillText. */

import { keep, placeTip, save, stretch, watch } from "./canvas.js"
import { colourOf } from "./lines_curves.js"
import { written } from "./lines_drawing.js"
import { contextOf, dress, floats } from "./paint.js"
import { layOutStrips, markStrip, paintStrips } from "./strips_drawing.js"

/** @param {Picture<StripsHeader>} picture */
export default function ({ header, numbers, root }) {
  const memory = root._memory ??= { at: null } // at: {strip, dot}, what is read; dot counts in the order of values
  const values = floats(numbers)
  let used = 0
  /** @param {number} count */
  const take = count => values.subarray(used, used += count)
  const strips = header.strips.map(strip => {
    const [low, middle, high] = take(3), dots = [...take(strip.rounds.length)]
    const rising = dots.map((_, i) => i).sort((a, b) => dots[a] - dots[b])
    const { colour, hollow } = header.groups[strip.group]
    return { ...strip, colour, hollow, low, middle, high, dots, rising }
  })
  const canvas = root.querySelector("canvas"), context = contextOf(canvas), tip = root.querySelector(".tip")
  /** @type {Skin} */
  let skin
  /** @type {StripsLayout} */
  let layout
  /** @type {(() => void) | undefined} */
  let bare

  function draw() {
    const width = root.clientWidth
    if (!width) return // the picture is being removed from the page
    skin = dress(root, header.skin)
    layout = layOutStrips(context, header, strips, width, skin)
    stretch(canvas, width, layout.height, skin.paper)
    paintStrips(context, header, strips, layout, skin)
    bare = keep(canvas)
    const last = memory.at && strips[memory.at.strip]
    look(!last ? null : last.dots.length > (memory.at.dot ?? -1) ? memory.at : { strip: memory.at.strip, dot: null })
  }

  /** @param {{ strip: number, dot: number | null } | null} at */
  function look(at) {
    memory.at = at
    if (!bare) return // not drawn yet
    bare()
    const strip = at && strips[at.strip]
    tip.hidden = !strip
    root.querySelector(".say").textContent = tip.textContent = strip ? wordsOf(strip, at.dot) : ""
    if (!strip) return
    const dot = at.dot === null ? null : strip.rising[at.dot]
    const box = markStrip(context, strip, layout.strips[at.strip], dot, colourOf(skin, strip), skin)
    placeTip(tip, box, root.clientWidth)
  }

  /** @param {Strip} strip @param {number | null} dot */
  function wordsOf(strip, dot) {
    if (dot === null) return strip.said
    const which = strip.rising[dot], group = header.groups.length > 1 ? `, ${header.groups[strip.group].name}` : ""
    return `${strip.name}${group}, round ${strip.rounds[which] + 1}: ${written(strip.dots[which])}${header.unit && ` ${header.unit}`}`
  }

  /** The strip under the pointer, and its dot, if one is near.
   * @param {MouseEvent} event */
  function under(event) {
    const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top
    const strip = layout.strips.findIndex(place => y >= place.top && y < place.top + place.height)
    if (strip < 0) return null
    const { spots } = layout.strips[strip],
      far = (/** @type {number} */ i) => spots[i] ? Math.hypot(spots[i][0] - x, spots[i][1] - y) : Infinity
    const { rising } = strips[strip], near = rising.reduce((best, i) => far(i) < far(best) ? i : best, rising[0])
    return { strip, dot: rising.length && far(near) < 9 * skin.rem ? rising.indexOf(near) : null }
  }

  canvas.onpointermove = canvas.onpointerdown = event => {
    const at = under(event)
    if (at?.strip !== memory.at?.strip || at?.dot !== memory.at?.dot) look(at)
  }
  canvas.onpointerleave = event => event.pointerType === "mouse" && look(null)
  canvas.onkeydown = event => {
    const { key } = event, { strip, dot } = memory.at ?? { strip: -1, dot: null }, last = strips.length - 1
    const next = /** @type {ByKey<number>} */ ({ ArrowDown: Math.min(strip + 1, last), ArrowUp: Math.max(strip - 1, 0), Home: 0, End: last })[key]
    const step = /** @type {ByKey<number>} */ ({ ArrowRight: 1, ArrowLeft: -1 })[key], count = strips[Math.max(strip, 0)]?.dots.length
    if (key === "Escape" && memory.at) look(null)
    else if (next !== undefined && strips.length) look({ strip: next, dot: null })
    else if (step && count) look({ strip: Math.max(strip, 0), dot: Math.max(0, Math.min((dot ?? -1) + step, count - 1)) })
    else return
    event.preventDefault()
    event.stopPropagation() // the page has keys of its own
  }
  canvas.setAttribute("aria-label", `${header.about} Arrow keys read the values.`)
  Object.assign(memory, { header, strips })

  root.savePicture = name => { look(null); save(canvas, name, header.foot, skin) }
  return watch(root, draw)
}
