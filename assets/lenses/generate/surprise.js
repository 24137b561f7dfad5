/* A text, each token coloured by how surprising it is to the model; A beside B.

   payload, behind the header: float32 [token of A, then of B][bits, probability, rank, entropy, likeliest ..., their probabilities],
   NaN where a token has no probability. Texts are never read as HTML. */

import { room, watch } from "../../pictures/canvas.js"
import { partsOf } from "../../pictures/elements.js"
import { save } from "../../pictures/files.js"
import { clamp, dress, floats, palette } from "../../pictures/paint.js"
import { colour, detail, flowOf, inWords, poster, ratedAt } from "./surprise_parts.js"

const AT = "generate_at" // the link's parameter: the locked token, from 1, those of B counted on; 0 for none
const LITTLE = 240 // pixels at a root font of 16: in less room for the texts, what is told of a token takes fewer lines

/** @param {Picture<SurpriseHeader>} picture */
export default function ({ header, numbers: bytes, root, local, alone, commit }) {
  const memory = root._memory ??= {}, numbers = floats(bytes), { sides } = header
  const $ = partsOf(root)
  if (!sides.length) return
  const rated = sides.map((side, i) => side.tokens.map((_, place) => ratedAt(header, numbers, { side: i, place })))
  if (memory.text !== JSON.stringify(sides)) { // else the texts stay, and with them where they are scrolled to
    memory.text = JSON.stringify(sides)
    memory.flows = sides.map(flowOf)
    $(".sides").replaceChildren(...memory.flows.map((/** @type {SurpriseFlow} */ flow) => flow.element))
    $(".sides").classList.toggle("both", sides.length > 1)
  }
  const flows = /** @type {SurpriseFlow[]} */ (memory.flows)
  if (memory.wished !== local[AT]) {
    memory.wished = local[AT]
    memory.locked = alone ? null : placeOf(Number(local[AT] ?? 0))
  }
  if (memory.locked && !sides[memory.locked.side]?.tokens[memory.locked.place]) memory.locked = null
  const most = mostSurprising()
  /** @type {Skin} */
  let skin

  /** @param {number} number @returns {SurprisePlace | null} */
  function placeOf(number) {
    const ofA = sides[0].tokens.length
    if (!number) return null
    return number <= ofA ? { side: 0, place: number - 1 } : { side: 1, place: number - 1 - ofA }
  }

  /** @returns {SurprisePlace | null} */
  function mostSurprising() {
    const bits = rated[0].map(token => Number.isNaN(token.bits) ? -1 : token.bits)
    return bits.length ? { side: 0, place: bits.indexOf(Math.max(...bits)) } : null
  }

  /** The token, and the same token of the other side where both read the same. @param {SurprisePlace} at @returns {SurprisePlace[]} */
  const linked = ({ side, place }) => header.linked ? sides.map((_, i) => ({ side: i, place })) : [{ side, place }]

  function draw() {
    if (!root.clientWidth) return
    skin = dress(root)
    const table = palette(skin.weights)
    root.classList.remove("tight")
    root.classList.toggle("tight", room(root, $(".sides")).high < LITTLE * skin.rem) // so that more of the text is seen
    const { high, fill } = room(root, $(".sides"))
    $(".sides").style.minHeight = fill ? `${high}px` : ""
    const stacked = sides.length > 1 && root.clientWidth < 760 * skin.rem ? 2 : 1
    $(".sides").style.setProperty("--most", high === Infinity ? "26rem" : `${high / stacked}px`)
    flows.forEach((flow, i) => {
      colour(flow, rated[i], header.top, table)
      flow.text.setAttribute("aria-label", `${sides[i].title}. ${sides[i].tokens.length} tokens; arrow keys walk through them. ${header.about}`)
    })
    $(".legend i").style.background = `linear-gradient(to right, ${skin.weights.join(", ")})`
    $(".legend .high").textContent = `${header.topText} bits, the largest on screen`
    $(".legend .hint").textContent = header.hint
    tell(memory.hovered ?? memory.locked ?? most)
  }

  /** Mark the token that is told of, and tell of it. @param {SurprisePlace | null} at */
  function tell(at) {
    for (const { spans } of flows) for (const span of spans) span.classList.remove("now", "locked")
    const mark = (/** @type {SurprisePlace} */ place, /** @type {string} */ name) => flows[place.side].spans[place.place]?.classList.add(name)
    if (at) linked(at).forEach(place => mark(place, "now"))
    if (memory.locked) linked(memory.locked).forEach(place => mark(place, "locked"))
    memory.told = at
    $(".detail").replaceChildren(...at ? detail(header, at, told(at)) : [])
  }

  /** @param {SurprisePlace} at */
  const told = at => linked(at).map(({ side, place }) => ({ side: sides[side], rated: rated[side][place] }))

  /** @param {SurprisePlace | null} at */
  function lock(at) {
    const isSame = at && memory.locked && at.place === memory.locked.place && at.side === memory.locked.side
    memory.locked = isSame ? null : at
    memory.wished = memory.locked ? memory.locked.place + 1 + memory.locked.side * sides[0].tokens.length : 0
    tell(memory.locked ?? memory.hovered ?? most)
    commit({ [AT]: memory.wished })
  }

  flows.forEach(({ text, spans }, side) => {
    /** @param {Event} event @returns {SurprisePlace | null} */
    const under = event => {
      const { place } = /** @type {HTMLElement} */ (event.target).dataset
      return place === undefined ? null : { side, place: Number(place) }
    }
    text.onpointerover = event => {
      const at = under(event)
      if (at && event.pointerType !== "touch") tell(memory.hovered = at)
    }
    text.onpointerleave = () => { memory.hovered = null; tell(memory.locked ?? most) }
    text.onclick = event => { const at = under(event); if (at) lock(at) }
    text.onkeydown = event => {
      const now = memory.told?.side === side ? memory.told.place : -1, last = spans.length - 1
      /** @type {ByKey<number>} */
      const to = { ArrowLeft: now - 1, ArrowRight: now + 1, ArrowUp: beside(spans, now, -1), ArrowDown: beside(spans, now, 1), Home: 0, End: last }
      if (event.key === "Enter" || event.key === " ") lock(memory.told)
      else if (event.key === "Escape") { memory.hovered = null; lock(null) }
      else if (to[event.key] !== undefined && last >= 0) {
        const at = memory.hovered = { side, place: clamp(/** @type {number} */ (to[event.key]), 0, last) }
        tell(at)
        spans[at.place].scrollIntoView({ block: "nearest" })
        $(".say").textContent = inWords(header, at, told(at))
      } else return
      event.preventDefault()
      event.stopPropagation() // the page has keys of its own
    }
    text.onblur = () => { memory.hovered = null; tell(memory.locked ?? most) }
  })

  root.savePicture = (file, words = { caption: header.about }) => {
    root.classList.add("whole")
    save(root, file, words, { width: root.clientWidth, draw: () => {}, sheet: () => poster(root, skin) })
    root.classList.remove("whole")
  }
  return watch(root, draw)
}

/** The token above or below another: on the nearest line that way, the one that is nearest across.
 * @param {HTMLElement[]} spans @param {number} now @param {number} way */
function beside(spans, now, way) {
  if (now < 0) return 0
  const here = spans[now].getBoundingClientRect()
  let best = now, least = Infinity
  for (let place = now + way; place >= 0 && place < spans.length; place += way) {
    const { left, top, height } = spans[place].getBoundingClientRect(), lines = Math.abs(top - here.top) / height
    if (lines < .5) continue
    const far = 1000 * Math.round(lines) + Math.abs(left - here.left) / 10
    if (far > least + 1000) break
    if (far < least) [best, least] = [place, far]
  }
  return best
}
