/* A soft dictionary: keys and a query as points to drag, values to edit, a temperature; the server answers.

   payload, behind the header: float32 [key][4]: q·k, score, weight, weight × value.
   While something is moved, points stand where they were put, and numbers are the server's latest answer. In a file
   (`alone`) there is no server, and nothing can be moved. */

import { room, stretch, watch } from "../../pictures/canvas.js"
import { actOn, make, partsOf } from "../../pictures/elements.js"
import { save } from "../../pictures/files.js"
import { brief, file, fileWidth, mapping, paint } from "./dictionary_drawing.js"
import { clamp, contextOf, decimals, dress, floats, rounded } from "../../pictures/paint.js"

/** @type {Point[]} */
const FREE = [[-1, -1], [1, 1], [-1, 1], [1, -1]] // where a new key may stand

const BROADEST = 26 // the plane, in root fonts, where it does not fill the room
const PAUSE = 200 // ms without a key press, after which the page is told

/** @param {Picture<DictionaryHeader>} picture */
export default function ({ header, numbers, root, late, preview, commit, alone }) {
  const $ = partsOf(root)
  const memory = root._memory ??= { moving: false }
  const cells = floats(numbers)
  const weights = header.keys.map((_, i) => cells[4 * i + 2]), { names, most } = header, [low, high] = header.plane
  if ((!memory.moving && !late) || !memory.work) memory.work = {
    names: [...header.given], keys: header.keys.map(key => [...key]), values: [...header.values],
    query: [...header.asked], temperature: header.temperature,
  }
  /** @type {DictionaryScene["work"]} */
  const work = memory.work, written = (/** @type {number} */ value) => `${+value.toFixed(2)}`
  Object.assign(memory, { header, weights, answer: header.answerText })

  /** A point with its numbers, as it stands in the link.
   * @param {string} name @param {number[]} numbers */
  const entry = (name, ...numbers) => `${name && `${name}:`}${numbers.map(written).join(",")}`
  const wishes = {
    entries: () => ({ attention_entries: work.keys.map(([x, y], i) => entry(work.names[i], x, y, work.values[i])).join(" ") }),
    ask: () => ({ attention_ask: entry(header.askedName, ...work.query) }),
    temperature: () => ({ attention_temperature: work.temperature }),
  }
  /** @param {keyof typeof wishes} what */
  function move(what) {
    memory.moving = true
    clearTimeout(memory.pause)
    preview(wishes[what]())
  }
  /** Tell the page of what was moved: at once, or after a pause in which nothing else is moved. Each answer of the page brings
   * back the values that it was asked for, so telling it of each key press would undo the next one.
   * @param {keyof typeof wishes} what @param {number} [pause] */
  function commitAfter(what, pause = 0) {
    memory.wishes = { ...memory.wishes, ...wishes[what]() }
    clearTimeout(memory.pause)
    const tell = () => {
      memory.moving = false
      commit(memory.wishes)
      memory.wishes = null
    }
    if (pause) memory.pause = setTimeout(tell, pause)
    else tell()
  }

  /** Make or remove children of `parent` until there are `count` of them; returns them all, in order.
   * @param {HTMLElement} parent @param {string} selector @param {number} count @param {() => any} make */
  function fit(parent, selector, count, make) {
    const elements = [...parent.querySelectorAll(selector)]
    for (const element of elements.splice(count)) element.remove()
    while (elements.length < count) {
      elements.push(make())
      parent.append(elements[elements.length - 1])
    }
    return elements
  }
  const makeEntry = () => make(
    "div", { className: "entry" }, make("b"), make("div", { className: "bar" }, make("i")),
    make("span", { className: "weight" }), make("span", { className: "times", textContent: "×" }),
    make("input", { type: "number", step: 1 }), make("span", { className: "share" }),
    make("button", { className: "drop", textContent: "×" }), make("div", { className: "why" }),
  )

  /** @type {DictionaryScene} */
  let scene
  function draw() {
    const plane = $(".plane"), { high, fill } = room(root, root)
    const widest = fill ? root.clientWidth / 2 : BROADEST * parseFloat(getComputedStyle(document.documentElement).fontSize)
    plane.style.maxWidth = high < Infinity ? `${Math.min(high, widest)}px` : ""
    const side = plane.clientWidth
    if (!side) return // the picture is being removed from the page
    const canvas = root.querySelector("canvas"), skin = dress(root), { rem, family } = skin
    scene = { header, weights, work, rem, skin, family }
    canvas.style.width = side + "px" // at a width that is no whole number of pixels, the canvas would be blurred
    stretch(canvas, side, side, skin.paper)
    paint(contextOf(canvas), side, scene, false)
    place(side, rem)
    book()
  }

  /** @param {number} side @param {number} rem */
  function place(side, rem) {
    const { to, back } = mapping(side, header.plane, rem),
      what = (/** @type {number} */ i) => i < work.keys.length ? "entries" : "ask"
    const points = fit($(".plane"), ".point", work.keys.length + 1, () => make("button", { className: "point" }))
    points.forEach((point, i) => {
      const at = work.keys[i] ?? work.query, [x, y] = to(at), asks = what(i) === "ask"
      point.style.left = x + "px"
      point.style.top = y + "px"
      const name = asks ? header.askedName : names[i]
      point.classList.toggle("asks", asks)
      point.classList.toggle("word", name.length > 1)
      point.textContent = name || "q"
      point.ariaLabel = `${asks ? `query ${name}`.trim() : `key ${name}`} at ${brief(at[0])}, ${brief(at[1])}`
      point.disabled = Boolean(alone)
      /** @param {number} a @param {number} b */
      const movePoint = (a, b) => {
        const near = [a, b].map(n => clamp(+n.toFixed(2), low, high))
        if (near[0] === at[0] && near[1] === at[1]) return
        at.splice(0, 2, ...near)
        move(what(i))
        draw()
      }
      /** @param {Event} event */
      const release = event => { if (memory.moving) commitAfter(what(i), event.type === "keyup" ? PAUSE : 0) }
      point.onpointerdown = event => { if (!event.button) point.setPointerCapture(event.pointerId) }
      point.onpointermove = event => {
        if (!point.hasPointerCapture(event.pointerId)) return
        const box = $(".plane").getBoundingClientRect()
        const [a, b] = back(event.clientX - box.left, event.clientY - box.top)
        movePoint(a, b)
      }
      point.onlostpointercapture = point.onkeyup = point.onblur = release
      point.onkeydown = event => {
        const by = event.shiftKey ? 0.01 : 0.1, [a, b] = at
        actOn(event, {
          ArrowRight: () => movePoint(a + by, b), ArrowLeft: () => movePoint(a - by, b),
          ArrowUp: () => movePoint(a, b + by), ArrowDown: () => movePoint(a, b - by),
        })
      }
    })
  }

  /** @param {number} value */
  const signed = value => value < 0 ? `(${brief(value)})` : brief(value)
  /** @param {number} i */
  const why = i => `q·k = ${signed(header.asked[0])}×${signed(header.keys[i][0])} + ${signed(header.asked[1])}×${signed(header.keys[i][1])}` +
    ` = ${rounded(cells[4 * i], 2)}; ÷ (√2×${header.temperature}) = ${rounded(cells[4 * i + 1], 2)}`
  const answer = () => `answer = ${weights.map((_, i) => signed(cells[4 * i + 3])).join(" + ")} = ${header.answerText}`
  const hard = () => `Hard look-up: ${header.hardText}`

  function book() {
    const focused = root.getRootNode().activeElement, longest = Math.max(...names.map(name => name.length))
    $(".entries").classList.toggle("words", longest > 1)
    $(".entries").style.setProperty("--name", `${0.6 * longest + 0.65}em`)
    fit($(".entries"), ".entry", work.keys.length, makeEntry).forEach((row, i) => {
      /** @param {string} selector */
      const part = selector => row.querySelector(selector), value = part("input"), drop = part(".drop")
      part("b").textContent = names[i]
      part("i").style.cssText = `width: ${100 * (weights[i] ?? 0)}%; background: ${scene.skin.weights[10]}`
      part(".weight").textContent = decimals(weights[i] ?? 0, 4)
      part(".share").textContent = `= ${brief(cells[4 * i + 3] ?? 0)}`
      part(".why").textContent = i < weights.length ? why(i) : ""
      if (value !== focused || !memory.moving) value.value = written(work.values[i])
      Object.assign(value, { min: -most, max: most, ariaLabel: `value of key ${names[i]}`, disabled: alone })
      value.onkeydown = event => event.stopPropagation()
      value.oninput = () => {
        if (value.value === "") return
        work.values[i] = clamp(+value.value, -most, most)
        move("entries")
      }
      value.onchange = value.onblur = () => { // if what was typed is what had been there, the browser sends only the blur
        if (value.value === "") value.value = written(work.values[i])
        if (memory.moving) commitAfter("entries")
      }
      Object.assign(drop, { ariaLabel: `Remove key ${names[i]}`, title: `Remove key ${names[i]}`, disabled: alone || work.keys.length < 3 })
      drop.onclick = () => {
        work.names.splice(i, 1)
        work.keys.splice(i, 1)
        work.values.splice(i, 1)
        commitAfter("entries")
      }
    })
    const add = $(".add"), warm = $(".warm input")
    add.disabled = alone || work.keys.length === names.length
    add.onclick = () => {
      /** @param {Point} point */
      const taken = ([x, y]) => work.keys.some(key => Math.hypot(key[0] - x, key[1] - y) < 0.3)
      work.keys.push([...FREE.find(place => !taken(place)) ?? [0, 0]])
      work.values.push(10 * work.keys.length)
      work.names.push("")
      commitAfter("entries")
    }
    $(".warm b").textContent = String(header.temperature)
    if (!memory.moving) warm.value = String(Math.log10(work.temperature))
    warm.disabled = Boolean(alone)
    warm.ariaValueText = `${header.temperature}`
    warm.onkeydown = event => event.stopPropagation()
    warm.oninput = () => {
      work.temperature = clamp(+(10 ** Number(warm.value)).toPrecision(3), 0.05, 10)
      move("temperature")
    }
    warm.onchange = () => { if (memory.moving) commitAfter("temperature", PAUSE) }
    warm.onpointerup = warm.onblur = () => { if (memory.moving) commitAfter("temperature") }
    $(".answer").textContent = answer()
    $(".hard").textContent = hard()
    if (!memory.moving) $(".say").textContent = header.about
  }

  root.querySelector("canvas").setAttribute("aria-label", header.about)
  root.savePicture = (name, words = {}) => {
    const rows = weights.map((w, i) =>
      `${names[i]}   ${why(i)};   weight ${decimals(w, 4)} × ${brief(header.values[i])} = ${brief(cells[4 * i + 3])}`)
    const side = $(".plane").clientWidth, lines = [`temperature ${header.temperature}`, ...rows, answer(), hard()]
    save(root, name, words, { width: fileWidth(scene, side, lines), draw, sheet: () => file(scene, side, lines) })
  }
  return watch($(".plane"), draw)
}
