/* How the lines of a chart are painted: joined points, thousands of them, dashes, gaps, and clouds. */

const PIECE = 8 // points that are drawn at a time: one long path of many bends takes several times as long

/** @param {Skin} skin @param {{ colour: string }} line */
export const colourOf = (skin, { colour }) =>
  colour.startsWith("head ") ? skin.heads[Number(colour.slice(5)) - 1] : skin[/** @type {Role} */ (colour)]

/** A line's points in pixels; null where a point has no value that can be shown.
 * @param {Chart} chart @param {Line} line */
const points = (chart, { x, y }) => Array.from(x, (value, i) => {
  const [across, down] = chart.at(value, y[i])
  return Number.isFinite(across) && Number.isFinite(down) ? /** @type {Point} */ ([across, down]) : null
})

/** Of many points in the width of a pixel the first, the extremes and the last are all that can be seen.
 * @param {(Point | null)[]} spots @param {number} width */
function thinned(spots, width) {
  if (spots.length <= 4 * width) return spots
  const kept = []
  /** @param {number} i */
  const columnAt = i => { const spot = spots[i]; return spot && Math.floor(spot[0]) }
  /** @param {number} i */
  const yAt = i => spots[i]?.[1] ?? NaN // NaN: every comparison with it is false
  for (let i = 0; i < spots.length;) {
    const column = columnAt(i), from = i
    let low = i, high = i
    for (; i < spots.length && columnAt(i) === column; i++) {
      const y = yAt(i)
      if (y < yAt(low)) low = i
      if (y > yAt(high)) high = i
    }
    for (const k of new Set([from, ...[low, high].sort((a, b) => a - b), i - 1])) kept.push(spots[k])
  }
  return kept
}

/** @param {Context} context @param {Chart} chart @param {Line} line @param {string} colour @param {Skin} skin */
export function curve(context, chart, line, colour, { ink, rem }) {
  context.strokeStyle = context.fillStyle = colour
  const spots = points(chart, line), dense = spots.length > chart.width / (16 * rem)
  if (line.style === "dots") {
    scatter(context, spots, rem)
    if (line.mark) for (const point of spots) if (point) call(context, line.mark, point, chart.called, ink, rem)
    return
  }
  context.lineWidth = (line.style === "thin" || spots.length > 2 * chart.width ? 1 : 2) * rem
  context.lineJoin = "round"
  context.setLineDash(line.style === "dashed" ? [6 * rem, 5 * rem] : [])
  context.beginPath()
  const drawn = thinned(spots, chart.width)
  const piece = line.style === "dashed" ? Infinity : PIECE // in pieces, the dashes would begin anew with each
  drawn.forEach((point, i) => {
    if (point) drawn[i - 1] ? context.lineTo(...point) : context.moveTo(...point)
    if (!point || i % piece) return
    context.stroke()
    context.beginPath()
    context.moveTo(...point)
  })
  context.stroke()
  context.setLineDash([])
  const marked = line.style === "solid" && !dense
  spots.forEach((point, i) => {
    const alone = point && !spots[i - 1] && !spots[i + 1] // no line shows it
    if (point && (marked || alone)) dot(context, point, line.style === "dashed", rem) // hollow: A's may lie below
  })
}

/** Points without an order; of thousands, small squares through which others show.
 * @param {Context} context @param {(Point | null)[]} spots @param {number} rem */
function scatter(context, spots, rem) {
  const many = spots.length > 200, size = 3 * rem
  if (many) context.globalAlpha = 0.55
  for (const point of spots) {
    if (!point) continue
    if (many) context.fillRect(point[0] - size / 2, point[1] - size / 2, size, size)
    else dot(context, point, true, rem)
  }
  context.globalAlpha = 1
}

/** @type {Point[]} */
const AROUND = [[0, -12], [0, 13], [12, 0], [-12, 0]] // where a point's name may stand: over it, if it can

/** What a point is called, where nothing is `called` yet: points may lie upon each other.
 * @param {Context} context @param {string} words @param {Point} point @param {Point[]} called
 * @param {string} ink @param {number} rem */
function call(context, words, [x, y], called, ink, rem) {
  /** @param {Point} point */
  const free = ([a, b]) => called.every(([c, d]) => Math.hypot(a - c, b - d) > 11 * rem)
  const place = AROUND.map(([right, down]) => /** @type {Point} */ ([x + right * rem, y + down * rem])).find(free)
  if (!place) return
  called.push(place)
  context.fillStyle = ink
  context.textAlign = "center"
  context.fillText(words, ...place)
}

/** @param {Context} context @param {Point} point @param {boolean} hollow @param {number} rem */
export function dot(context, [x, y], hollow, rem) {
  context.beginPath()
  context.arc(x, y, (hollow ? 4 : 3) * rem, 0, 7)
  if (!hollow) return context.fill()
  context.lineWidth = 1.5 * rem
  context.stroke()
}

/** How far down a line ends, as far as it has values; of points without an order, their middle.
 * @param {Chart} chart @param {Line} line */
export function endOf(chart, { x, y, style }) {
  let last = NaN, sum = 0, count = 0
  for (let i = 0; i < x.length; i++) {
    const [across, down] = chart.at(x[i], y[i])
    if (!Number.isFinite(across) || !Number.isFinite(down)) continue
    last = down
    sum += down
    count++
  }
  return style === "dots" ? sum / count : last
}
