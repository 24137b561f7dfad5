/* Where everything goes in maps that share rows and columns, and how their values are read. */

import { clamp, tiny } from "./paint.js"

export const NUMBERED = 12 // up to so many rows and columns, cells print their numbers if they have room

/* Where everything goes, in CSS pixels. Maps stand side by side, or below each other where there is no room. */
export function arrange(context, header, legend, { left, top, columns, rows }, width, { rem, family }) {
  const longest = Math.max(columns, rows)
  const count = header.maps.length, stacked = count > 1 && width < 180 * rem * count, across = stacked ? 1 : count
  const size = (longest <= 12 ? 14 : longest <= 24 ? 13 : 11) * rem
  context.font = `${size}px ${family}`
  const widest = names => Math.ceil(Math.max(...names.map(name => context.measureText(name).width)))
  const shown = header.columns.names.slice(left, left + columns), long = widest(shown)
  const gutter = widest(header.rows.names.slice(top, top + rows)) + size + 22 * rem
  const highest = Math.max(180, Math.min(420 * rem, innerHeight * 0.55)), most = header.square ? 56 * rem : 110 * rem
  const fits = over => (width - gutter - over * across) / across / columns
  const level = Math.min(fits(16 * rem), most) >= long + 6
  const slant = !level && columns <= 12 && fits(40 * rem) > size * 1.5 ? 40 * Math.PI / 180 : 0 // else names would touch
  const angle = level ? 0 : slant || Math.PI / 2
  context.font = `${size}px ${family}`
  const over = Math.max(16 * rem, slant ? context.measureText(shown.at(-1)).width * Math.cos(slant) + 6 : 0)
  const whole = n => n >= 8 ? Math.floor(n) : n
  const high = Math.min(highest / rows, header.square ? most : 34 * rem), wide = Math.min(fits(over), most)
  const cw = whole(header.square ? Math.min(high, wide) : wide), ch = header.square ? cw : whole(high)
  const head = (count > 1 ? 46 : 24) * rem + size * 0.9 + long * Math.sin(angle), block = head + ch * rows + 32 * rem
  const apart = cw * columns + over, spare = Math.max(0, (width - gutter - apart * across) / (across + 1))
  const origins = header.maps.map((_, i) => stacked
    ? { x: gutter + Math.max(0, (width - gutter - over - cw * columns) / 2), y: i * block + head }
    : { x: gutter + spare * (i + 1) + apart * i, y: head })
  return {
    rem, size, family, angle, long, cw, ch, apart, spare, width, origins, head, stacked, gutter,
    height: block * (stacked ? count : 1) + (legend ? 24 * rem : 0),
    every: [Math.max(1, Math.ceil(size * 1.05 / ch)), Math.max(1, Math.ceil((level ? 0 : size * 1.05) / cw))],
    block: [ch, cw].map(side => Math.max(1, Math.ceil(1 / (side * devicePixelRatio) - 0.01))),
  }
}

export const valueAt = ({ values, header: { rows, columns } }, i, q, k) => values[(i * rows.names.length + q) * columns.names.length + k]

/* Where a cell is; null if it is out of sight. */
export function box({ layout, view }, i, q, k, columns = 1) {
  const { left, top } = view, { cw, ch, origins } = layout
  const inside = q >= top && q < top + view.rows && k >= left && k < left + view.columns
  return inside ? { x: origins[i].x + (k - left) * cw, y: origins[i].y + (q - top) * ch, w: cw * columns, h: ch } : null
}

/* 0 to 255: which colour of its scale a value has. */
export const tint = (value, { top, signed }) => clamp(Math.round((signed ? value / top / 2 + 0.5 : value / top) * 255), 0, 255)

/* A value for its cell or, with more digits, for reading: a true minus, and a sign where it matters. */
export function inDigits(value, { signed }, digits) {
  if (!value) return "0"
  const small = Math.abs(value) < 0.5 * 10 ** -digits
  const size = small && digits > 2 ? tiny(Math.abs(value), 0) : Math.abs(value).toFixed(digits)
  return !signed || (small && digits <= 2) ? size : (value < 0 ? "−" : "+") + size
}

/* Of the cells that share a pixel with this one, the one with the largest value, whatever its sign. */
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
