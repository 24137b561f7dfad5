/* assets/pictures/follow_states.js: pictures that follow another one of the page, and questions that have no answer. */

import assert from "node:assert/strict"
import { test } from "node:test"

import { LONG, PATIENCE } from "../../assets/pictures/follow_states.js"
import { Simulation } from "./simulation.js"

const teller = { a: "picture" }

/** @returns {Simulation} a picture that another one has told to draw base=20, and has drawn it */
const joined = () => new Simulation().tell({ type: "join", changes: { base: 20 }, teller }).answer()

test("a commit of another picture is drawn, is not told again, and an older page does not undo it", () => {
  const picture = new Simulation().tell({ type: "join", changes: { base: 20 }, teller })
  assert.deepEqual([picture.questions, picture.told, picture.timer], [["base=20"], [], LONG])
  picture.answer()
  picture.page("seed=3")
  assert.deepEqual([picture.state.name, picture.questions, picture.isAtRest], ["joined", [], false])
})

test("when the teller knows that the page has heard, the next page is right, or time makes it so", () => {
  const picture = joined().tell({ type: "release", teller })
  assert.deepEqual([picture.state.name, picture.timer], ["committed", PATIENCE])
  assert.deepEqual(picture.page("base=20&seed=3").questions, ["base=20&seed=3"])
  assert.equal(picture.state.name, "following")
  assert.deepEqual(joined().tell({ type: "release", teller }).tell({ type: "timeout" }).questions, [""])
})

test("only the teller releases", () => {
  const picture = joined().tell({ type: "release", teller: { another: "picture" } })
  assert.deepEqual([picture.state.name, picture.timer], ["joined", LONG])
})

test("a page that says what is shown ends it, too", () => {
  assert.equal(joined().page("base=20").state.name, "following")
})

test("what is dragged after a commit of another picture goes back to that commit", () => {
  const picture = joined().tell({ type: "preview", changes: { base: 30 } }).answer()
  assert.equal(picture.state.name, "previewing")
  assert.deepEqual(picture.tell({ type: "retract" }).questions, ["base=20"])
  assert.equal(picture.state.name, "joined")
})

test("a page that has heard of all commits releases the pictures that joined; one that is behind does not", () => {
  const releases = (/** @type {Simulation} */ picture) => picture.effects.some(effect => effect.type === "release")
  const picture = new Simulation().tell({ type: "commit", changes: { base: 20 } })
  assert.ok(!releases(picture.page("", 0)))
  assert.ok(releases(picture.page("base=20", 1)))
})

test("a problem that stays is said in the picture's place, and the picture is at rest", () => {
  const picture = new Simulation().page("head=99").answer({ problem: "There is no head 99." })
  assert.deepEqual(picture.effects, [{ type: "explain", words: "There is no head 99.", instead: true }])
  assert.deepEqual([picture.timer, picture.isAtRest], [null, true])
  picture.page("head=2").answer()
  assert.deepEqual([picture.words, picture.drawn.at(-1), picture.isAtRest], ["", "head=2", true])
})

test("a preview that has a problem is not asked for again, and the next one is", () => {
  const picture = new Simulation().tell({ type: "preview", changes: { weight: 4 } }).answer({ problem: "Too much." })
  assert.deepEqual([picture.words, picture.questions], ["Too much.", []])
  assert.deepEqual(picture.tell({ type: "preview", changes: { weight: 0.4 } }).questions, ["weight=0.4"])
})

test("a busy server is asked again, never sooner than it says, each time later, and not by all at once", () => {
  const picture = new Simulation().page("seed=3")
  const waits = Array.from({ length: 7 }, () => {
    picture.answer({ problem: "The server is busy.", again: 3000, jitter: 0 })
    assert.equal(picture.words, `The server is busy. Asking again in ${Number(picture.timer) / 1000} s.`)
    assert.ok(!picture.isAtRest)
    const { timer } = picture
    assert.deepEqual(picture.tell({ type: "timeout" }).questions, ["seed=3"])
    return timer
  })
  assert.deepEqual(waits, [3000, 3000, 4000, 8000, 16_000, 30_000, 30_000])
  picture.answer()
  assert.deepEqual([picture.words, picture.drawn.at(-1)], ["", "seed=3"])
  picture.page("seed=4").answer({ problem: "The server is busy.", again: 0, jitter: 1 })
  assert.equal(picture.timer, 1250, "after an answer it begins anew; and up to a quarter more")
})

test("a server that was not reached is asked for what the page says by then", () => {
  const picture = new Simulation().page("seed=3").answer({ problem: "The server was not reached.", again: 0 })
  assert.equal(picture.timer, 1000)
  assert.deepEqual(picture.page("seed=4").questions, ["seed=4"])
  assert.equal(picture.timer, null)
})

test("a picture that nobody sees asks again when it is seen", () => {
  const picture = new Simulation().page("seed=3")
  picture.tell({ type: "answer", number: picture.state.asked })
  assert.deepEqual(picture.drawn, [""])
  assert.deepEqual(picture.page("seed=3").questions, ["seed=3"])
})

test("an answer whose query is written otherwise counts as what the page says", () => {
  const picture = new Simulation("head=1").tell({ type: "address", query: "layer=1&head=2" })
  picture.answer({ query: "head=2&layer=1" })
  picture.page("head=2&layer=1")
  assert.deepEqual([picture.questions, picture.isAtRest], [[], true])
})
