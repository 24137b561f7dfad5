/* Pairs of dimensions as clocks: a query's hand and a key's, moved along the positions by sliders or by itself.

   payload, behind the header: float32 [clock][5]: cosine and sine of the query, of the key, and the angle between them.
   The server computes the hands: in a file (`alone`) there is none, and they stand still. */

import { face, layOut } from "./clocks_drawing.js"
import { keepLater, placeTip, room, stretch, tell, watch } from "../../pictures/canvas.js"
import { partsOf } from "../../pictures/elements.js"
import { save } from "../../pictures/files.js"
import { clamp, contextOf, dress, floats, rounded } from "../../pictures/paint.js"
import { outlineBox } from "../../pictures/pen.js"
import { slide } from "../../pictures/slider.js"
import { speedBeside } from "../../pictures/speed.js"

const BEAT = 1000 // ms from position to position

/** @param {Picture<ClocksHeader>} picture */
export default function ({ header, numbers, root, late, alone, preview, commit, retract }) {
  const $ = partsOf(root)
  const memory = root._memory ??= { sliders: { query: {}, key: {} }, look: null }
  const { parameters, last } = header, hands = floats(numbers), canvas = root.querySelector("canvas"), context = contextOf(canvas)
  const clocks = header.pairs.map((pair, i) => ({
    pair, wavelength: header.wavelengths[i], hands: hands.subarray(5 * i, 5 * i + 5),
    dimensions: /** @type {Point} */ (header.dimensions?.[i] ?? [pair, pair + header.count]), isNamed: Boolean(header.dimensions),
  }))
  const held = () => memory.sliders.query.dragging || memory.sliders.key.dragging
  if (!memory.at || (!held() && !late && !memory.playing)) memory.at = { ...header.at } // the positions at which the reader has put the hands
  for (const which in memory.at) memory.at[which] = Math.min(memory.at[which], last) // the length may have shrunk
  Object.assign(memory, { header, clocks })
  /** @type {ReturnType<typeof layOut>} */
  let places
  /** @type {Skin} */
  let skin
  /** @type {((isDrawnOver: boolean) => void) | undefined} */
  let bare

  /* ---- moving */
  const wish = () => ({ [parameters.query]: memory.at.query, [parameters.key]: memory.at.key })
  /** @param {"query" | "key"} which @param {number} to */
  function move(which, to) {
    const { query, key } = memory.began ??= { ...memory.at }
    const by = clamp(to - (which === "query" ? query : key), -Math.min(query, key), last - Math.max(query, key))
    memory.at = memory.together ? { query: query + by, key: key + by } : { ...memory.at, [which]: to }
    say()
    preview(wish(), true)
  }
  function say() {
    for (const which of /** @type {const} */ (["query", "key"])) {
      $(`.${which} span`).textContent = `${which} at ${which === "query" ? "m" : "n"} = ${memory.at[which]}`
      $(`.${which} input`).value = String(memory.at[which])
    }
    $(".apart").textContent = `m − n = ${`${memory.at.query - memory.at.key}`.replace("-", "−")}`
  }
  for (const which of /** @type {const} */ (["query", "key"])) {
    const input = $(`.${which} input`)
    input.max = String(last)
    input.ariaLabel = `position of the ${which}`
    slide(input, memory.sliders[which], { value: memory.at[which], late }, {
      move: () => { stop(); move(which, +input.value) },
      rest: () => { memory.began = null; commit(wish(), true) },
      back: () => { memory.began = null; memory.at = { ...header.at }; say(); retract(true) },
    })
    input.onkeydown = event => event.stopPropagation() // the page has keys of its own
  }
  say()
  $(".drive").hidden = Boolean(alone)
  $(".together").ariaPressed = String(!!memory.together)
  $(".together").onclick = () => {
    memory.together = !memory.together
    $(".together").ariaPressed = String(memory.together)
  }

  function beat() {
    if (!root.isConnected) return clearInterval(memory.timer)
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return rest()
    const { query, key } = memory.at, far = memory.together ? Math.max(query, key) : query
    const by = far < last ? 1 : memory.together ? -Math.min(query, key) : -query // at the end, the walk goes back to the start
    memory.at = { query: query + by, key: memory.together ? key + by : key }
    say()
    preview(wish(), true)
  }
  function stop() {
    clearInterval(memory.timer)
    memory.playing = false
    $(".play").textContent = "Play"
  }
  function rest() {
    stop()
    commit(wish(), true)
  }
  memory.beat = beat // the timer outlives what was drawn when it began
  $(".play").textContent = memory.playing ? "Pause" : "Play"
  $(".play").onclick = () => {
    if (memory.playing) return rest()
    memory.playing = true
    $(".play").textContent = "Pause"
    again()
    memory.beat()
  }
  function again() {
    clearInterval(memory.timer)
    memory.timer = setInterval(() => memory.beat(), BEAT / memory.speed)
  }
  speedBeside($(".play"), memory, () => { if (memory.playing) again() })

  /* ---- drawing and reading */
  function draw() {
    const width = root.clientWidth
    if (!width) return // the picture is being removed from the page
    skin = dress(root)
    places = memory.places = layOut(clocks.length, width, skin.rem, room(root, canvas))
    stretch(canvas, width, places.height, skin.paper)
    clocks.forEach((clock, i) => face(context, clock, places.at(i), skin))
    bare = keepLater(canvas)
    look(memory.look)
  }

  /** @param {number | null} i */
  function look(i) {
    memory.look = i = i === null || i >= clocks.length ? null : i
    if (!bare) return // not drawn yet
    bare(i !== null)
    const tip = $(".tip")
    tip.hidden = i === null
    tell(tip, i === null ? "" : read(clocks[i]))
    $(".say").textContent = tip.textContent
    if (i === null) return
    const { x, y, side } = places.at(i)
    outlineBox(context, skin.ink, 1, x + 0.5, y + 0.5, side - 1, places.tall - 1)
    placeTip(tip, { x: x + side / 2, y, h: places.tall }, canvas.clientWidth, canvas.offsetTop)
  }

  /** @param {number} value */
  const digits = value => rounded(value, 4)
  /** @param {Clock} clock */
  function read({ pair, dimensions, wavelength, hands: [qc, qs, kc, ks, between] }) {
    const { query, key } = header.at
    return [
      `pair ${pair}: dimensions ${dimensions[0]} and ${dimensions[1]}, a turn in ${+wavelength.toPrecision(5)} positions`,
      `query at ${query}: cos ${digits(qc)}, sin ${digits(qs)}`,
      `key at ${key}: cos ${digits(kc)}, sin ${digits(ks)}`,
      `between: (${query} − ${key}) θ = ${digits(between)} rad = ${rounded(between * 180 / Math.PI, 2)}°`,
    ].join("\n")
  }

  canvas.onpointermove = canvas.onpointerdown = event => {
    memory.touched = event.pointerType !== "mouse"
    const box = canvas.getBoundingClientRect(), i = places?.under(event.clientX - box.left, event.clientY - box.top) ?? null
    if (i !== memory.look) look(i)
  }
  canvas.onpointerleave = canvas.onpointercancel = () => look(null)
  canvas.onkeydown = event => {
    const { key } = event, now = memory.look, { across } = places
    const by = /** @type {ByKey<number>} */ ({
      ArrowRight: 1, ArrowLeft: -1, ArrowDown: across, ArrowUp: -across, Home: -clocks.length, End: clocks.length,
    })[key]
    if (key === "Escape" && now !== null) look(null)
    else if (by) look(now === null ? 0 : clamp(now + by, 0, clocks.length - 1))
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  canvas.setAttribute("aria-label", `${header.about} Arrow keys read the pairs.`)

  root.savePicture = (name, words = {}) => { look(null); save(root, name, words, { width: root.clientWidth, draw, sheet: () => canvas }) }
  return watch(root, draw, () => memory.touched && look(null))
}
