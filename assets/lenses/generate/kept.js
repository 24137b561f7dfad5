/* What the key-value cache stores, step by step.

   payload, behind the header: float32, of each context its keys and then its values, [token][width].
   The slider needs no server: all that is stored by the last step is here, and a step shows as many rows as there were. */

import { keep, placeTip, room, stretch, tell, watch } from "../../pictures/canvas.js"
import { save } from "../../pictures/files.js"
import { clamp, contextOf, dress, floats, grouped } from "../../pictures/paint.js"
import { boxOf, imagesOf, layOut, lightUp, paint, read, under } from "./kept_drawing.js"
import { isMoved, replay, stepOf, told } from "../../pictures/replay.js"

const STEP = "generate_step" // the link's parameter; 0 is the last step

/** @param {Picture<KeptHeader>} picture */
export default function ({ header, numbers: bytes, root, local, alone, commit }) {
  const memory = root._memory ??= { at: -1 }
  const canvas = root.querySelector("canvas"), context = contextOf(canvas), numbers = floats(bytes)
  const tip = /** @type {HTMLElement} */ (root.querySelector(".tip")), say = root.querySelector(".say")
  const count = header.steps.length, wished = Number(local[STEP] ?? 0)
  const isNew = isMoved(memory, wished) || memory.query !== header.query
  if (isNew) memory.at = wished && !alone ? wished - 1 : count - 1
  memory.at = clamp(memory.at, 0, Math.max(0, count - 1))
  Object.assign(memory, { query: header.query })
  const player = replay(root, { last: () => count - 1, at: () => memory.at, stand, rest })
  /** @type {KeptScene} */
  let scene
  let restore = () => {}

  function draw() {
    if (!root.clientWidth) return
    const skin = dress(root)
    root.querySelector(".scrub").hidden = count < 2
    const layout = layOut(header, root.clientWidth, skin, room(root, canvas), context)
    stretch(canvas, root.clientWidth, layout.height, skin.paper)
    scene = { context, header, numbers, skin, layout, images: imagesOf(header, numbers, skin), at: memory.at }
    show()
  }

  function show() {
    const { at } = memory, step = header.steps[at]
    if (!scene || !step) return
    scene.at = at
    tip.hidden = true
    paint(scene)
    restore = keep(canvas)
    const words = [`step ${at + 1} of ${count}`, `${grouped(step.rows)} token${step.rows > 1 ? "s" : ""} stored`, isAnew(at)]
    const product = `2 × ${header.layers} × ${header.width} × ${step.rows} × ${header.number} = ${grouped(step.bytes)} bytes`
    const text = [...words, `${product}, ${step.short}`].filter(Boolean).join(" · ")
    player.say({ text })
    canvas.setAttribute("aria-label", `${header.about} On screen: ${text}.`)
  }

  /** Whether the context was full at a step, so that its newer part was read anew. @param {number} at */
  function isAnew(at) {
    const { part } = header.steps[at]
    return at && part !== header.steps[at - 1].part ? `context full: read anew from token ${header.parts[part].begin + 1} on` : ""
  }

  /** @param {number} at */
  function stand(at) {
    memory.at = clamp(at, 0, count - 1)
    tell(tip, "") // what was read is of another step
    show()
  }
  function rest() {
    commit({ [STEP]: told(memory, stepOf(memory.at, count - 1)) })
  }

  /** Read a cell, or none. @param {KeptCell | null} cell */
  function look(cell) {
    restore()
    memory.cell = cell
    tip.hidden = !cell
    if (!cell) return
    lightUp(scene, cell)
    tell(tip, read(scene, cell))
    placeTip(tip, boxOf(scene, cell), canvas.clientWidth, canvas.offsetTop)
  }
  canvas.onpointermove = canvas.onpointerdown = event => scene && look(under(scene, event.offsetX, event.offsetY))
  canvas.onpointerleave = () => scene && look(null)
  canvas.onkeydown = event => {
    const step = header.steps[memory.at], { side = 0, row = 0, column = 0 } = memory.cell ?? {}, all = 2 * header.width
    const over = side * header.width + column
    /** @type {ByKey<Point>} */
    const keys = {
      ArrowLeft: [row, over - 1], ArrowRight: [row, over + 1], ArrowUp: [row - 1, over], ArrowDown: [row + 1, over],
      Home: [row, 0], End: [row, all - 1],
    }
    if (event.key === "Escape") return look(null)
    const to = keys[event.key]
    if (!to || !step || !scene) return
    event.preventDefault()
    event.stopPropagation()
    const place = memory.cell ? clamp(to[1], 0, all - 1) : 0
    look({ side: Math.floor(place / header.width), row: memory.cell ? clamp(to[0], 0, step.rows - 1) : 0, column: place % header.width })
    say.textContent = tip.textContent
  }

  root.savePicture = (file, words = { caption: header.about }) =>
    save(root, file, words, { width: canvas.clientWidth, draw, sheet: () => canvas })
  tell(tip, "")
  return watch(root, draw, () => { tip.hidden = true })
}
