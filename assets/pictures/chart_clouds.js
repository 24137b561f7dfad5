/* Clouds of points as an image: thousands of points would be thousands of elements, and a drag would stop. The points are
   still Plotly's, to be read and to be counted in; only what they look like is drawn here. */

import { contextOf } from "./paint.js"

const MOST = 200 // points that are elements

/** The same figure, with its clouds as images.
 * @param {any[]} data @param {any} layout @param {Set<string>} hidden names that are switched off */
export function clouded(data, layout, hidden) {
  /** @type {object[]} */
  const images = []
  const after = data.map(trace => {
    if (trace.mode !== "markers" || trace.meta === "gap") return trace
    const x = decoded(trace.x), y = decoded(trace.y)
    if (x.length <= MOST) return trace
    const { xaxis = "x", yaxis = "y" } = trace
    const [horizontal, vertical] = [xaxis, yaxis].map(name => layout[name.replace(/^[xy]/, "$&axis")])
    if (!hidden.has(trace.name)) images.push({
      source: cloud(x, y, horizontal, vertical, layout, trace.marker),
      xref: `${xaxis} domain`, yref: `${yaxis} domain`, x: 0, y: 1, sizex: 1, sizey: 1, sizing: "stretch", layer: "above",
    })
    return { ...trace, marker: { ...trace.marker, maxdisplayed: 1, opacity: 0 } }
  })
  return { data: after, layout: { ...layout, images } }
}

const TYPES = { // the kinds of arrays in Plotly's JSON
  i1: Int8Array, i2: Int16Array, i4: Int32Array, u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f4: Float32Array, f8: Float64Array,
}

/** The numbers of a trace: a list, or a typed array of Plotly's JSON.
 * @param {number[] | { dtype: keyof typeof TYPES, bdata: string } | undefined} part
 * @returns {ArrayLike<number>} */
export function decoded(part) {
  if (!part || Array.isArray(part)) return part ?? []
  return new TYPES[part.dtype](Uint8Array.from(atob(part.bdata), sign => sign.charCodeAt(0)).buffer)
}

/** @param {ArrayLike<number>} x @param {ArrayLike<number>} y @param {any} horizontal @param {any} vertical
 * @param {{ width: number, height: number }} size of the whole figure @param {any} marker */
function cloud(x, y, horizontal, vertical, { width, height }, { color, size, opacity }) {
  const canvas = document.createElement("canvas"), context = contextOf(canvas), scale = devicePixelRatio
  /** @param {any} axis @param {number} whole */
  const long = ({ domain: [from, to] }, whole) => Math.round((to - from) * whole * scale)
  canvas.width = long(horizontal, width)
  canvas.height = long(vertical, height)
  Object.assign(context, { fillStyle: color, globalAlpha: opacity })
  const across = placeOn(horizontal, canvas.width), up = placeOn(vertical, canvas.height), side = size * scale
  for (let i = 0; i < x.length; i++) {
    context.fillRect(across(x[i]) - side / 2, canvas.height - up(y[i]) - side / 2, side, side)
  }
  return canvas.toDataURL()
}

/** Where a value stands on an axis of this length.
 * @param {any} axis @param {number} length @returns {(value: number) => number} */
export const placeOn = ({ type, range: [low, high] }, length) => value =>
  ((type === "log" ? Math.log10(value) : value) - low) / (high - low) * length
