/* assets/pictures/follow_states.js: which question is asked when, and whose answer is drawn. */

import assert from "node:assert/strict"
import { test } from "node:test"

import { LONG, PATIENCE } from "../../assets/pictures/follow_states.js"
import { Simulation } from "./simulation.js"

/** @param {Values} changes
 * @returns {FollowEvent} */
const preview = changes => ({ type: "preview", changes })

/** A control was moved: what the address is now, and what it was.
 * @param {string} before
 * @param {string} query
 * @returns {FollowEvent} */
const address = (before, query) => ({ type: "address", query, before })

test("what the page says is asked for, drawn, and the picture is at rest", () => {
  const picture = new Simulation("head=1")
  assert.deepEqual(picture.drawn, ["head=1"])
  assert.equal(picture.state.name, "following")
  assert.ok(picture.isAtRest)
  picture.page("head=1")
  assert.deepEqual(picture.questions, [], "it is there")
  picture.page("head=2")
  assert.deepEqual(picture.questions, ["head=2"])
  assert.ok(!picture.isAtRest)
  picture.page("head=2")
  assert.deepEqual(picture.questions, [], "it is on its way")
})

test("the newest question wins, and answers to older ones are not drawn", () => {
  const picture = new Simulation()
  const [first, second] = ["head=2", "head=3"].map(query => picture.page(query).state.asked)
  picture.answer({ number: first, query: "head=2" })
  assert.deepEqual(picture.drawn, [""])
  picture.answer({ number: second })
  assert.deepEqual(picture.drawn, ["", "head=3"])
  picture.answer({ number: first, query: "head=2" })
  assert.deepEqual(picture.drawn, ["", "head=3"])
})

test("who goes there and back quickly ends where the page is", () => {
  const picture = new Simulation("head=1").page("head=2")
  const { asked } = picture.state
  picture.page("head=1")
  assert.ok(picture.isAtRest)
  picture.answer({ number: asked, query: "head=2" })
  assert.deepEqual(picture.drawn, ["head=1"])
})

test("a preview is asked for at once, the next ones when its answer is there, and only the last of them", () => {
  const picture = new Simulation().tell(preview({ base: 10 }))
  assert.deepEqual(picture.questions, ["base=10"])
  assert.deepEqual([picture.state.name, picture.isAtRest], ["previewing", false])
  for (const base of [20, 30, 40]) assert.deepEqual(picture.tell(preview({ base })).questions, [])
  picture.answer()
  assert.equal(picture.effects.some(effect => effect.type === "draw" && effect.late), true, "40 is newer")
  assert.deepEqual(picture.questions, ["base=40"])
  picture.answer()
  assert.equal(picture.effects.some(effect => effect.type === "draw" && effect.late), false)
  assert.deepEqual(picture.drawn, ["", "base=10", "base=40"])
  assert.deepEqual(picture.told, [])
})

test("while something is dragged the page waits, and a retraction goes back to what it says", () => {
  const picture = new Simulation().tell(preview({ weight: 0.4 })).answer()
  assert.deepEqual(picture.page("head=2").questions, [])
  assert.deepEqual(picture.tell({ type: "retract" }).questions, ["head=2"])
  picture.answer()
  assert.deepEqual([picture.state.name, picture.isAtRest], ["following", true])
})

test("a preview that begins while an older one is still on its way is drawn, even if it asks for the same", () => {
  const picture = new Simulation().tell(preview({ base: 10 }))
  const { asked } = picture.state
  picture.page("seed=1").tell({ type: "retract" })
  picture.answer()
  picture.page("").answer().tell(preview({ base: 10 }))
  assert.deepEqual(picture.questions, [], "the older question is still on its way")
  picture.answer({ number: asked, query: "base=10" })
  assert.deepEqual(picture.questions, ["base=10"])
  picture.answer()
  assert.equal(picture.drawn.at(-1), "base=10")
})

test("the same, where what was on its way was taken back", () => {
  const picture = new Simulation().tell(preview({ base: 10 })).tell({ type: "retract" }).tell(preview({ base: 10 }))
  assert.deepEqual(picture.questions, [])
  assert.deepEqual(picture.answer({ query: "base=10" }).questions, ["base=10"])
})

test("a preview on the way back to what the page says is not the end, if a newer one waits", () => {
  const picture = new Simulation("head=1").tell(preview({ head: 2 })).tell(preview({ head: 1 })).answer()
  assert.deepEqual(picture.questions, ["head=1"])
  picture.tell(preview({ head: 2 })).answer()
  assert.deepEqual([picture.state.name, picture.questions], ["previewing", ["head=2"]])
})

