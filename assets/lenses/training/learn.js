/* A run of training: its curves, and the maps of all heads at the step that the slider stands at.

   payload, behind the header: float32 [snapshot][row][head][query][key], the weights.
   The slider needs no server: all snapshots are here. As long as there is more to come, the picture asks for it by itself, so
   that nobody's page has to be run. */

import { picture } from "../../pictures/ask.js"
import { isTouched, keep, placeTip, room, stretch, tell, watch } from "../../pictures/canvas.js"
import { config, saveChart } from "../../pictures/chart_files.js"
import { arranged } from "../../pictures/chart_lines.js"
import { dressed } from "../../pictures/chart_look.js"
import { make, partsOf } from "../../pictures/elements.js"
import { save } from "../../pictures/files.js"
import { contextOf, decode, dress, floats, palette } from "../../pictures/paint.js"
import { fillBox } from "../../pictures/pen.js"
import { isHere, plotlyFor, styled } from "../../pictures/plotly.js"
import { replay } from "../../pictures/replay.js"
import { layOutBeside, lightUp, paintMaps, under } from "./learn_drawing.js"

const SOON = 400, NOW_AND_THEN = 2500 // ms between two questions: while it is under way, and while nobody trains it
const AFTER_A_PRESS = 200 // ms: it may have been the button that trains
const FRAME = 160 // ms for which a snapshot stays while the run is played
const STEP = "training_step", LAST = 20_000 // the link's parameter, and its default, which is the last snapshot

/** @param {Picture<LearnHeader>} drawn */
export default function (drawn) {
  return unfold(drawn)
}

/** The lower one of two charts alone, in little room: what the upper one says stands beside the slider, too.
 * @param {{ data: any[], layout: any }} figure @param {boolean} isLow */
function onlyLower(figure, isLow) {
  if (!isLow) return figure
  const gone = new Set(["xaxis", "yaxis"]), layout = Object.fromEntries(Object.entries(figure.layout).filter(([name]) => !gone.has(name)))
  const across = { ...layout.xaxis2, matches: undefined }
  const of = (/** @type {any[] | undefined} */ parts) => (parts ?? []).filter(part => String(part.xref).startsWith("x2"))
  const data = figure.data.filter(trace => trace.xaxis === "x2").map(trace => ({ ...trace, showlegend: Boolean(trace.name) }))
  return { data, layout: { ...layout, xaxis2: across, annotations: of(layout.annotations), shapes: of(layout.shapes) } }
}

/** The charts without names at the ends of lines, which the legend has: so both are equally wide, and the same step stands
 * below itself.
 * @param {{ data: any[], layout: any }} figure */
const unnamed = ({ data, layout }) => ({ data: data.map(trace => ({ ...trace, meta: undefined })), layout })

/** Draw it; returns how to stop what goes on.
 * @param {Picture<LearnHeader>} drawn */
