/* assets/pictures/follow_states.js: pictures that follow another one of the page, and questions that have no answer. */

import assert from "node:assert/strict"
import { test } from "node:test"

import { LONG, PATIENCE } from "../../assets/pictures/follow_states.js"
import { Simulation } from "./simulation.js"

/** @param {number} base
 * @param {number} number
 * @returns {FollowEvent} a commit of another picture of the window */
const join = (base, number) => ({ type: "join", changes: { base }, number })

/** @returns {Simulation} a picture that draws the first commit of another one */
const joined = () => new Simulation().tell(join(20, 1)).answer()

test("a commit of another picture is drawn, is not told again, and an older page does not undo it", () => {
  const picture = new Simulation().tell(join(20, 1))
  assert.deepEqual([picture.questions, picture.told, picture.timer], [["base=20"], [], LONG])
  picture.answer()
  picture.page("seed=3", 0)
  assert.deepEqual([picture.state.name, picture.questions, picture.isAtRest], ["committed", [], false])
})

test("a page that has heard of the commit is right, whatever else it says, or time makes it so", () => {
  const picture = joined()
  assert.deepEqual(picture.page("base=20&seed=3", 1).questions, ["base=20&seed=3"])
  assert.equal(picture.state.name, "following")
  assert.equal(joined().page("base=20", 1).state.name, "following")
  assert.deepEqual(joined().tell({ type: "timeout" }).questions, [""])
})

test("of two commits in a row, a page that has heard of the first alone does not undo the second", () => {
  const picture = joined().tell(join(30, 2)).answer()
  assert.deepEqual(picture.page("base=20", 1).questions, [])
  assert.ok(picture.page("base=30", 2).isAtRest)
  assert.deepEqual(picture.drawn, ["", "base=20", "base=30"])
})

test("what somebody else's link says is drawn at once, one question at a time, and held when it is told", () => {
  const picture = new Simulation("base=10").tell({ type: "wish", query: "base=20&seed=3" })
  assert.deepEqual(picture.questions, ["base=20&seed=3"])
  assert.deepEqual(picture.tell({ type: "wish", query: "seed=3" }).questions, [], "one is under way")
  assert.deepEqual(picture.answer().questions, ["seed=3"], "a value that is a default again is in no query")
  picture.answer().tell({ type: "join", changes: {}, query: "seed=3", number: 1 })
  assert.equal(picture.state.name, "committed")
  assert.ok(picture.page("seed=3", 1).isAtRest)
  assert.deepEqual(picture.drawn, ["base=10", "base=20&seed=3", "seed=3"])
})

test("who explores alone goes back to what the own page says", () => {
  const picture = new Simulation("base=10").tell({ type: "wish", query: "base=20" }).answer()
  assert.deepEqual(picture.tell({ type: "retract" }).questions, ["base=10"])
  assert.ok(picture.answer().isAtRest)
})

test("commits that do not concern a picture are not waited for", () => {
  const picture = new Simulation().page("seed=3", 5).answer()
  assert.ok(picture.isAtRest)
  assert.ok(picture.tell(join(20, 6)).answer().page("seed=3&base=20", 7).answer().isAtRest)
})

test("while the page is being run, time does not bring back what it has said before", () => {
  const picture = joined()
  assert.deepEqual(picture.tell({ type: "timeout", isRunning: true }).questions, [])
  assert.equal(picture.timer, PATIENCE)
  assert.deepEqual(picture.tell({ type: "timeout" }).questions, [""])
  const failed = new Simulation().page("seed=3").answer({ problem: "The server is busy.", again: 3000 })
  assert.deepEqual(failed.tell({ type: "timeout", isRunning: true }).questions, ["seed=3"], "no reason not to ask again")
})

test("what is dragged after a commit of another picture goes back to that commit", () => {
  const picture = joined().tell({ type: "preview", changes: { base: 30 } }).answer()
  assert.equal(picture.state.name, "previewing")
  assert.deepEqual(picture.tell({ type: "retract" }).questions, ["base=20"])
  assert.equal(picture.state.name, "committed")
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
