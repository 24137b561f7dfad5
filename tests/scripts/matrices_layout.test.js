/* assets/lenses/attention/matrices_layout.js: how large the cells of a step are. */

import assert from "node:assert/strict"
import { test } from "node:test"

import { layOutStep } from "../../assets/lenses/attention/matrices_layout.js"

const PRINTS = 26 // px of a cell that prints its number (matrices_drawing.js)

/** The cells of weights × values = weighted values of five tokens.
 * @param {number} high @param {number} width @param {boolean} fill */
function cells(high, width = 1040, fill = false) {
  const tokens = { rows: 5, columns: 5, axes: ["query", "key"] }, values = { rows: 5, columns: 8, axes: ["key", "dim"] }
  const place = { rem: 1, family: "sans-serif", width, space: { high, fill }, widest: () => 40, beyond: () => 20 }
  return layOutStep(/** @type {any} */ ([tokens, values, values]), place, 80, 60).map(({ cell }) => Math.min(cell.x, cell.y))
}

test("beside rows that leave little room, the cells of a short text still print their numbers", () => {
  for (const high of [60, 150, 250, 400]) assert.ok(Math.min(...cells(high)) >= PRINTS, `${high}: ${cells(high)}`)
})

test("where the picture fills the room, or its matrices stand below each other, it stays within it", () => {
  assert.ok(Math.max(...cells(150, 1040, true)) < PRINTS)
  assert.ok(Math.max(...cells(300, 600)) < PRINTS)
})