function unfold(drawn) {
  const { root, local, alone, commit, settling } = drawn
  const memory = root._memory ??= { hidden: new Set(), at: -1 }
  const newest = memory.asked
  // The page draws what it had for a link that differs in nothing drawn here: it may be older than what was asked for.
  const isOfThis = newest && (newest.header.query === drawn.header.query || newest.instead === drawn.numbers)
  /** @type {Content<LearnHeader>} */
  const { header, numbers } = isOfThis && newest.header.done >= drawn.header.done ? newest : drawn
  const name = /** @type {any} */ (drawn).data?.name
  const $ = partsOf(root)
  const plot = /** @type {PlotElement} */ (/** @type {HTMLElement} */ ($(".plot"))), canvas = root.querySelector("canvas")
  const tip = $(".tip"), context = contextOf(canvas), all = floats(numbers), last = header.snapshots.length - 1
  const each = last < 0 ? 0 : all.length / header.snapshots.length
  const other = memory.query !== header.query
  const stood = memory.header ? memory.at >= memory.header.snapshots.length - 1 : true
  if (other) tell(tip, "")
  if (other || memory.linked !== local[STEP]) memory.wished = Number(local[STEP] ?? LAST)
  memory.linked = local[STEP]
  // It follows the newest until somebody has gone back; and a step that the link names, until there is as much of the run.
  if (other || stood) memory.at = memory.wished >= LAST ? last : nearest(memory.wished)
  memory.at = Math.min(Math.max(memory.at, 0), last)
  Object.assign(memory, { header, query: header.query })
  const player = replay(root, { last: () => last, at: () => memory.at, stand, rest, each: FRAME })
  /** @type {LearnScene} */
  let scene
  let restore = () => {}

  /** @param {number} step */
  function nearest(step) {
    return header.snapshots.reduce((best, other, i) => Math.abs(other - step) < Math.abs(header.snapshots[best] - step) ? i : best, Math.max(last, 0))
  }

  function draw() {
    if (!root.clientWidth) return
    const skin = dress(root), bare = !header.rows.length || last < 0
    $(".sides").classList.toggle("bare", bare)
    $(".maps").hidden = bare
    $(".scrub").hidden = last < 1
    $(".play").hidden = last < 1
    const space = room(root, $(".sides")), narrow = root.clientWidth < 620
    const high = narrow ? Infinity : space.high
    if (!bare) {
      const example = $(".example")
      write(example)
      memory.layout = layOutBeside($(".maps"), example, context, header, skin, { high, fill: space.fill })
      stretch(canvas, memory.layout.width, memory.layout.height, skin.paper)
    }
    memory.skin = skin
    curves({ high: high === Infinity ? (narrow ? 520 : 460) * skin.rem : high, fill: space.fill })
    show()
  }

  /** @param {Room} space */
  function curves(space) {
    if (!isHere()) return
    const skin = memory.skin, both = dressed(unnamed(header.figure), skin), wide = Math.min($(".curves").clientWidth, 559 * skin.rem)
    // One above the other: so they share the line that shows the step.
    const inPlace = (/** @type {typeof both} */ figure) => arranged(figure, wide, skin, space, memory.hidden)
    const figure = onlyLower(both, inPlace(both).height > space.high), placed = inPlace(figure)
    plot.style.height = `${placed.height}px`
    if (isTouched) placed.dragmode = false
    memory.placed = placed
    Plotly.react(plot, figure.data, { ...placed, width: $(".curves").clientWidth, shapes: [...placed.shapes ?? [], ...cursor()] }, config())
    if (memory.isReady) return
    memory.isReady = true
    styled(plot)
    plot.on("plotly_click", event => memory.go(event.points[0].x))
  }

  /** The line at the step on screen, in both charts. */
  function cursor() {
    if (last < 1) return []
    const x = header.snapshots[memory.at], line = { color: memory.skin.ink, width: 1.5, dash: "dot" }
    const axes = ["", "2"].filter(which => `xaxis${which}` in memory.placed)
    return axes.map(which => ({ type: "line", x0: x, x1: x, xref: `x${which}`, y0: 0, y1: 1, yref: `y${which} domain`, line }))
  }

  /** What depends on the step on screen alone. */
  function show() {
    if (last < 0) return
    const { at, skin } = memory, step = header.snapshots[at], told = header.told[at]
    const words = [`step ${step} of ${header.steps}`, told].filter(Boolean)
    player.say({ text: words.join(" · "), spoken: words.join(", ") })
    if (isHere() && memory.isReady) Plotly.relayout(plot, { shapes: [...memory.placed?.shapes ?? [], ...cursor()] })
    if (!header.rows.length) return
    scene = { context, header, weights: memory.weights(at), skin, table: palette(skin.weights), places: memory.layout.places, at }
    fillBox(context, skin.paper, 0, 0, canvas.clientWidth, memory.layout.height)
    paintMaps(scene, memory.layout)
    restore = keep(canvas)
    write($(".example"))
    canvas.setAttribute("aria-label", `${header.about} Attention of ${header.rows.map(row => row.name).join(", ")} at step ${step}.`)
  }

  /** What it reads, what it says at this step, and what is right.
   * @param {HTMLElement} place */
  function write(place) {
    const said = header.said[memory.at] ?? []
    /** @type {[string, string[], boolean][]} */
    const lines = [
      ["reads", header.source, false],
      ["says", said.map((/** @type {string} */ token, /** @type {number} */ i) => header.asked[i] ? token : ""), true],
      ["right", header.asked, false],
    ]
    const longest = Math.max(...[...header.source, ...header.asked].map(token => token.length))
    place.style.setProperty("--wide", `${Math.max(1.1, 0.66 * longest + 0.3)}em`)
    place.replaceChildren(...lines.map(([title, tokens, isSaid]) => {
      /** @param {string} token @param {number} i */
      const isWrong = (token, i) => isSaid && header.asked[i] && token !== header.asked[i]
      const words = tokens.map((token, i) => make("span", { textContent: token, className: isWrong(token, i) ? "wrong" : "" }))
      return make("div", {}, make("b", { textContent: title }), ...words)
    }))
  }

  /** @param {number} at */
  function stand(at) {
    memory.at = Math.min(Math.max(at, 0), last)
    show()
  }
  function rest() {
    memory.wished = memory.at >= last ? LAST : header.snapshots[memory.at]
    commit({ [STEP]: memory.wished })
  }
  memory.go = (/** @type {number} */ step) => { player.stop(); stand(nearest(step)); rest() }

  /** @param {number} at */
  const weightsOf = at => all.subarray(at * each, (at + 1) * each)
  Object.assign(memory, { draw, weights: weightsOf })

  canvas.onpointermove = canvas.onpointerdown = event => {
    const place = scene && under(scene, event, canvas)
    restore()
    tip.hidden = !place
    if (!place) return
    lightUp(scene, place)
    tell(tip, place.words)
    placeTip(tip, place.box, canvas.clientWidth, canvas.offsetTop)
    tip.style.left = `${parseFloat(tip.style.left) + canvas.offsetLeft}px`
  }
  canvas.onpointerleave = () => { restore(); tip.hidden = true }

  root.savePicture = (file, words = { caption: header.about }) => {
    if (!header.rows.length || last < 0) return saveChart(root, plot, file, { ...words, foot: header.foot })
    save(root, file, words, { width: canvas.clientWidth, draw, sheet: () => canvas })
  }

  if (!isHere()) settling(plotlyFor(root).then(() => memory.draw()))
  clearTimeout(memory.timer)
  if (!header.complete && !alone) memory.timer = setTimeout(ask, header.live ? SOON : NOW_AND_THEN)
  async function ask() {
    if (!root.isConnected || document.hidden) {
      if (root.isConnected) memory.timer = setTimeout(ask, NOW_AND_THEN)
      return
    }
    const answer = await picture(name, header.query)
    if (!root.isConnected || memory.query !== header.query) return
    if ("problem" in answer) { memory.timer = setTimeout(ask, NOW_AND_THEN); return }
    const [newer, more] = decode(answer.bytes)
    if (newer.problem || newer.query !== header.query) { memory.timer = setTimeout(ask, NOW_AND_THEN); return }
    memory.asked = { header: newer, numbers: more, instead: drawn.numbers }
    memory.again()
  }
  memory.again = () => { memory.leave?.(); unfold(drawn) }
  const pressed = () => {
    if (header.complete || header.live || alone) return
    clearTimeout(memory.timer)
    memory.timer = setTimeout(ask, AFTER_A_PRESS)
  }
  addEventListener("click", pressed, { capture: true, passive: true })
  const unwatch = watch(root, () => memory.draw(), () => { tip.hidden = true })
  memory.leave = () => {
    unwatch()
    clearTimeout(memory.timer)
    removeEventListener("click", pressed, { capture: true })
  }
  return () => memory.leave()
}
