/* How scripts write numbers. */

import assert from "node:assert/strict"
import { test } from "node:test"

import { range } from "../../assets/pictures/maps_window.js"
import { grouped } from "../../assets/pictures/paint.js"

test("thousands have commas", () => {
  assert.deepEqual([7, 999, 1000, 56480.2, 100096, 16777216].map(grouped), ["7", "999", "1,000", "56,480", "100,096", "16,777,216"])
})

test("a range of rows is written with both of its ends, and a single row alone", () => {
  assert.equal(range(0, 4096, 16, 64), "1,024–1,039")
  assert.equal(range(1, 4096, 1, 1234), "1,235")
  assert.equal(range(0, 1000, 64, 15), "960–999")
})
