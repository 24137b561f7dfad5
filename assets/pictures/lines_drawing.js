/* How charts of lines are laid out and painted. A chart is what came from the server, each line with its `x` and `y`;
   `layOut` adds where it goes: {left, top, width, height} of the plot in CSS pixels, and its two axes. */

import { colourOf, curve, endOf } from "./lines_curves.js"
import { grouped, powered } from "./paint.js"

/** @type {Partial<Record<ScaleName, number>>} */
const LOG = { log2: 2, log10: 10 }
const GAP = 28 // between charts, in pixels at a root font of 16
const NARROWEST = 290 // a chart that stands beside another is at least this wide, in pixels at a root font of 16
const TALL = 300, LOW = 230 // a chart's height, and that of one that has the whole width of a wide page; likewise in pixels

/** 0.1234, 12.34, 1 234, 2.3×10⁻⁵; with a true minus.
 * @param {number} value */
export function written(value) {
  const size = Math.abs(value), sign = value < 0 ? "−" : ""
  if (!Number.isFinite(value)) return "none"
  if (size >= 1000) return sign + grouped(size)
  if (size === 0 || size >= 0.001) return sign + +size.toPrecision(4)
  return sign + powered(size)
}

/** The smallest and the largest of many numbers that an axis can show; null if there are none.
 * @param {(number[] | Float32Array)[]} lists @param {ScaleName} scale */
function bounds(lists, scale) {
  let low = Infinity, high = -Infinity
  for (const list of lists) for (const v of list) if (Number.isFinite(v) && (!LOG[scale] || v > 0)) {
    if (v < low) low = v
    if (v > high) high = v
  }
  return low <= high ? [low, high] : null
}

/** An axis from the smallest to the largest value of these lists: `to` gives 0 to 1, `ticks` where it is named; `room` is
 * how many names it has room for.
 * @param {(number[] | Float32Array)[]} lists @param {ScaleName} scale @param {number} room
 * @param {boolean} whole */
export function axis(lists, scale, room, whole) {
  const base = LOG[scale]
  const extent = bounds(lists, scale)
  let [low, high] = extent ?? [base ? 1 : 0, 1]
  const lone = whole && (low === high || !extent) // around a single x there is nothing to name
  /** @param {number[]} ticks */
  const named = ticks => lone ? extent?.slice(1) ?? [] : ticks
  if (low === high) [low, high] = base ? [low / base, high * base] : [low - 0.5, high + 0.5]
  if (base) {
    /** @param {number} v */
    const exponent = v => Math.log(v) / Math.log(base)
    const first = Math.floor(exponent(low) + 1e-9), last = Math.ceil(exponent(high) - 1e-9)
    if (!whole) [low, high] = [base ** first, base ** last]
    const step = Math.max(1, Math.ceil((last - first) / room))
    const powers = Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, i) => base ** (first + i * step))
    /** @param {number[]} all */
    const within = all => all.filter(v => v >= low * 0.999 && v <= high * 1.001)
    let ticks = within(powers)
    if (whole && base === 10) { // few powers of ten may lie between the ends, or none
      const finer = within(powers.flatMap(v => [v, 2 * v, 5 * v]))
      if (finer.length <= room) ticks = finer
      else if (ticks.length < 2) ticks = finer.filter((_, i) => i % Math.ceil(finer.length / room) === 0)
      if (ticks.length < 2) ticks = within(even(low, high, room, 0).ticks)
    }
    return {
      to: (/** @type {number} */ v) => (exponent(v) - exponent(low)) / (exponent(high) - exponent(low)), ticks: named(ticks),
    }
  }
  const least = lists.every(list => list.every(Number.isInteger)) ? 1 : 0 // whole numbers are counts: no tick stands between two of them
  const { first, last, step, ticks: all } = even(low, high, room, least)
  if (!whole) [low, high] = [first * step, last * step]
  const ticks = all.filter(v => v >= low - step * 1e-6 && v <= high + step * 1e-6)
  return { to: (/** @type {number} */ v) => (v - low) / (high - low), ticks: named(ticks) }
}

/** By how much the first name below an axis would stand out to the left of a picture, where the axis begins at `left`.
 * @param {Context} context @param {ChartAxis} axis @param {number} left @param {number} width */
export function cutOff(context, { ticks, to }, left, width) {
  if (!ticks.length) return 0
  return Math.max(0, context.measureText(written(ticks[0])).width / 2 - left - to(ticks[0]) * width)
}

