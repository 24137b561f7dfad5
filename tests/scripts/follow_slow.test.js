/* assets/pictures/follow_states.js: slow pictures, whose numbers are asked for at rest alone. */

import assert from "node:assert/strict"
import { test } from "node:test"

import { Simulation } from "./simulation.js"

/** @param {Values} changes
 * @returns {FollowEvent} */
const drag = changes => ({ type: "preview", changes })

/** @param {Values} changes
 * @param {number} number
 * @returns {FollowEvent} */
const letGo = (changes, number) => ({ type: "join", changes, number })

const slow = () => new Simulation("layers=2", true)

test("while a slider is dragged words alone are asked for, one question at a time, and the picture is awaited", () => {
  const picture = slow()
  assert.equal(picture.awaited, null)
  picture.tell(drag({ layers: 3 }))
  assert.deepEqual([picture.questions, picture.wordsAsked, picture.awaited], [[], ["layers=3"], "layers=3"])
  assert.deepEqual(picture.tell(drag({ layers: 4 })).wordsAsked, [], "one is on its way")
  picture.answerWords({ query: "layers=3" })
  assert.deepEqual([picture.said, picture.wordsAsked], [["layers=3"], ["layers=4"]], "the last wish is always fulfilled")
  picture.answerWords({ query: "layers=4" })
  assert.deepEqual([picture.said, picture.wordsAsked, picture.questions], [["layers=4"], [], []])
  assert.deepEqual([picture.awaited, picture.isAtRest, picture.drawn], ["layers=4", false, ["layers=2"]])
})

test("let go, the picture is asked for and drawn before the page has been run", () => {
  const picture = slow().tell(drag({ layers: 3 })).answerWords({ query: "layers=3" }).tell(letGo({ layers: 3 }, 1))
  assert.deepEqual([picture.questions, picture.wordsAsked], [["layers=3"], []])
  picture.answer()
  assert.deepEqual([picture.drawn.at(-1), picture.awaited], ["layers=3", null])
  assert.ok(picture.page("layers=3", 1).isAtRest)
})

test("let go while words are on their way, it is asked for as soon as these have come, or have not", () => {
  for (const isAnswered of [true, false]) {
    const picture = slow().tell(drag({ layers: 3 })).tell(letGo({ layers: 3 }, 1))
    assert.deepEqual(picture.questions, [])
    assert.deepEqual(picture.answerWords({ query: "layers=3", isAnswered }).questions, ["layers=3"])
    assert.equal(picture.answer().awaited, null)
  }
})

test("dragged back to where it began, words are renewed again, and the picture that is there is right", () => {
  const picture = slow().tell(drag({ layers: 3 })).answerWords({ query: "layers=3" }).tell(drag({ layers: 2 }))
  assert.deepEqual([picture.wordsAsked, picture.awaited], [["layers=2"], null])
  picture.answerWords({ query: "layers=2" }).tell({ type: "retract" })
  assert.deepEqual([picture.questions, picture.isAtRest, picture.awaited], [[], true, null])
})

test("who lets go where it began does not want the words that are still on their way", () => {
  const picture = slow().tell(drag({ layers: 3 })).tell({ type: "retract" })
  assert.equal(picture.awaited, null)
  picture.answerWords({ query: "layers=3" })
  assert.deepEqual([picture.said, picture.wordsAsked, picture.isAtRest], [[], [], true])
})

test("an answer that comes while the next drag goes on is drawn, and a newer one awaited", () => {
  const picture = slow().tell(letGo({ layers: 3 }, 1))
  const { asked } = picture.state
  picture.tell(drag({ layers: 5 }))
  picture.answer({ number: asked })
  assert.deepEqual([picture.drawn.at(-1), picture.awaited, picture.questions], ["layers=3", "layers=5", []])
  assert.deepEqual(picture.wordsAsked, ["layers=5"])
  assert.deepEqual(picture.answerWords({ query: "layers=5" }).tell(letGo({ layers: 5 }, 2)).questions, ["layers=5"])
})

test("presses in a row ask for words each, and the page's run at their end for the picture", () => {
  const picture = slow()
  for (const [before, query] of [["layers=2", "layers=3"], ["layers=3", "layers=4"]]) {
    picture.tell({ type: "address", query, before })
    assert.deepEqual([picture.questions, picture.wordsAsked, picture.awaited], [[], [query], query])
  }
  assert.deepEqual(picture.answerWords({ query: "layers=4" }).said, ["layers=4"])
  assert.deepEqual(picture.answerWords({ query: "layers=3", number: 1 }).said, [], "an older press")
  assert.deepEqual(picture.page("layers=4").questions, ["layers=4"])
  picture.answer()
  assert.deepEqual([picture.awaited, picture.isAtRest], [null, true])
})

test("pressed back to where it began, words are renewed again, and the picture that is there is right", () => {
  const picture = slow().tell({ type: "address", query: "layers=3", before: "layers=2" })
  picture.tell({ type: "address", query: "layers=2", before: "layers=3" })
  assert.deepEqual([picture.wordsAsked, picture.awaited], [["layers=2"], null])
  assert.ok(picture.page("layers=2").isAtRest)
})

test("what the page refuses, or never hears of, is not awaited for ever", () => {
  const refused = slow().tell(letGo({ layers: 99 }, 1)).answer({ problem: "It is too large." }).page("layers=8", 1).answer()
  assert.deepEqual([refused.awaited, refused.drawn.at(-1), refused.isAtRest], [null, "layers=8", true])
  const unheard = slow().tell({ type: "address", query: "layers=3", before: "layers=2" }).tell({ type: "timeout" })
  assert.deepEqual([unheard.awaited, unheard.isAtRest], [null, true])
})

test("what was slow and is not any more is asked for with each move again", () => {
  const picture = slow()
  picture.slow = false
  picture.page("layers=1").answer().tell(drag({ layers: 2 }))
  assert.deepEqual([picture.questions, picture.wordsAsked], [["layers=2"], []])
})

test("a page that has caught up while the picture is on its way does not ask for it again, in whatever order it writes", () => {
  const picture = slow().tell(letGo({ seed: 8 }, 1))
  assert.deepEqual(picture.questions, ["layers=2&seed=8"])
  picture.page("seed=8&layers=2", 1)
  assert.deepEqual([picture.questions, picture.awaited, picture.isAtRest], [[], "layers=2&seed=8", false])
  assert.ok(picture.answer().isAtRest)
})
