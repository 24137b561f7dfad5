/* How scripts read the figures of charts. */

import assert from "node:assert/strict"
import { test } from "node:test"

import { clouded, decoded } from "../../assets/pictures/chart_clouds.js"
import { whole, withZoom } from "../../assets/pictures/chart_zoom.js"

const TYPES = {
  i1: Int8Array, i2: Int16Array, i4: Int32Array, u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f4: Float32Array, f8: Float64Array,
}

/** @param {string} dtype @param {number[]} numbers @returns {any} */
const packed = (dtype, numbers) => {
  const { buffer } = new TYPES[/** @type {keyof typeof TYPES} */ (dtype)](numbers)
  return { dtype, bdata: Buffer.from(buffer).toString("base64") }
}

test("numbers are read from lists and from each kind of array that Plotly's JSON has", () => {
  for (const dtype of Object.keys(TYPES)) assert.deepEqual(Array.from(decoded(packed(dtype, [0, 7, 125]))), [0, 7, 125])
  assert.deepEqual(decoded([1, 2]), [1, 2])
  assert.deepEqual(decoded(undefined), [])
})

test("a few points stay as they are, whatever kind of numbers they are", () => {
  const traces = [{ mode: "markers", x: packed("i4", [100, 125]), y: packed("f8", [0, 1.5]) }, { mode: "markers", x: [], y: [] }]
  assert.deepEqual(clouded(traces, {}, new Set()).data, traces)
})

test("what the reader has zoomed stays; a chart that is drawn again before Plotly has made its axes shows all", () => {
  const memory = whole(), layout = { xaxis: { range: [0, 8] } }, ranges = /** @param {any} plot */ plot => withZoom(layout, plot, memory).xaxis.range
  assert.deepEqual(ranges({}), [0, 8])
  assert.deepEqual(ranges({}), [0, 8])
  assert.deepEqual(ranges({ _fullLayout: {} }), [0, 8])
  assert.deepEqual(ranges({ _fullLayout: { xaxis: { range: [2, 3] } } }), [2, 3])
})