/** Multiples of a round step, at least `least`, from below the one number to above the other.
 * @param {number} low @param {number} high @param {number} room @param {number} least */
function even(low, high, room, least) {
  const power = 10 ** Math.floor(Math.log10((high - low) / room))
  const step = Math.max(least, /** @type {number} */ ([1, 2, 5, 10].map(n => n * power).find(s => (high - low) / s <= room)))
  const first = Math.floor(low / step + 1e-9), last = Math.ceil(high / step - 1e-9)
  return { first, last, step, ticks: Array.from({ length: last - first + 1 }, (_, i) => +((first + i) * step).toPrecision(12)) }
}

/** Every x that has a value, from left to right; kept, for there may be thousands.
 * @param {Chart} chart */
function stopsOf(chart) {
  return chart.known ??= Float32Array.from(new Set(chart.lines.flatMap(line => [...line.x])))
    .filter(x => Number.isFinite(x) && (!LOG[chart.xScale] || x > 0)).sort()
}

/** Where every chart goes, side by side if there is room and no place stays empty; returns the height of all.
 * @param {Context} context @param {Chart[]} charts @param {number} width
 * @param {Pick<Skin, "rem" | "family">} skin */
export function layOut(context, charts, width, { rem, family }) {
  const gap = GAP * rem
  let across = Math.max(1, Math.min(charts.length, Math.floor((width + gap) / (NARROWEST * rem + gap))))
  while (charts.length % across) across--
  const each = (width - gap * (across - 1)) / across, rows = charts.length / across
  const tall = (across === 1 && width > 480 * rem ? LOW : TALL) * rem
  charts.forEach((chart, i) => {
    const x0 = (i % across) * (each + gap), y0 = Math.floor(i / across) * (tall + gap)
    const head = (chart.marks.length || chart.ranges.length ? 44 : 26) * rem, height = tall - head - 42 * rem
    chart.vertical = axis([...chart.lines.map(line => line.y), chart.reach], chart.yScale, 5, false)
    context.font = `${13 * rem}px ${family}`
    /** @param {string[]} texts */
    const wide = texts => Math.max(0, ...texts.map(text => context.measureText(text).width))
    const gutter = wide(chart.vertical.ticks.map(written)) + 10 * rem
    const beside = chart.lines.map(line => line.name), room = roomFor(height, rem)
    if (beside.length > room) beside.push(others(beside.length - room + 1))
    const names = Math.min(wide(beside) + 24 * rem, each * 0.45)
    const width = each - gutter - names
    chart.horizontal = axis([...chart.lines.map(line => line.x), chart.marks.map(mark => mark.x)], chart.xScale,
      Math.max(2, Math.floor(width / (38 * rem))), true)
    const out = cutOff(context, chart.horizontal, gutter, width)
    Object.assign(chart, { x0, y0, each, head, left: x0 + gutter + out, top: y0 + head, width: width - out, height })
    chart.at = (x, y) => [chart.left + chart.horizontal.to(x) * chart.width, chart.top + (1 - chart.vertical.to(y)) * chart.height]
    chart.stops = stopsOf(chart)
  })
  return Math.max(0, rows * tall + (rows - 1) * gap)
}

/** @param {Context} context @param {Chart} chart @param {Skin} skin */
export function paint(context, chart, skin) {
  const { rem, family } = skin, { left, top, width, height, horizontal, vertical, y0, each, x0 } = chart
  context.textBaseline = "middle"
  context.fillStyle = skin.ink
  context.textAlign = "left"
  context.font = `600 ${15 * rem}px ${family}`
  context.fillText(chart.y, x0, y0 + 10 * rem, each)
  context.font = `${13 * rem}px ${family}`
  context.lineWidth = 1
  for (const range of chart.ranges) shade(context, chart, range, skin)
  for (const tick of vertical.ticks) {
    const y = Math.round(chart.at(1, tick)[1]) + 0.5
    context.fillStyle = skin.rule
    context.fillRect(left, y - 0.5, width, 1)
    context.fillStyle = skin.muted
    context.textAlign = "right"
    context.fillText(written(tick), left - 6 * rem, y)
  }
  context.fillStyle = skin.muted
  context.textAlign = "center"
  for (const tick of horizontal.ticks) context.fillText(written(tick), left + horizontal.to(tick) * width, top + height + 14 * rem)
  context.fillText(chart.x, left + width / 2, top + height + 33 * rem)
  for (const mark of chart.marks) upright(context, chart, mark, skin, rem)
  chart.called = []
  for (const line of chart.lines) curve(context, chart, line, colourOf(skin, line), skin)
  names(context, chart, skin, rem)
}

