/* A few named shares as horizontal bars, and a dotted line to compare them with.

   payload, behind the header: float32 [bar], the shares. User text reaches the page through fillText alone. */

import { save, stretch, watch } from "./canvas.js"
import { dress, floats } from "./paint.js"

const percent = (share, digits) => `${(share * 100).toFixed(digits)}%`

export default function ({ header, numbers, root }) {
  const memory = root._memory ??= {}
  const shares = floats(numbers)
  const { names, reference } = header
  const canvas = root.querySelector("canvas"), context = canvas.getContext("2d")
  Object.assign(memory, { header, shares })

  function draw() {
    const width = root.clientWidth
    if (!width) return // on its way out of the page
    const skin = dress(root, header.skin), { rem, family } = skin, line = 40 * rem
    const height = line * names.length + 30 * rem
    stretch(canvas, width, height, skin.paper)
    context.font = `${15 * rem}px ${family}`
    context.textBaseline = "middle"
    const left = Math.max(...names.map(name => context.measureText(name).width)) + 10
    const room = width - left - context.measureText(percent(1, 2)).width - 12
    const full = Math.max(...shares, reference), x = share => left + share / full * room
    scale(skin, x, full, height)
    names.forEach((name, i) => {
      const middle = (i + 0.5) * line
      context.fillStyle = skin.ink
      context.textAlign = "right"
      context.fillText(name, left - 8, middle)
      context.textAlign = "left"
      context.fillText(percent(shares[i], 2), x(shares[i]) + 6, middle)
      context.fillStyle = skin.result
      context.fillRect(left, middle - line * 0.28, x(shares[i]) - left, line * 0.56)
    })
    context.strokeStyle = skin.ink
    context.lineWidth = 2
    context.setLineDash([2, 4])
    context.beginPath()
    context.moveTo(x(reference), 0)
    context.lineTo(x(reference), height - 30 * rem)
    context.stroke()
    context.setLineDash([])
  }

  /* Lines at round shares, named below. */
  function scale(skin, x, full, height) {
    const { rem, family } = skin, power = 10 ** Math.floor(Math.log10(full / 2)), step = [1, 2, 5, 10].map(n => n * power).find(s => full / s <= 4)
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
  root.savePicture = name => save(canvas, name)
  return watch(root, draw)
}
