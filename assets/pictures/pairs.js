/* Two shares for each name, as horizontal bars.

   payload, behind the header: float32 [2][name], the shares. User text reaches the page through fillText alone. */

import { save, stretch, watch } from "./canvas.js"
import { contextOf, dress, floats } from "./paint.js"

/** A share in percent; only all of something is called 100%, and only nothing 0%, as in formats.py.
 * @param {number} share */
const asPercent = share => share && share < 0.0001 ? "<0.01%" : share < 1 && share >= 0.9995 ? ">99.9%"
  : `${(share * 100).toFixed(share < 0.1 ? 2 : 1)}%`

/** @param {Picture<PairsHeader>} picture */
export default function ({ header, numbers, root }) {
  const memory = root._memory ??= {}
  const shares = floats(numbers)
  const { names, series, roles } = header
  const canvas = root.querySelector("canvas"), context = contextOf(canvas)
  Object.assign(memory, { header, shares })

  function draw() {
    const width = root.clientWidth
    if (!width) return // the picture is being removed from the page
    const skin = dress(root, header.skin), { rem, family } = skin
    const line = 36 * rem, bar = 13 * rem, top = (6 + 20 * series.length) * rem, height = top + line * names.length
    stretch(canvas, width, height, skin.paper)
    context.textBaseline = "middle"
    context.font = `${13 * rem}px ${family}`
    const number = context.measureText("100.0%").width
    legend(skin)
    context.font = `${15 * rem}px ${family}`
    const left = Math.max(...names.map(name => context.measureText(name).width)) + 10, full = Math.max(...shares, 1e-9)
    names.forEach((name, i) => {
      const middle = top + (i + 0.5) * line
      context.font = `${15 * rem}px ${family}`
      context.fillStyle = skin.ink
      context.textAlign = "right"
      context.fillText(name, left - 8, middle)
      context.textAlign = "left"
      context.font = `${13 * rem}px ${family}`
      series.forEach((_, s) => {
        const share = shares[s * names.length + i], long = share / full * (width - left - number - 8), y = middle + (s ? 1 : -bar - 1)
        context.fillStyle = skin[roles[s]]
        context.fillRect(left, y, Math.max(long, share > 0 ? 1 : 0), bar)
        context.fillStyle = skin.ink
        context.fillText(asPercent(share), left + long + 6, y + bar / 2 + 1)
      })
    })
  }

  /** @param {Skin} skin */
  function legend(skin) {
    const { rem } = skin
    context.textAlign = "left"
    series.forEach((name, s) => {
      context.fillStyle = skin[roles[s]]
      context.fillRect(0, (4 + 20 * s) * rem, 12 * rem, 12 * rem)
      context.fillStyle = skin.ink
      context.fillText(name, 18 * rem, (11 + 20 * s) * rem)
    })
  }

  canvas.setAttribute("aria-label", header.about)
  root.savePicture = name => save(canvas, name)
  return watch(root, draw)
}
