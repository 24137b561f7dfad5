/* Where everything goes in maps that share rows and columns, and how their values are read. */

import { clamp, grouped, powered, rounded } from "./paint.js"

const HIGHEST = 420 // px at a root font of 16: the cells of a map together
export const OBLONG = 1.3 // how many times as wide as high, or as high as wide, a square map's cell may be that fills the room
const TWO_ON_A_PHONE = 6 // columns of each of two maps that are readable beside each other on a phone
const GLANCE = 240 // px at a root font of 16: a picture of one map that may be no higher has no names, as it only has room for cells
export const NUMBERED = 12 // in maps of up to this many rows and columns, cells that have room print their numbers

/** How many maps can stand beside each other: on a page one number, which its width decides; where they fill the screen, each
 * with which all rows are equally long, too.
 * @param {MapsHeader} header @param {number} width @param {number} rem @param {boolean} fill */
function waysOf(header, width, rem, fill) {
  const count = header.maps.length, usual = acrossOf(header, width, rem)
  if (count <= 3 || !fill) return [usual]
  const even = [...Array(count + 1).keys()].filter(across => across > 1 && count % across === 0)
  return [usual, ...even.filter(across => across !== usual)]
}

/** How many maps stand beside each other. More than three go into rows of equal length, if such can be found.
 * @param {MapsHeader} header @param {number} width @param {number} rem */
function acrossOf({ maps, rows, columns, painting }, width, rem) {
  const count = maps.length, least = (count <= 3 ? 180 : count <= 8 ? 220 : count <= 16 ? 120 : 100) * rem
  if (count <= 3) {
    if (width >= least * count) return count
    const isRead = !painting && (rows.counted && columns.counted || columns.names.length <= TWO_ON_A_PHONE)
    return count === 2 && isRead && width >= 300 * rem ? 2 : 1 // a finger paints cells of a good size
  }
  const most = clamp(Math.floor(width / least), 2, count)
  for (let across = most; across > most * 0.7; across--) if (count % across === 0) return across
  return Math.ceil(count / Math.ceil(count / most))
}

/** Where everything goes, in CSS pixels. Maps stand side by side, in rows or below each other where there is no room: of all
 * ways the one in which all rows and columns have their names, and then the one with the largest cells.
 * @param {Context} context @param {MapsHeader} header @param {unknown} legend @param {Part} window
 * @param {number} width @param {Pick<Skin, "rem" | "family">} skin @param {Room} room */
export function layOut(context, header, legend, window, width, skin, room) {
  const ways = waysOf(header, width, skin.rem, room.fill).map(across => arrange(context, header, legend, window, width, skin, room, across))
  /** @param {ReturnType<typeof arrange>} way */
  const worth = ({ every, ticks, cw, ch }) => (every.every((step, side) => step === 1 || ticks[side]) ? 1000 : 0) + Math.min(cw, ch)
  return ways.reduce((best, way) => worth(way) > worth(best) ? way : best)
}

/** @param {Context} context @param {MapsHeader} header @param {unknown} legend @param {Part} window
 * @param {number} width @param {Pick<Skin, "rem" | "family">} skin @param {Room} room @param {number} across */
