/* Names of points: over the point if nothing is called there yet, or else beside it. A point without room can still be read. */

import { decoded, placeOn } from "./chart_clouds.js"

/** Where a point's name may stand, to the right and down in pixels at a root font of 16, and what Plotly calls that.
 * @type {[string, number, number][]} */
const AROUND = [["top center", 0, -12], ["bottom center", 0, 13], ["middle right", 12, 0], ["middle left", -12, 0]]
const APART = 11 // between the middles of two names

/** The same traces, with the names of points where no other lies: points may lie upon each other.
 * @param {any[]} data @param {any} layout @param {Skin} skin */
export function called(data, layout, { rem }) {
  /** @type {[number, number][]} */
  const taken = []
  return data.map(trace => {
    if (!trace.text) return trace
    const { domain: [from, to], ...horizontal } = layout[trace.xaxis.replace("x", "xaxis")], vertical = layout[trace.yaxis.replace("y", "yaxis")]
    const x = from * layout.width + placeOn(horizontal, (to - from) * layout.width)(decoded(trace.x)[0])
    const [bottom, top] = vertical.domain, y = (1 - bottom) * layout.height - placeOn(vertical, (top - bottom) * layout.height)(decoded(trace.y)[0])
    const free = AROUND.find(([, right, down]) => taken.every(([a, b]) => Math.hypot(x + right * rem - a, y + down * rem - b) > APART * rem))
    if (!free) return { ...trace, mode: "markers" }
    taken.push([x + free[1] * rem, y + free[2] * rem])
    return { ...trace, textposition: free[0] }
  })
}