test("a commit is drawn at once, told with its number, and holds until the page has heard of it", () => {
  const picture = new Simulation().commit({ step: "key" })
  assert.deepEqual(picture.questions, ["step=key"])
  assert.deepEqual(picture.told, [{ changes: { step: "key" }, number: 1 }])
  assert.deepEqual([picture.state.name, picture.timer], ["committed", LONG])
  picture.answer()
  assert.ok(!picture.isAtRest, "the page has not answered")
  picture.page("head=2", 0)
  assert.equal(picture.state.name, "committed", "this page is of a time before")
  picture.page("step=key", 1)
  assert.deepEqual([picture.state.name, picture.timer, picture.isAtRest], ["following", null, true])
  assert.deepEqual(picture.drawn, ["", "step=key"])
})

test("a page that has heard is right, whatever else it says and before the answer is there", () => {
  const picture = new Simulation().commit({ key: 3 })
  assert.deepEqual(picture.page("key=3&head=2", 1).questions, ["key=3&head=2"])
  picture.answer()
  assert.deepEqual(picture.drawn, ["", "key=3&head=2"])
})

test("a page that is behind changes nothing though it says what is shown", () => {
  const picture = new Simulation("step=heads").commit({ step: "output" }).answer()
  picture.commit({ step: "heads" }).answer()
  for (const [heard, step] of ["heads", "output"].entries()) {
    picture.page(`step=${step}`, heard)
    assert.deepEqual([picture.state.name, picture.questions], ["committed", []])
  }
  picture.page("step=heads", 2)
  assert.deepEqual([picture.state.name, picture.questions], ["following", []])
})

test("of two commits in a row the second tells of both, and an answer clears them", () => {
  const picture = new Simulation().commit({ step: "key" }).commit({ head: 2 })
  assert.deepEqual(picture.told, [{ changes: { step: "key", head: 2 }, number: 2 }])
  assert.equal(picture.state.latest, "step=key&head=2")
  picture.page("step=key&head=2", 2)
  picture.commit({ head: 3 })
  assert.deepEqual(picture.told, [{ changes: { head: 3 }, number: 3 }])
})

test("a retraction after a commit goes back to what the page was told", () => {
  const picture = new Simulation().commit({ weight: 0.4 }).answer()
  picture.tell(preview({ weight: 0.7 })).answer()
  assert.equal(picture.state.name, "previewing")
  assert.deepEqual(picture.tell({ type: "retract" }).questions, ["weight=0.4"])
  assert.deepEqual([picture.state.name, picture.timer], ["committed", LONG])
})

test("a page that never hears is right in the end", () => {
  const picture = new Simulation("head=1").commit({ head: 2 }).answer()
  assert.deepEqual(picture.tell({ type: "timeout" }).questions, ["head=1"])
  picture.answer()
  assert.ok(picture.isAtRest)
})

test("values that no numbers depend on are told, and drawn with the same numbers when the page has them", () => {
  const picture = new Simulation()
  picture.page("", 0, { zoom: 1 })
  picture.commit({ zoom: 2 })
  assert.deepEqual([picture.questions, picture.told], [[], [{ changes: { zoom: 2 }, number: 1 }]])
  assert.ok(!picture.isAtRest, "the page has not answered")
  picture.page("", 0, { zoom: 2 })
  assert.deepEqual(picture.effects.map(effect => effect.type).filter(type => type === "redraw"), ["redraw"])
  assert.ok(picture.isAtRest)
  picture.page("", 0, { zoom: 2 })
  assert.deepEqual(picture.effects.map(effect => effect.type).filter(type => type === "redraw"), [], "it is drawn")
})

test("a picture goes ahead with the address, and waits for the page only for a while", () => {
  const picture = new Simulation("head=1").tell({ type: "address", query: "head=2" })
  assert.deepEqual([picture.state.name, picture.questions, picture.timer], ["ahead", ["head=2"], LONG])
  picture.answer()
  picture.page("head=1")
  assert.deepEqual([picture.state.name, picture.timer], ["ahead", PATIENCE], "a page that was on its way")
  picture.page("head=2")
  assert.deepEqual([picture.state.name, picture.isAtRest], ["following", true])
  picture.tell({ type: "address", query: "head=3" }).answer()
  assert.deepEqual(picture.tell({ type: "timeout" }).questions, ["head=2"])
})

