/* Names of points: over the point if nothing is called there yet and the name has room, or else beside it. A point without room
   can still be read. */

import { decoded, placeOn } from "./chart_clouds.js"
import { wide } from "./chart_look.js"

/** Where a point's name may stand: what Plotly calls that; to the right and down in pixels at a root font of 16; and which
 * share of the name is left of there.
 * @type {[string, number, number, number][]} */
const AROUND = [["top center", 0, -12, 0.5], ["bottom center", 0, 13, 0.5], ["middle right", 12, 0, 0], ["middle left", -12, 0, 1]]
const APART = 11 // between the middles of two names

/** The same traces, with the names of points where no other lies, and where they are not cut off: points may lie upon each other.
 * @param {any[]} data @param {any} layout @param {Skin} skin */
export function called(data, layout, skin) {
  const { rem } = skin
  /** @type {[number, number][]} */
  const taken = []
  return data.map(trace => {
    if (!trace.text) return trace
    const { domain: [from, to], ...horizontal } = layout[trace.xaxis.replace("x", "xaxis")], vertical = layout[trace.yaxis.replace("y", "yaxis")]
    const x = from * layout.width + placeOn(horizontal, (to - from) * layout.width)(decoded(trace.x)[0])
    const [bottom, top] = vertical.domain, y = (1 - bottom) * layout.height - placeOn(vertical, (top - bottom) * layout.height)(decoded(trace.y)[0])
    const text = typeof trace.text === "string" ? wide(trace.text, layout.font.size, skin) : 0 // the names of several points are short
    const free = AROUND.find(([, right, down, before]) => {
      const begin = x + right * rem - before * text
      return begin >= 0 && begin + text <= layout.width && taken.every(([a, b]) => Math.hypot(x + right * rem - a, y + down * rem - b) > APART * rem)
    })
    if (!free) return { ...trace, mode: "markers" }
    taken.push([x + free[1] * rem, y + free[2] * rem])
    return { ...trace, textposition: free[0] }
  })
}
