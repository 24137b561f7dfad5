/* How the lines of a chart are painted: joined points, thousands of them, dashes, gaps, and clouds. */

const PIECE = 8 // points that are drawn at a time: one long path of many bends takes several times as long

export const colourOf = (skin, { colour }) => colour.startsWith("head ") ? skin.heads[colour.slice(5) - 1] : skin[colour]

/* Its points in pixels; null where it has none to show. */
const points = (chart, { x, y }) => Array.from(x, (value, i) => {
  const [across, down] = chart.at(value, y[i])
  return Number.isFinite(across) && Number.isFinite(down) ? [across, down] : null
})

/* Of many points in the width of a pixel the first, the extremes and the last are all that can be seen. */
function thinned(found, width) {
  if (found.length <= 4 * width) return found
  const kept = []
  for (let i = 0; i < found.length;) {
    const column = found[i] && Math.floor(found[i][0]), from = i
    let low = i, high = i
    for (; i < found.length && (found[i] && Math.floor(found[i][0])) === column; i++) {
      if (!found[i]) continue
      if (found[i][1] < found[low][1]) low = i
      if (found[i][1] > found[high][1]) high = i
    }
    for (const k of new Set([from, ...[low, high].sort((a, b) => a - b), i - 1])) kept.push(found[k])
  }
  return kept
}

export function curve(context, chart, line, colour, { ink, rem }) {
  context.strokeStyle = context.fillStyle = colour
  const found = points(chart, line), dense = found.length > chart.width / (16 * rem)
  if (line.style === "dots") {
    scatter(context, found, rem)
    if (line.mark) for (const point of found) if (point) call(context, line.mark, point, chart.called, ink, rem)
    return
  }
  context.lineWidth = (line.style === "thin" || found.length > 2 * chart.width ? 1 : 2) * rem
  context.lineJoin = "round"
  context.setLineDash(line.style === "dashed" ? [6 * rem, 5 * rem] : [])
  context.beginPath()
  const drawn = thinned(found, chart.width)
  const piece = line.style === "dashed" ? Infinity : PIECE // the dashes would begin anew
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
  found.forEach((point, i) => {
    const alone = point && !found[i - 1] && !found[i + 1] // no line shows it
    if (point && (marked || alone)) dot(context, point, line.style === "dashed", rem) // hollow: A's may lie below
  })
}

/* Points without an order; of thousands, small squares through which others show. */
function scatter(context, found, rem) {
  const many = found.length > 200, size = 3 * rem
  if (many) context.globalAlpha = 0.55
  for (const point of found) {
    if (!point) continue
    if (many) context.fillRect(point[0] - size / 2, point[1] - size / 2, size, size)
    else dot(context, point, true, rem)
  }
  context.globalAlpha = 1
}

const AROUND = [[0, -12], [0, 13], [12, 0], [-12, 0]] // where a point's name may stand: over it, if it can

/* What a point is called, where nothing is `called` yet: points may lie upon each other. */
function call(context, words, [x, y], called, ink, rem) {
  const free = ([a, b]) => called.every(([c, d]) => Math.hypot(a - c, b - d) > 11 * rem)
  const place = AROUND.map(([right, down]) => [x + right * rem, y + down * rem]).find(free)
  if (!place) return
  called.push(place)
  context.fillStyle = ink
  context.textAlign = "center"
  context.fillText(words, ...place)
}

export function dot(context, [x, y], hollow, rem) {
  context.beginPath()
  context.arc(x, y, (hollow ? 4 : 3) * rem, 0, 7)
  if (!hollow) return context.fill()
  context.lineWidth = 1.5 * rem
  context.stroke()
}

/* How far down a line ends, as far as it has values; of points without an order, their middle. */
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