function arrange(context, header, legend, { left, top, columns, rows }, width, { rem, family }, { high: limit, fill }, across) {
  const longest = Math.max(columns, rows), counted = header.columns.counted, { part } = header
  const count = header.maps.length, stacked = count > 1 && across === 1
  const deep = Math.ceil(count / across), wrapped = across > 1 && deep > 1
  const size = (longest <= 12 && !fill ? 14 : longest <= 24 || fill || header.rows.counted && counted ? 13 : 11) * rem
  context.font = `${size}px ${family}`
  /** @param {string[]} names */
  const widest = names => Math.ceil(Math.max(...names.map(name => context.measureText(name).width)))
  const shown = header.columns.names.slice(left, left + columns), long = widest(shown)
  const bare = limit < GLANCE * rem && count === 1 && !counted
  const gutter = bare ? 2 : widest(header.rows.names.slice(top, top + rows)) + size + 22 * rem
  const most = fill ? Infinity : header.square ? 56 * rem : 110 * rem
  /** @param {number} over */
  const fits = over => (width - gutter - over * across) / across / columns
  const level = counted || bare || Math.min(fits(16 * rem), most) >= long + 6
  const title = (count > 1 ? 46 : bare ? 0 : 24) * rem, oblique = 40 * Math.PI / 180
  // How high cells can be at most below slanted names: square ones are no wider.
  const flat = header.square ? (limit / deep - title - size * 0.9 - long * Math.sin(oblique)) / rows : Infinity
  const slant = !level && columns <= 12 && Math.min(fits(40 * rem), flat) > size * 1.5 ? oblique : 0 // otherwise names would touch
  const angle = level ? 0 : slant || Math.PI / 2
  context.font = `${size}px ${family}`
  const over = Math.max((fill ? 6 : 16) * rem, slant ? context.measureText(shown[shown.length - 1]).width * Math.cos(slant) + 6 : 0)
  const names = bare ? 2 : size * 0.9 + long * Math.sin(angle)
  const head = title + names, isShared = limit < Infinity // columns are named above the first row of maps alone
  const low = wrapped ? 24 * rem + (isShared ? 6 * rem : names) : head // the space above the cells: in the first row of maps, and in those below it
  const pins = header.marks.length ? 10 * rem : 0
  const foot = (wrapped ? 10 : 32) * rem + pins, below = (wrapped ? 28 * rem : 0) + (legend ? 24 * rem : 0) // one colour bar is enough for all rows
  const highest = heightOf(limit, fill, rem, head + low * (deep - 1) + foot * deep + below, deep)
  /** @param {number} n */
  const whole = n => n >= 8 ? Math.floor(n) : n
  const tall = Math.min(highest / rows, header.square ? most : fill ? Infinity : 34 * rem), wide = Math.min(fits(over), most)
  const oblong = fill && !bare ? OBLONG : 1
  const cw = whole(header.square ? Math.min(oblong * whole(tall), wide) : wide)
  const ch = whole(header.square ? Math.min(tall, oblong * cw) : tall)
  const apartAs = fill ? size : size * 1.05 // names are so far apart at least
  const block = ch * rows + foot, apart = cw * columns + over, spare = Math.max(0, (width - gutter - apart * across) / (across + 1))
  const origins = header.maps.map((_, i) => ({
    x: stacked ? gutter + Math.max(0, (width - gutter - over - cw * columns) / 2)
      : gutter + spare * (i % across + 1) + apart * (i % across),
    y: head + Math.floor(i / across) * (block + low),
  }))
  return {
    rem, size, family, angle, long, bare, cw, ch, apart, spare, width, origins, head, stacked, gutter, across, wrapped, low, pins, isShared,
    height: head + (block + low) * (deep - 1) + block + below, fill, least: (fill ? 13 : 11) * rem,
    every: [Math.max(1, Math.ceil(apartAs / ch - 0.02)), Math.max(1, Math.ceil((level ? 0 : apartAs) / cw - 0.02))],
    ticks: [
      ticksOf(header.rows, part?.top, part?.rows, part?.block[0], top, rows, size * 1.9 / ch),
      ticksOf(header.columns, part?.left, part?.columns, part?.block[1], left, columns, (long + 14 * rem) / cw),
    ],
    block: [ch, cw].map(side => Math.max(1, Math.ceil(1 / (side * devicePixelRatio) - 0.01))),
  }
}

/** How high the cells of one map may be together. Without a limit by the page they leave the half of the window free.
 * @param {number} limit of the whole picture @param {boolean} fill @param {number} rem @param {number} others what stands
 * around all cells @param {number} deep how many maps stand below each other */
function heightOf(limit, fill, rem, others, deep) {
  if (limit === Infinity) return Math.max(180, Math.min(HIGHEST * rem, innerHeight * 0.55))
  const high = Math.max(24, (limit - others) / deep)
  return fill ? high : Math.min(HIGHEST * rem, high)
}

/** Round numbers of a counted axis (null of another), `room` cells apart at least, each with the place in cells where it
 * stands; of a pooled one, a number stands within the cell that holds it.
 * @param {MapAxis} axis @param {number | undefined} first @param {number | undefined} total
 * @param {number | undefined} block @param {number} from @param {number} cells @param {number} room */