/** A part of the x, shaded and named above; hatched, so that it is no colour alone.
 * @param {Context} context @param {Chart} chart @param {ChartHeader["ranges"][number]} header
 * @param {Skin} skin */
function shade(context, chart, { name, from, to }, skin) {
  const { rem } = skin, { left, top, width, height, horizontal } = chart
  /** @param {number} x */
  const within = x => left + Math.max(0, Math.min(1, horizontal.to(x))) * width
  const begin = within(from), wide = Math.max(within(to) - begin, 2)
  context.fillStyle = skin.rule
  context.globalAlpha = 0.35
  context.fillRect(begin, top, wide, height)
  context.globalAlpha = 1
  context.fillStyle = skin.muted
  context.fillRect(begin - 0.5, top - 6 * rem, 1, height + 6 * rem)
  context.textAlign = "left"
  const room = context.measureText(name).width
  context.fillText(name, Math.max(chart.x0, Math.min(begin, chart.x0 + chart.each - room)), top - 15 * rem)
}

/** @param {Context} context @param {Chart} chart @param {ChartHeader["marks"][number]} header @param {Skin} skin
 * @param {number} rem */
function upright(context, chart, { name, x }, skin, rem) {
  const at = chart.left + chart.horizontal.to(x) * chart.width, half = context.measureText(name).width / 2
  context.strokeStyle = context.fillStyle = skin.muted
  context.setLineDash([2, 3])
  context.beginPath()
  context.moveTo(at, chart.top - 6 * rem)
  context.lineTo(at, chart.top + chart.height)
  context.stroke()
  context.setLineDash([])
  context.textAlign = "center"
  context.fillText(name, Math.max(chart.x0 + half, Math.min(at, chart.x0 + chart.each - half)), chart.top - 15 * rem)
}

/** How many lines of names have room beside a plot.
 * @param {number} height @param {number} rem */
const roomFor = (height, rem) => Math.max(2, Math.floor(height / (16 * rem)) + 1)
/** @param {number} count */
const others = count => `and ${count} more`

/** Each line's name beside its end, pushed apart where ends lie close, with a piece of the line before it.
 * @param {Context} context @param {Chart} chart @param {Skin} skin @param {number} rem */
function names(context, chart, skin, rem) {
  const size = 16 * rem, room = roomFor(chart.height, rem)
  const all = chart.lines.map(line => ({ line, y: endOf(chart, line) }))
    .filter(({ line, y }) => line.name && Number.isFinite(y)).sort((a, b) => a.y - b.y)
  const ends = all.length > room ? some(all, room - 1) : all, left = all.length - ends.length
  const low = chart.top + chart.height - (left ? size : 0)
  ends.forEach((end, i) => { if (i) end.y = Math.max(end.y, ends[i - 1].y + size) })
  ends.reverse().forEach((end, i) => { end.y = Math.min(end.y, i ? ends[i - 1].y - size : low) })
  const x = chart.left + chart.width + 6 * rem, wide = chart.x0 + chart.each - x - 17 * rem
  context.textAlign = "left"
  for (const { line, y } of ends) {
    context.fillStyle = context.strokeStyle = colourOf(skin, line)
    context.lineWidth = (line.style === "thin" ? 1 : 2) * rem
    context.setLineDash(line.style === "dashed" ? [4 * rem, 3 * rem] : [])
    context.beginPath()
    if (line.style === "dots") context.fillRect(x + 2 * rem, y - 4 * rem, 8 * rem, 8 * rem) // a ring would be a point
    else {
      context.moveTo(x, y)
      context.lineTo(x + 12 * rem, y)
      context.stroke()
    }
    context.setLineDash([])
    context.fillStyle = skin.ink
    context.fillText(line.name, x + 17 * rem, y, wide)
  }
  context.fillStyle = skin.muted
  if (left) context.fillText(others(left), x + 17 * rem, chart.top + chart.height, wide)
}

/** Pick `count` of them at even distances, the first and the last among them.
 * @template T
 * @param {T[]} all @param {number} count */
const some = (all, count) => Array.from({ length: count }, (_, i) => all[Math.round(i * (all.length - 1) / Math.max(1, count - 1))])
