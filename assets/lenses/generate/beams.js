/* A beam search as a tree: the last steps before the one on screen, a row for each text that was followed. */

import { fitting, room, stretch, watch } from "../../pictures/canvas.js"
import { actOn, partsOf } from "../../pictures/elements.js"
import { save } from "../../pictures/files.js"
import { contextOf, dress, rounded } from "../../pictures/paint.js"
import { fillBox, stroke, write } from "../../pictures/pen.js"
import { isMoved, placeOf, replay, stepOf, told } from "../../pictures/replay.js"
import { label, tokenRow } from "./text_flow.js"

const STEP = "generate_step", ROW = 46, COLUMN = 104, HEAD = 30 // pixels at a root font of 16

/** @param {Picture<BeamsHeader>} picture */
export default function ({ header, root, local, commit }) {
  const memory = root._memory ??= { at: -1 }
  const $ = partsOf(root)
  const canvas = root.querySelector("canvas"), context = contextOf(canvas)
  const wished = Number(local[STEP] ?? 0), last = () => header.steps.length - 1
  if (isMoved(memory, wished)) memory.at = placeOf(wished)
  const at = () => Math.max(0, Math.min(memory.at, last()))
  const player = replay(root, { last, at, stand, rest: () => commit({ [STEP]: told(memory, stepOf(at(), last())) }) })
  const width = Math.max(1, ...header.steps.map(step => step.length))

  /** The beams of each step up to this one from which a beam of this step goes on. @param {number} step */
  function alive(step) {
    const sets = header.steps.map(() => new Set())
    header.steps[step].forEach((_, i) => sets[step].add(i))
    for (let s = step; s > 0; s--) for (const i of sets[s]) sets[s - 1].add(header.steps[s][i].parent)
    return sets
  }

  /** The best text after this step. @param {number} step */
  function best(step) {
    const tokens = []
    for (let s = step, beam = 0; s >= 0; s--) {
      tokens.unshift(header.steps[s][beam].piece)
      beam = header.steps[s][beam].parent
    }
    return tokens
  }

  function draw() {
    if (!root.clientWidth) return
    canvas.hidden = last() < 0
    $(".scrub").hidden = last() < 0
    if (last() < 0) return
    memory.skin = dress(root)
    const wide = canvas.parentElement?.clientWidth ?? 0, { high, fill } = room(root, canvas), { rem } = memory.skin
    const least = Math.ceil((HEAD + ROW * width + 8) * rem)
    stretch(canvas, wide, fitting(least, high, fill), memory.skin.paper)
    show()
  }

  /** @param {number} place */
  function stand(place) {
    memory.at = place
    show()
  }

  function show() {
    if (!memory.skin || last() < 0) return
    const now = at(), { rem, family, ink, muted, result, ring, paper, rule } = memory.skin
    const row = tokenRow({ title: "the best so far", prompt: header.prompt, tokens: best(now), pick: place => { player.stop(); stand(place) } })
    $(".texts").replaceChildren(row.element)
    row.stand(now, now)
    const columns = Math.max(2, Math.floor(canvas.clientWidth / (COLUMN * rem))), from = Math.max(0, now - columns + 1)
    const w = canvas.clientWidth / columns, top = HEAD * rem, h = (canvas.clientHeight - top - 8 * rem) / width, sets = alive(now)
    fillBox(context, paper, 0, 0, canvas.clientWidth, canvas.clientHeight)
    const middle = (/** @type {number} */ beam) => top + (beam + 0.5) * h
    for (let s = from; s <= now; s++) {
      const x = (s - from) * w
      write(context, `step ${s + 1}`, x + 8 * rem, top / 2, muted, "left", { font: `600 ${13 * rem}px ${family}` })
      header.steps[s].forEach((beam, i) => {
        const isAlive = sets[s].has(i), y = middle(i)
        context.globalAlpha = isAlive ? 1 : 0.35
        if (s > from) {
          context.beginPath()
          context.moveTo(x - 0.32 * w, middle(beam.parent))
          context.bezierCurveTo(x - 0.12 * w, middle(beam.parent), x - 0.2 * w, y, x + 4 * rem, y)
          stroke(context, isAlive ? result : rule, isAlive ? 2 : 1)
        }
        if (s === now && i === 0) fillBox(context, ring, x + 6 * rem, y - 18 * rem, w - 18 * rem, 36 * rem, 0.28)
        const font = `${isAlive ? 600 : 400} ${14 * rem}px ${family}`, room = w - 22 * rem
        write(context, label(beam.piece), x + 10 * rem, y - 8 * rem, ink, "left", { font, room })
        write(context, rounded(beam.score, 2), x + 10 * rem, y + 9 * rem, muted, "left", { font: `${13 * rem}px ${family}`, room })
        context.globalAlpha = 1
      })
    }
    const said = `The best of ${header.steps[now].length} texts has the sum ${rounded(header.steps[now][0].score, 2)}.`
    canvas.setAttribute("aria-label", said)
    player.say({ words: said })
  }

  canvas.onkeydown = event => actOn(event, { ArrowLeft: player.back, ArrowRight: player.on })
  root.savePicture = (file, words = { caption: header.about }) => save(root, file, words, { width: canvas.clientWidth, draw, sheet: () => canvas })
  return watch(root, draw)
}