test("an address that says the same of the numbers asks nothing", () => {
  const picture = new Simulation("head=1&layer=2").page("head=1&layer=2", 0, { zoom: 1 })
  for (const query of ["layer=2&head=1", "layer=2&head=1&present=1", "zoom=3&layer=2&head=1"]) {
    assert.deepEqual(picture.tell({ type: "address", query }).questions, [])
    assert.equal(picture.state.name, "following")
  }
})

test("the next step of a lesson, on the same picture, asks nothing and leaves it at rest, whether the page says more or not", () => {
  for (const slow of [false, true]) {
    const picture = new Simulation("head=1", slow)
    picture.tell({ type: "address", query: "lesson=a.second&head=1", before: "lesson=a.first&head=1" })
    assert.deepEqual([picture.state.name, picture.questions, picture.isAtRest], ["following", [], true])
    assert.equal(picture.awaited, null, "nothing newer is on its way")
    picture.page("head=1")
    assert.deepEqual([picture.questions, picture.isAtRest], [[], true])
  }
})

test("an address out of which the page has taken what belonged to controls that are gone says nothing new", () => {
  const picture = new Simulation("head=1&view=a").page("head=2&view=b").answer()
  picture.tell({ type: "address", query: "view=b", isTidied: true })
  assert.deepEqual([picture.state.name, picture.questions, picture.isAtRest], ["following", [], true])
  for (const [query, isTidied] of /** @type {[string, boolean][]} */ ([["view=b", false], ["view=c", true], ["head=2&base=3", true]])) {
    const moved = new Simulation("head=1&view=a").page("head=2&view=b").answer().tell({ type: "address", query, isTidied })
    assert.deepEqual([moved.state.name, moved.questions], ["ahead", [query]])
  }
})

test("what the page holds and its address does not say is asked for with the address, so that both say the same", () => {
  const picture = new Simulation("seed=1&layer=2&view=scale")
  picture.tell(address("view=scale&seed=1", "view=scale&seed=2"))
  assert.deepEqual(picture.questions, ["view=scale&seed=2&layer=2"])
  picture.tell(address("view=scale&seed=2", "view=scale&seed=3"))
  assert.deepEqual(picture.questions, ["view=scale&seed=3&layer=2"], "the page has not been run since")
  picture.answer().page("seed=3&layer=2&view=scale")
  assert.deepEqual([picture.state.name, picture.questions, picture.isAtRest], ["following", [], true])
  picture.tell(address("view=scale&seed=3", "view=scale&seed=3&layer=3"))
  assert.deepEqual(picture.questions, ["view=scale&seed=3&layer=3"], "the address says it now")
})

test("what the page no longer holds when it speaks is not waited for: a question has been set up", () => {
  const picture = new Simulation("seed=2&layer=2&view=scale")
  picture.tell(address("view=scale&seed=2", "view=scale")).answer()
  picture.page("view=scale")
  assert.deepEqual([picture.state.name, picture.questions, picture.isAtRest], ["following", ["view=scale"], false])
  assert.ok(picture.answer().isAtRest)
})

test("what is taken back to its default by hand is not kept", () => {
  const picture = new Simulation("seed=1&layer=2")
  picture.tell(address("layer=2&seed=1", "seed=1"))
  assert.deepEqual(picture.questions, ["seed=1"])
  picture.tell(address("seed=1", "seed=2"))
  assert.deepEqual(picture.questions, ["seed=2"], "though the page still says layer=2")
})

test("a picture that asked for nothing is at rest when the page says the same in another order, or its question", () => {
  const picture = new Simulation("seed=1&view=padding").page("seed=1&view=padding", 0, { question: 1 })
  picture.tell({ type: "address", query: "question=1&view=padding&seed=2" })
  picture.answer({ query: "question=1&view=padding&seed=2" })
  picture.page("seed=2&view=padding", 0, { question: 1 })
  assert.deepEqual([picture.state.name, picture.questions, picture.isAtRest], ["following", [], true])
})

test("after a wish the address is not followed: the picture is ahead of it", () => {
  const picture = new Simulation().commit({ head: 2, layer: 3 })
  assert.deepEqual(picture.tell({ type: "address", query: "head=2" }).questions, [])
  assert.equal(picture.state.name, "committed")
})

test("what was refused for the moment is asked again, though the page does not know of it yet", () => {
  const picture = new Simulation("head=1").tell({ type: "address", query: "head=2" })
  picture.tell({ type: "answer", number: picture.state.asked, problem: "busy", again: 0 })
  assert.deepEqual(picture.tell({ type: "timeout" }).questions, ["head=2"])
  assert.equal(picture.state.name, "ahead")
  picture.answer()
  picture.page("head=2")
  assert.ok(picture.isAtRest)
})
