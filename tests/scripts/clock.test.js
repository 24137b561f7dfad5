/* The speaker's clock, without a browser: what it says of the plan. */

import assert from "node:assert/strict"
import { test } from "node:test"

import { words } from "../../assets/lessons/clock.js"

const PLAN = { before: 10, step: 4, lecture: 90, began: 1000, stepBegan: 1600, now: 1600 }

test("who begins a step when it was planned is on time", () => {
  assert.deepEqual(words(PLAN, 1660), {
    whole: "11:00 of 90 minutes", step: "this step 1:00 of 4 minutes", far: "on time", late: false,
  })
})

test("who begins a step later than planned is late, and earlier is early", () => {
  assert.equal(words({ ...PLAN, stepBegan: 1600 + 180 }, 1600 + 180).far, "3 minutes late")
  assert.equal(words({ ...PLAN, stepBegan: 1600 - 60 }, 1600).far, "1 minute early")
})

test("a step that takes longer than planned makes late, too", () => {
  const told = words(PLAN, 1600 + 6 * 60)
  assert.equal(told.far, "2 minutes late")
  assert.ok(told.late)
})

test("a clock that is set back shows no time before the beginning", () => {
  assert.equal(words(PLAN, 900).whole, "0:00 of 90 minutes")
})
