/* Where every head looked when the token on screen was written: text, arcs, heads and distribution move together.

   numbers: float32, of each step (layer, head, key): keys from the first token of the step's context to the last before it. */

import { fitting, keep, placeTip, room, stretch, tell, watch } from "../../pictures/canvas.js"
import { actOn, partsOf } from "../../pictures/elements.js"
import { save } from "../../pictures/files.js"
import { contextOf, decimals, dress, floats, ink, palette } from "../../pictures/paint.js"
import { fillBox } from "../../pictures/pen.js"
import { cellAt, heightOf, paintLook } from "./look_drawing.js"
import { isMoved, placeOf, replay, stepOf, told } from "../../pictures/replay.js"
import { label, tokenRow } from "./text_flow.js"

const STEP = "generate_step", LAYER = "generate_layer", HEAD = "generate_head"

/** @param {Picture<LookHeader>} picture */
export default function ({ header, numbers, root, local, commit }) {
  const memory = root._memory ??= { at: -1 }
  const $ = partsOf(root)
  const canvas = root.querySelector("canvas"), context = contextOf(canvas), tip = $(".tip")
  const all = floats(numbers), count = header.layers * header.heads, last = () => header.tokens.length - 1
  const keysAt = header.begins.map((begin, step) => header.prompt.length + step - begin)
  const from = keysAt.map((_, step) => count * keysAt.slice(0, step).reduce((sum, keys) => sum + keys, 0))
  const wished = Number(local[STEP] ?? 0)
  if (isMoved(memory, wished)) memory.at = placeOf(wished)
  const at = () => Math.max(0, Math.min(memory.at, last()))
  const player = replay(root, { last, at, stand, rest: () => commit({ [STEP]: told(memory, stepOf(at(), last())) }) })
  const text = [...header.prompt, ...header.tokens]
  const row = tokenRow({ ...header, pick: place => { player.stop(); stand(place); commit({ [STEP]: told(memory, stepOf(place, last())) }) } })
  $(".texts").replaceChildren(row.element)
  let restore = () => {}
  /** @type {LookScene | undefined} */
  let scene

  function draw() {
    if (!root.clientWidth) return
    const isEmpty = last() < 0
    canvas.hidden = isEmpty
    $(".scrub").hidden = isEmpty
    if (isEmpty) return
    memory.skin = dress(root)
    const width = canvas.parentElement?.clientWidth ?? 0
    const { high, fill } = room(root, canvas)
    stretch(canvas, width, fitting(heightOf(memory.skin, header, width), high, fill, 0.48), memory.skin.paper)
    show()
  }

  function show() {
    const { skin } = memory
    if (!skin || last() < 0) return
    const now = at(), keys = keysAt[now], table = palette(skin.weights), begin = header.begins[now]
    scene = { context, header, skin, table, weights: all.subarray(from[now], from[now] + count * keys), keys, begin, at: now }
    const [layer, head] = header.picked, first = (layer * header.heads + head) * keys
    const chosen = scene.weights.subarray(first, first + keys)
    row.stand(now, now)
    row.paint(place => {
      if (place < begin || place >= begin + keys) return undefined
      const paper = table[Math.round(255 * Math.min(1, chosen[place - begin] / header.largest))]
      return { paper, ink: ink(paper) }
    })
    fillBox(context, skin.paper, 0, 0, canvas.clientWidth, canvas.clientHeight)
    paintLook(scene, canvas)
    restore = keep(canvas)
    const most = chosen.reduce((best, weight, key) => weight > chosen[best] ? key : best, 0)
    const said = `“${label(header.tokens[now])}” was written at “${label(text[begin + keys - 1])}”; head ${head + 1} of layer ${layer + 1} `
      + `looked most at “${label(text[begin + most])}”, with ${decimals(chosen[most], 2)}`
    canvas.setAttribute("aria-label", said)
    player.say({ words: said })
  }

  /** @param {number} place */
  function stand(place) {
    memory.at = place
    tell(tip, "") // what was read is of another token
    show()
  }

  canvas.onpointermove = canvas.onpointerdown = event => {
    const cell = scene && cellAt(scene, event, canvas)
    restore()
    tip.hidden = !cell || !scene
    if (!cell || !scene) return
    const { layer, head, key, box } = cell, weight = scene.weights[(layer * header.heads + head) * scene.keys + key]
    const place = scene.begin + key
    tell(tip, `layer ${layer + 1}, head ${head + 1}: ${decimals(weight, 4)} to “${label(text[place])}”, token ${place + 1}`)
    placeTip(tip, box, canvas.clientWidth, canvas.offsetTop)
  }
  canvas.onpointerleave = () => { restore(); tip.hidden = true }
  canvas.onclick = event => {
    const cell = scene && cellAt(scene, event, canvas)
    if (cell) commit({ [LAYER]: cell.layer + 1, [HEAD]: cell.head + 1 })
  }
  canvas.onkeydown = event => {
    const [layer, head] = header.picked, number = layer * header.heads + head
    const choose = (/** @type {number} */ other) => {
      if (other >= 0 && other < count) commit({ [LAYER]: Math.floor(other / header.heads) + 1, [HEAD]: other % header.heads + 1 })
    }
    actOn(event, {
      ArrowLeft: player.back, ArrowRight: player.on, ArrowUp: () => choose(number - 1), ArrowDown: () => choose(number + 1),
    })
  }
  root.savePicture = (file, words = { caption: header.about }) => {
    if (last() >= 0) save(root, file, words, { width: canvas.clientWidth, draw, sheet: () => canvas })
  }
  tell(tip, "")
  return watch(root, draw, () => { tip.hidden = true })
}
