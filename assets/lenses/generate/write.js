/* A text as it is written, and how the token of the step on screen was chosen.

   numbers: float32, of each text each step, as tfm_ui/lenses/generate/write/text.py writes them.
   Steps need no server: all of them are here. A token that the reader puts in place of another does. */

import { fitting, keep, placeTip, room, stretch, watch } from "../../pictures/canvas.js"
import { actOn, partsOf } from "../../pictures/elements.js"
import { save } from "../../pictures/files.js"
import { contextOf, dress, floats } from "../../pictures/paint.js"
import { fillBox } from "../../pictures/pen.js"
import { isMoved, placeOf, replay, stepOf, told } from "../../pictures/replay.js"
import { tokenRow } from "./text_flow.js"
import { heightOf, inWords, paintStep, rowAt, rowBox } from "./write_drawing.js"

const STEP = "generate_step", FORCED = "generate_forced"
const FILTERS = ["", "top-k", "top-p", "min-p"]
const OF_STEP = 9, OF_ROW = 5

/** @param {Picture<WriteHeader>} picture */
export default function ({ header, numbers, root, local, commit }) {
  const memory = root._memory ??= { at: -1, text: 0 }
  const $ = partsOf(root)
  const canvas = root.querySelector("canvas"), tip = $(".tip"), rest = () => commit({ [STEP]: told(memory, stepOf(at(), last())) })
  const context = contextOf(canvas), all = floats(numbers), stride = OF_STEP + header.rows * OF_ROW
  const wished = Number(local[STEP] ?? 0)
  memory.text = Math.min(memory.text, header.texts.length - 1)
  const written = () => header.texts[memory.text], last = () => written().tokens.length - 1
  const begins = header.texts.map((_, i) => header.texts.slice(0, i).reduce((sum, text) => sum + text.tokens.length, 0))
  if (isMoved(memory, wished)) memory.at = placeOf(wished)
  /** @type {ReturnType<typeof tokenRow>[]} */
  let rows = []
  let lit = -1, restore = () => {}
  /** @type {WriteScene | undefined} */
  let scene

  const at = () => Math.max(0, Math.min(memory.at, last()))

  const player = replay(root, { last, at, stand, rest })

  /** @returns {WriteStep} */
  function step() {
    const text = written(), from = (begins[memory.text] + at()) * stride, row = all.subarray(from, from + stride)
    const candidates = Array.from({ length: header.rows }, (_, i) => {
      const [id, logit, share, final, cut] = row.subarray(OF_STEP + i * OF_ROW, OF_STEP + (i + 1) * OF_ROW)
      const rank = i === header.rows - 1 && row[3] >= i ? row[3] : i
      return { id, piece: header.pieces[id], logit, share, final, cut: FILTERS[cut], rank }
    }).filter(({ id }) => id >= 0)
    return {
      number: row[0], begin: row[1], end: row[2], rank: row[3], left: [row[4], row[5], row[6]], share: row[7], final: row[8],
      candidates, token: text.ids[at()], forced: text.forced[at()],
    }
  }

  function build() {
    const both = header.texts.length > 1
    rows = header.texts.map((text, number) => tokenRow({
      title: both ? (number ? "without it" : "with the token put there") : "",
      prompt: header.prompt,
      tokens: text.tokens,
      forced: text.forced,
      begins: text.begins,
      parts: header.parts,
      pick: place => { player.stop(); memory.text = number; stand(place); rest() },
    }))
    const old = $(".texts")
    old.replaceChildren(...rows.map(row => row.element))
    old.classList.toggle("both", both)
  }

  function draw() {
    if (!root.clientWidth) return
    const skin = dress(root), empty = last() < 0
    canvas.hidden = empty
    $(".scrub").hidden = empty
    if (empty) return
    const width = canvas.parentElement?.clientWidth ?? 0, { high, fill } = room(root, canvas)
    stretch(canvas, width, fitting(heightOf(skin, step(), width), high, fill), skin.paper)
    memory.skin = skin
    show()
  }

  function show() {
    if (last() < 0 || !memory.skin) return
    const now = step()
    rows.forEach((row, number) => row.stand(number === memory.text ? at() : -1, at()))
    player.say({ words: inWords(header, now) })
    $(".undo").hidden = !header.put.length
    scene = memory.scene = { context, header, skin: memory.skin, step: now, width: canvas.clientWidth, lit }
    fillBox(context, memory.skin.paper, 0, 0, canvas.clientWidth, canvas.clientHeight)
    paintStep(scene, canvas.clientHeight)
    restore = keep(canvas)
    canvas.setAttribute("aria-label", inWords(header, now))
  }

  /** @param {number} place */
  function stand(place) {
    memory.at = place
    lit = -1
    show()
  }
  /** Put a candidate in place of the token of this step: what was put at later steps goes. @param {Candidate} candidate */
  function put({ id }) {
    const earlier = (memory.text ? header.put.slice(0, -1) : header.put).filter(([step]) => step < at() + 1)
    player.stop()
    memory.text = 0
    commit({ [FORCED]: [...earlier, [at() + 1, id]].map(pair => pair.join(".")).join(" "), [STEP]: told(memory, at() + 1) })
  }

  $(".undo").onclick = () => {
    memory.text = 0
    commit({ [FORCED]: header.put.slice(0, -1).map(pair => pair.join(".")).join(" ") })
  }
  /** @param {number} row */
  function light(row) {
    if (!scene) return
    lit = row
    restore()
    tip.hidden = row < 0
    if (row < 0) return
    paintStep({ ...scene, lit }, canvas.clientHeight)
    const candidate = scene.step.candidates[row]
    const isIt = candidate.id === scene.step.token
    tip.textContent = `“${candidate.piece}”, token ${candidate.id}, rank ${candidate.rank + 1}: ${inWords(header, scene.step, candidate)}`
      + (isIt ? "" : `\n${matchMedia("(pointer: coarse)").matches ? "Tap again" : "Click, or press Enter,"} to put it here.`)
    placeTip(tip, rowBox(scene, row, canvas.clientHeight), canvas.clientWidth, canvas.offsetTop)
    $(".say").textContent = tip.textContent
  }
  canvas.onpointermove = event => { if (event.pointerType === "mouse") light(rowAt(scene, event, canvas)) }
  canvas.onpointerleave = event => { if (event.pointerType === "mouse") light(-1) } // a finger leaves before its click
  canvas.onblur = () => light(-1)
  canvas.onclick = event => {
    const row = rowAt(scene, event, canvas)
    if (row < 0 || !scene) return
    const isTouch = /** @type {PointerEvent} */ (event).pointerType === "touch"
    if (isTouch && lit !== row) return light(row) // the first tap reads
    if (scene.step.candidates[row].id !== scene.step.token) put(scene.step.candidates[row])
  }
  canvas.onkeydown = event => {
    const count = scene?.step.candidates.length ?? 0
    actOn(event, {
      ArrowDown: () => light(Math.min(count - 1, lit + 1)),
      ArrowUp: () => light(Math.max(0, lit - 1)),
      ArrowLeft: player.back,
      ArrowRight: player.on,
      Escape: () => light(-1),
      Enter: () => { if (scene && lit >= 0 && scene.step.candidates[lit].id !== scene.step.token) put(scene.step.candidates[lit]) },
    })
  }

  root.savePicture = (file, words = { caption: header.about }) => {
    if (last() >= 0) save(root, file, words, { width: canvas.clientWidth, draw, sheet: () => canvas })
  }

  build()
  return watch(root, draw, () => light(-1))
}
