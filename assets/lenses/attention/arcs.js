/* Which query attends to which key: queries on the left, keys on the right, a line for each weight. arcs_lines.js computes
   which lines there are, arcs_drawing.js paints them; this file handles the pointer and the keyboard, without asking the
   server. What the link has to hold is committed once the reader has stopped for a moment. */

import { gather, settingsOf, sums, unpack, written } from "./arcs_lines.js"
import { LOWEST, WHOLE, height, layOut, paint, values } from "./arcs_drawing.js"
import { counted, said } from "./arcs_words.js"
import { isTouched, keep, room, stretch, watch } from "../../pictures/canvas.js"
import { make, partsOf } from "../../pictures/elements.js"
import { save } from "../../pictures/files.js"
import { clamp, contextOf, dress, grouped } from "../../pictures/paint.js"

/** @type {Values} */
const FIRST = { attention_heads: "", attention_tokens: "", attention_mass: 90, attention_hide: "padding" }
const PLACES = 120 // characters that the selected tokens may take in the link
const RESTS = 350 // ms after the reader's last act until the page is told of it
const PATIENCE = 10000 // ms that the page may take to hold what was committed; after that, what the page says counts
const WINDOW = 30 // tokens a side that are shown of a text that is too long to be shown whole

/** @param {Picture<ArcsHeader>} picture */
export default function ({ header, numbers, root, local, commit }) {
  const $ = partsOf(root)
  const memory = root._memory ??= { wish: {}, at: null, window: null }
  const data = unpack({ header, numbers }), counts = [data.Q, data.K]
  const told = { ...FIRST, ...local }
  for (const name in memory.wish) { // what the page does not hold yet
    if (!memory.resting && (told[name] === memory.wish[name] || Date.now() > memory.patient)) delete memory.wish[name]
    else told[name] = memory.wish[name]
  }
  const settings = memory.settings = settingsOf(data, Object.fromEntries(Object.entries(told).map(([name, value]) => [name.split("_")[1], value])))
  const canvas = root.querySelector("canvas"), context = contextOf(canvas)
  const most = Math.max(data.Q, data.K) <= WHOLE ? WHOLE : WINDOW
  let rows = most
  const shape = `${data.Q} ${data.K} ${data.open}`
  if (memory.shape !== shape) {
    const opens = [0, 1].map(side => settings.tokens.length && settings.side === side ? settings.tokens[0] : data.open[side] - 1)
    Object.assign(memory, { shape, at: null, window: { rows, tops: [0, 0] } })
    opens.forEach((i, side) => memory.window.tops[side] = clamp(i - (rows >> 1), 0, Math.max(0, counts[side] - rows)))
  }
  const { window: part } = memory
  /** @type {Skin} */
  let skin
  /** @type {ArcsLayout} */
  let layout
  /** @type {{ lines: ArcsLines, bare: () => void } | null} */
  let base
  /** @type {any} */
  let drag = null

  function draw() {
    if (!root.clientWidth) return // the picture is being removed from the page
    skin = dress(root)
    const space = room(root, canvas)
    fit(Math.floor(space.high / (LOWEST * skin.rem)) - 3)
    tools()
    layout = memory.layout = layOut(context, data, settings, part, root.clientWidth, skin, space)
    stretch(canvas, layout.width, layout.height, skin.paper)
    base = null
    look(memory.at)
  }

  /** Show no more tokens a side than have room.
   * @param {number} count */
  function fit(count) {
    rows = part.rows = clamp(count, Math.min(6, most), Math.max(data.Q, data.K) <= count ? most : Math.min(most, WINDOW))
    part.tops = part.tops.map((/** @type {number} */ top, /** @type {number} */ side) => clamp(top, 0, Math.max(0, counts[side] - rows)))
  }

  /** Light one token, [side, index]. If it is null, light the selected tokens, or show all lines if none is selected.
   * @param {Point | null} at */
  function look(at) {
    memory.at = at
    if (!layout) return // not drawn yet
    const focus = at ? { side: at[0], tokens: [at[1]] } : settings.tokens.length ? settings : null
    const lines = memory.lines = !focus && base ? base.lines : gather(data, settings, focus, part)
    const scene = { context, data, settings, window: part, skin, layout }
    if (!focus && base) base.bare()
    else {
      paint({ ...scene, focus }, lines)
      if (focus) values({ ...scene, focus }, memory.sums = sums(data, settings, focus))
      else base = { lines, bare: keep(canvas) }
    }
    $(".say").textContent = focus ? said({ data, settings, focus }, memory.sums)
      : isTouched ? "Tap a token for its lines: several are summed, and a second tap lets it go."
        : "Hover over a token for its lines. A click selects it, several are summed, Esc lets go; arrow keys walk."
    $(".foot").textContent = counted({ data, settings, focus }, lines)
    $(".clear").hidden = !settings.tokens.length
  }

  /** Draw with other settings now, and tell the page of them once the reader has stopped for a moment. Until the page
   * holds them they are wishes: it may be run in between, and have everything drawn again with its older values.
   * @param {Partial<ArcsSettings>} changes */
  function change(changes) {
    Object.assign(settings, changes)
    draw()
    for (const [field, value] of Object.entries(written(settings, data))) {
      const name = "attention_" + field
      if (value !== (memory.wish[name] ?? told[name])) memory.wish[name] = value
    }
    clearTimeout(memory.resting)
    memory.resting = setTimeout(() => {
      memory.resting = null
      memory.patient = Date.now() + PATIENCE
      if (Object.keys(memory.wish).length) commit(memory.wish)
    }, RESTS)
  }

  /** @param {Point} point */
  function toggle([side, i]) {
    const before = settings.side === side ? settings.tokens : [], without = before.filter(other => other !== i)
    const tokens = without.length < before.length ? without : [...before, i]
    if (written({ ...settings, side, tokens }, data).tokens.length <= PLACES) change({ side, tokens })
  }

  function tools() {
    /** @param {number} m */
    const chip = m => {
      const stroke = make("i"), button = make("button", { ariaLabel: `Head ${m + 1}` }, stroke, String(m + 1))
      stroke.style.borderTop = `4px ${m < 8 ? "solid" : "dashed"} ${skin.heads[m % 8]}`
      button.onclick = () => {
        const others = settings.maps.filter(other => other !== m), on = others.length < settings.maps.length
        const next = on ? others : [...others, m].sort((a, b) => a - b)
        change({ maps: next.length ? next : [...Array(data.M).keys()] })
      }
      button.ondblclick = () => {
        const wasAlone = memory.alone === m
        memory.alone = wasAlone ? null : m
        change({ maps: wasAlone ? [...Array(data.M).keys()] : [m] })
      }
      return button
    }
    const chips = $(".chips"), key = `${data.heads} ${data.M} ${skin.paper}`
    if (memory.chips !== key) {
      memory.chips = key
      chips.replaceChildren(...data.heads ? [...Array(data.M).keys()].map(chip) : [])
    } else [...chips.children].forEach((button, m) => Object.assign(button, { onclick: chip(m).onclick, ondblclick: chip(m).ondblclick }));
    [...chips.children].forEach((button, m) => button.setAttribute("aria-pressed", String(settings.maps.includes(m))))
    chips.hidden = !data.heads
    const mass = $(".mass input")
    if (root.getRootNode().activeElement !== mass) mass.value = settings.mass
    $(".mass b").textContent = `${settings.mass}%`
    mass.oninput = () => change({ mass: +mass.value })
    mass.onkeydown = event => event.stopPropagation() // the page has keys of its own
    for (const name of /** @type {const} */ (["padding", "first"])) {
      const button = $(`.hide [data-hide=${name}]`)
      button.setAttribute("aria-pressed", String(settings.hide[name]))
      button.onclick = () => change({ hide: { ...settings.hide, [name]: !settings.hide[name] } })
    }
    $(".hide [data-hide=padding]").hidden = data.read[0] === data.Q && data.read[1] === data.K
    $(".clear").onclick = () => { memory.at = null; change({ tokens: [] }) }
    $(".window").hidden = Math.max(...counts) <= rows
    $(".window span").textContent = counts.map((count, side) => {
      const first = part.tops[side] + 1, last = Math.min(count, part.tops[side] + rows)
      return `${["queries", "keys"][side]} ${grouped(first)}–${grouped(last)} of ${grouped(count)}`
    }).join(", ")
    root.querySelectorAll(".window button").forEach(button => button.onclick = () => move([0, 1], Number(button.dataset.by) * (rows - 4)))
  }

  /** @param {number[]} sides @param {number} by */
  function move(sides, by) {
    for (const side of sides) part.tops[side] = clamp(part.tops[side] + Math.round(by), 0, Math.max(0, counts[side] - rows))
    draw()
  }

  /** The token under the pointer, or the end of a column: {at: [side, index]} or {side, end: ±1}.
   * @param {MouseEvent} event
   * @returns {{ side?: number, at?: Point, end?: number }} */
  function under(event) {
    if (!layout) return {}
    const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top
    const side = x < layout.x[0] + 8 ? 0 : x > layout.x[1] - 8 ? 1 : null
    if (side === null) return {}
    const i = Math.floor((y - layout.low[side]) / layout.step), shown = Math.min(rows, counts[side])
    if (i >= 0 && i < shown) return { side, at: [side, part.tops[side] + i] }
    return { side, end: i === -1 && part.tops[side] > 0 ? -1 : i === shown && part.tops[side] + shown < counts[side] ? 1 : 0 }
  }
  /** @param {Point | null | undefined} a @param {Point | null | undefined} b */
  const differ = (a, b) => a?.[0] !== b?.[0] || a?.[1] !== b?.[1]

  canvas.onpointerdown = event => {
    if (event.button) return
    drag = { ...under(event), y: event.clientY, tops: [...part.tops], mouse: event.pointerType === "mouse", far: false }
  }
  canvas.onpointermove = event => {
    if (event.pointerType !== "mouse") return
    if (drag && Math.abs(event.clientY - drag.y) > 5 && Math.max(...counts) > rows) drag.far = true
    if (drag?.far) {
      canvas.setPointerCapture(event.pointerId)
      const sides = drag.side === undefined ? [0, 1] : [drag.side]
      sides.forEach(side => part.tops[side] = drag.tops[side])
      return move(sides, (drag.y - event.clientY) / layout.step)
    }
    const { at = null, end } = under(event)
    canvas.style.cursor = at || end ? "pointer" : Math.max(...counts) > rows ? "grab" : "default"
    if (differ(at, memory.at)) look(at)
  }
  canvas.onpointerleave = () => { if (!drag?.far && memory.at) look(null) }
  canvas.onpointercancel = () => { drag = null }
  canvas.onpointerup = event => {
    const { at, side, end } = under(event), was = drag
    drag = null
    if (!was || was.far) return
    if (end && side !== undefined) return move([side], end * (rows - 4))
    if (at && !differ(at, was.at)) {
      memory.at = was.mouse ? at : null // a finger does not hover
      toggle(at)
    }
  }
  canvas.onkeydown = event => {
    /** @type {Point} */
    const start = [0, part.tops[0]]
    const at = memory.at, { key } = event
    const step = /** @type {ByKey<number>} */ ({ ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity })[key]
    if (step) walk(at ? [at[0], clamp(at[1] + step, 0, counts[at[0]] - 1)] : start)
    else if (key === "ArrowLeft" || key === "ArrowRight") {
      const side = key === "ArrowRight" ? 1 : 0
      walk(at ? [side, clamp(at[1], 0, counts[side] - 1)] : [side, part.tops[side]])
    } else if ((key === "Enter" || key === " ") && at) toggle(at)
    else if (key === "Escape" && at) look(null)
    else if (key === "Escape" && settings.tokens.length) change({ tokens: [] })
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  /** @param {Point} point */
  function walk([side, i]) {
    memory.at = [side, i]
    const top = part.tops[side]
    if (i < top || i >= top + rows) move([side], i < top ? i - top : i - top - rows + 1)
    else look(memory.at)
  }
  canvas.setAttribute("aria-label", `${header.about} Arrow keys walk the tokens, Enter selects.`)
  memory.height = (/** @type {number} */ side, /** @type {number} */ i) => height({ data, window: part, layout: memory.layout }, side, i)

  root.savePicture = (name, words = {}) => {
    look(null)
    const legend = data.heads ? settings.maps.map(m => ({ name: `head ${m + 1}`, colour: skin.heads[m % 8] })) : []
    save(root, name, { legend, foot: $(".foot").textContent, ...words }, { width: root.clientWidth, draw, sheet: () => canvas })
  }
  return watch(root, draw)
}