function ticksOf(axis, first, total, block = 1, from, cells, room) {
  if (!axis.counted) return null
  const begin = first ?? +axis.names[0], start = begin + from * block
  const end = begin + Math.min((from + cells) * block, total ?? cells)
  const least = Math.max(room * block, 1), power = 2 ** Math.ceil(Math.log2(least)), ten = 10 ** Math.floor(Math.log10(least))
  const round = /** @type {number} */ ([1, 2, 5, 10].map(n => n * ten).find(step => step >= least - 1e-9))
  const span = end - start, step = (span % 8 === 0 || span > 512) && power < span ? power : round
  const ticks = []
  for (let value = Math.ceil(start / step) * step; value < end; value += step)
    ticks.push({ text: grouped(value), at: (value - start) / block + (block > 1 ? 0 : 0.5) })
  return ticks
}

/** @param {MapsTable} table @param {number} i @param {number} q @param {number} k */
export const rawAt = ({ values, header: { rows, columns } }, i, q, k) =>
  values[(i * rows.names.length + q) * columns.names.length + k]

/** What a cell shows: nothing where a first map of ticks hides it.
 * @param {MapsTable} scene @param {number} i @param {number} q @param {number} k */
export function valueAt(scene, i, q, k) {
  const hidden = i && scene.header.maps[0].ticks && isNaN(rawAt(scene, 0, q, k))
  return hidden ? NaN : rawAt(scene, i, q, k)
}

/** Where a cell is; null if it is out of sight.
 * @param {Pick<MapsScene, "layout" | "view">} scene @param {number} i @param {number} q @param {number} k
 * @param {number} [columns] */
export function box({ layout, view }, i, q, k, columns = 1) {
  const { left, top } = view, { cw, ch, origins } = layout
  const inside = q >= top && q < top + view.rows && k >= left && k < left + view.columns
  return inside ? { x: origins[i].x + (k - left) * cw, y: origins[i].y + (q - top) * ch, w: cw * columns, h: ch } : null
}

/** The colours of a scale, from its low end to its high one: 0 is the middle of the signed ones, and the first of the others.
 * @param {Pick<MapScale, "low" | "high">} scale @param {Skin} skin */
export function coloursOf({ low, high }, skin) {
  const { signed } = skin, middle = (signed.length - 1) / 2
  return low < 0 ? signed.slice(0, high > 0 ? signed.length : middle + 1) : skin.weights
}

/** Which colour of its scale a value has, 0 to 255.
 * @param {number} value @param {MapScale} scale */
export function tint(value, { low, high, powers }) {
  const at = powers ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low)
  return clamp(Math.round(at * 255), 0, 255)
}

/** A value as text, for its cell or, with more digits, for reading. A value that has a word is written as that word; others get
 * a true minus, and a plus on signed scales.
 * @param {number} value @param {MapScale} scale @param {number} digits */
export function inDigits(value, { low, high, powers, whole, words }, digits) {
  if (words) return words[value] ?? ""
  if (!value) return "0"
  if (whole) return `${value}`
  if (powers && digits <= 2 && value < 0.005) return powered(10 ** Math.round(Math.log10(value)), 0).slice(2) // 10⁻³
  const signed = low < 0, plus = signed && value > 0 ? "+" : ""
  if (digits > 2 && Math.abs(value) < 0.5 * 10 ** -digits) return (value < 0 ? "−" : plus) + powered(Math.abs(value), 0)
  const text = rounded(value, digits, signed && high !== 1 ? undefined : 1)
  return /^[<>]/.test(text) ? text : plus + text
}

/** The cell with the largest value, whatever its sign, among those that share a pixel with this one.
 * @param {MapsScene} scene @param {number} i @param {number} q0 @param {number} k0 */
export function largestOf(scene, i, q0, k0) {
  const { view, layout: { block: [down, over] } } = scene
  let best = { q: q0, k: k0 }, most = -1
  for (let q = q0; q < Math.min(q0 + down, view.top + view.rows); q++)
    for (let k = k0; k < Math.min(k0 + over, view.left + view.columns); k++) {
      const size = Math.abs(valueAt(scene, i, q, k))
      if (size < Infinity && size > most) { most = size; best = { q, k } }
    }
  return best
}
