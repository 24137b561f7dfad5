/* How scripts write numbers. */

import assert from "node:assert/strict"
import { readdirSync, readFileSync } from "node:fs"
import { test } from "node:test"

import { printed } from "../../assets/pictures/maps_drawing.js"
import { inDigits } from "../../assets/pictures/maps_layout.js"
import { range } from "../../assets/pictures/maps_window.js"
import { decimals, grouped, inCell, percent, rounded } from "../../assets/pictures/paint.js"

const ASSETS = new URL("../../assets/", import.meta.url)
/* Values of controls, which have no more digits than are written. */
const STEPS = ["(+input.value).toFixed(2)", "clamp(+n.toFixed(2), low, high)", "written = (/** @type {number} */ value) => "]
const CLOSE = [1e-9, 0.00004, 0.0004, 0.0049, 0.004, 0.9951, 0.99996, 1 - 1e-9] // to 0 or 1, and neither

test("thousands have commas", () => {
  assert.deepEqual([7, 999, 1000, 56480.2, 100096, 16777216].map(grouped), ["7", "999", "1,000", "56,480", "100,096", "16,777,216"])
})

test("a range of rows is written with both of its ends, and a single row alone", () => {
  assert.equal(range(0, 4096, 16, 64), "1,024–1,039")
  assert.equal(range(1, 4096, 1, 1234), "1,235")
  assert.equal(range(0, 1000, 64, 15), "960–999")
})

test("a weight that a cell would write as <.01 has no number there, in all maps of weights; other numbers keep theirs", () => {
  const weights = /** @type {any} */ ({ low: 0, high: 1, words: null }), signed = { ...weights, low: -1 }
  const inMap = [0.0001, 0.0049, 0, 0.006, 0.998, 1].map(weight => printed(weight, weights, false))
  assert.deepEqual(inMap, ["", "", "0", "0.01", ">.99", "1.00"])
  assert.deepEqual([0.0001, 0.0049, 0, 0.006, 0.998, 1].map(weight => inCell(weight, 1)), ["", "", "0.00", "0.01", ">.99", "1.00"])
  assert.deepEqual([0.004, -0.004].map(value => printed(value, signed, false)), ["<.01", ">−.01"])
  assert.equal(inCell(0.004), "<.01") // a score may be below 0
  assert.equal(inDigits(0.004, weights, 4), "0.0040") // what is read keeps it
  for (const [value, words] of /** @type {[number, string][]} */ ([[0, "no"], [1, "yes"]]))
    assert.equal(printed(value, { ...weights, words: ["no", "yes"] }, false), words)
})

test("no number that is not exactly 0 or 1 is written so, whatever its digits and its scale", () => {
  const scales = [{ low: 0, high: 1 }, { low: -1, high: 1 }, { low: 0.0001, high: 1, powers: true }]
  for (const value of CLOSE) for (const sign of [1, -1]) {
    const texts = [1, 2, 3, 4].map(digits => rounded(sign * value, digits, 1)).concat(inCell(sign * value, 1))
    if (sign > 0) texts.push(percent(value), ...[2, 3, 4].map(digits => decimals(value, digits)))
    for (const scale of scales) if (sign > 0 || scale.low < 0)
      texts.push(...[2, 4].map(digits => inDigits(sign * value, /** @type {MapScale} */ ({ ...scale, words: null }), digits)))
    for (const text of texts) assert.doesNotMatch(text, /^[+−]?(0?\.0+|0|1(\.0+)?|0(\.0+)?%|100(\.0+)?%)$/, `${sign * value} as ${text}`)
  }
  assert.deepEqual([0, 1, -1].map(value => rounded(value, 2, 1)), ["0.00", "1.00", "−1.00"])
  assert.deepEqual([0, 1, 0.99996, 0.1234, 0.00001].map(percent), ["0%", "100%", ">99.9%", "12.3%", "<0.01%"])
  assert.deepEqual([0.004, -0.004, 0.998, -0.998].map(value => inCell(value, 1)), ["", ">−.01", ">.99", "<−.99"])
  assert.equal(inCell(0.998), "1.00") // a score is no share: it may be rounded to any number but 0
})

test("pictures round their numbers in one place", () => {
  const scripts = readdirSync(ASSETS, { recursive: true, encoding: "utf8" }).filter(name => name.endsWith(".js") && !name.startsWith("plotly"))
  assert.ok(scripts.length > 50)
  for (const name of scripts) for (const line of readFileSync(new URL(name, ASSETS), "utf8").split("\n"))
    if (line.includes("toFixed") && !name.endsWith("paint.js"))
      assert.ok(STEPS.some(step => line.includes(step)), `${name}: ${line}`)
})
