/* A few named shares as horizontal bars; and a dotted line to compare them with, if there is a reference.

   payload, behind the header: float32 [bar], the shares. User text reaches the page through fillText alone. */

import { save, stretch, watch } from "./canvas.js"
import { contextOf, dress, floats } from "./paint.js"

/** @param {number} share @param {number} digits */
const percent = (share, digits) => `${(share * 100).toFixed(digits)}%`

/** A share beside its value, with two digits.
 * @param {number} share */
const brief = share => percent(share, share < 0.0995 ? 1 : 0)

/** @param {Picture<BarsHeader>} picture */
export default function ({ header, numbers, root }) {
  const memory = root._memory ??= {}
  const shares = floats(numbers)
  const { names, reference, values, gap } = header
  const said = Array.from(shares, (share, i) =>
    Number.isNaN(share) ? gap : !values.length ? percent(share, 2) : share ? `${values[i]}  ${brief(share)}` : values[i])
  const canvas = root.querySelector("canvas"), context = contextOf(canvas)
  /** @type {Skin} */
  let skin
  Object.assign(memory, { header, shares })

  function draw() {
    const width = root.clientWidth
    if (!width) return // the picture is being removed from the page
    skin = dress(root, header.skin)
    const { rem, family } = skin, line = 40 * rem
    const height = line * names.length + 30 * rem
    stretch(canvas, width, height, skin.paper)
    context.font = `${15 * rem}px ${family}`
    context.textBaseline = "middle"
    /** @param {string[]} texts */
    const widest = texts => Math.max(0, ...texts.map(text => context.measureText(text).width))
    const left = Math.min(widest(names) + 10, width * 0.4)
    const room = width - left - widest(values.length ? said : [percent(1, 2)]) - 12
    const full = Math.max(reference ?? 0, ...shares.filter(share => share > 0)) || 1,
      x = (/** @type {number} */ share) => left + share / full * room
    scale(skin, x, full, height)
    names.forEach((name, i) => {
      const middle = (i + 0.5) * line
      context.fillStyle = skin.ink
      context.textAlign = "right"
      context.fillText(name, left - 8, middle, left - 10)
      context.textAlign = "left"
      const none = Number.isNaN(shares[i]), end = none ? left : x(shares[i])
      if (none) context.fillStyle = skin.muted
      context.fillText(said[i], end + 6, middle)
      context.fillStyle = skin.result
      context.fillRect(left, middle - line * 0.28, end - left, line * 0.56)
    })
    if (reference === undefined) return
    context.strokeStyle = skin.ink
    context.lineWidth = 2
    context.setLineDash([2, 4])
    context.beginPath()
    context.moveTo(x(reference), 0)
    context.lineTo(x(reference), height - 30 * rem)
    context.stroke()
    context.setLineDash([])
  }

  /** Lines at round shares, named below.
   * @param {Skin} skin @param {(share: number) => number} x @param {number} full @param {number} height */
  function scale(skin, x, full, height) {
    const { rem, family } = skin
    const power = 10 ** Math.floor(Math.log10(full / 2))
    const step = /** @type {number} */ ([1, 2, 5, 10].map(n => n * power).find(s => full / s <= 4))
    context.font = `${13 * rem}px ${family}`
    context.textAlign = "center"
    context.lineWidth = 1
    for (let share = 0; share <= full * 1.001; share += step) {
      context.fillStyle = skin.rule
      context.fillRect(Math.round(x(share)), 0, 1, height - 26 * rem)
      context.fillStyle = skin.muted
      context.fillText(percent(share, step < 0.01 ? 1 : 0), x(share), height - 14 * rem)
    }
    context.font = `${15 * rem}px ${family}`
  }

  canvas.setAttribute("aria-label", header.about)
  root.savePicture = name => save(canvas, name, header.foot, skin)
  return watch(root, draw)
}
