/* assets/pictures/follow_states.js: sliders beside the page, which tell it themselves when they are let go. */

import assert from "node:assert/strict"
import { test } from "node:test"

import { LONG, PATIENCE } from "../../assets/pictures/follow_states.js"
import { Simulation } from "./simulation.js"

/** @param {Values} changes
 * @returns {FollowEvent} */
const drag = changes => ({ type: "preview", changes })

/** @param {Values} changes
 * @returns {FollowEvent} */
const letGo = changes => ({ type: "moved", changes })

/** @type {FollowEvent} where it began */
const letGoThere = { type: "retract" }

/** @returns {Simulation} a picture while a slider that stood at 2 is held at 3 */
const dragged = () => new Simulation("layers=2").tell(drag({ layers: 3 })).answer()

test("a slider that is let go keeps what was drawn until the page has been run", () => {
  const picture = dragged().tell(letGo({ layers: 3 }))
  assert.deepEqual([picture.state.name, picture.questions, picture.told], ["ahead", [], []])
  assert.equal(picture.timer, LONG, "the page is sure to hear of it")
  picture.page("layers=2")
  assert.deepEqual([picture.questions, picture.isAtRest], [[], false], "a page of a time before")
  assert.equal(picture.timer, PATIENCE, "the next one will not be long")
  picture.page("layers=3")
  assert.deepEqual([picture.questions, picture.isAtRest, picture.timer], [[], true, null])
  assert.deepEqual(picture.drawn, ["layers=2", "layers=3"])
})

test("the newest wish wins: where it is let go is asked for at once, and what was on its way is not drawn", () => {
  const picture = new Simulation("layers=2").tell(drag({ layers: 3 }))
  const { asked } = picture.state
  for (const layers of [4, 5]) assert.deepEqual(picture.tell(drag({ layers })).questions, [])
  assert.deepEqual(picture.tell(letGo({ layers: 6 })).questions, ["layers=6"])
  picture.answer({ number: asked, query: "layers=3" })
  assert.deepEqual([picture.drawn, picture.questions], [["layers=2"], []])
  assert.deepEqual(picture.answer().page("layers=6").drawn, ["layers=2", "layers=6"])
  assert.ok(picture.isAtRest)
})

test("let go where it began, it shows what the page says", () => {
  const picture = dragged().tell(drag({ layers: 2 })).answer().tell(letGoThere)
  assert.deepEqual([picture.state.name, picture.questions, picture.isAtRest], ["following", [], true])
  assert.deepEqual(dragged().tell(letGoThere).questions, ["layers=2"], "even if the last move was not seen")
})

test("a key, which moves a slider and lets it go in one, is asked for at once", () => {
  const picture = new Simulation("layers=2").tell(letGo({ layers: 3 }))
  assert.deepEqual([picture.questions, picture.state.name], [["layers=3"], "ahead"])
  assert.deepEqual(picture.tell({ type: "address", query: "layers=3" }).questions, [], "it is on its way")
  assert.ok(picture.answer().page("layers=3").isAtRest)
})

test("keys in a row add up, though the page has heard of none", () => {
  const picture = new Simulation("layers=2").tell(letGo({ layers: 3 })).answer().tell(letGo({ heads: 8 }))
  assert.deepEqual(picture.questions, ["layers=3&heads=8"])
  assert.ok(!picture.answer().page("layers=3").isAtRest)
  assert.equal(picture.drawn.at(-1), "layers=3&heads=8")
  assert.ok(picture.page("layers=3&heads=8").isAtRest)
})

test("a drag while the page is behind begins at what the page is about to say, and goes back there", () => {
  const picture = dragged().tell(letGo({ layers: 3 })).tell(drag({ heads: 8 }))
  assert.deepEqual(picture.questions, ["layers=3&heads=8"])
  assert.deepEqual(picture.answer().tell(letGoThere).questions, ["layers=3"])
  assert.deepEqual([picture.state.name, picture.answer().isAtRest], ["ahead", false])
  assert.ok(picture.page("layers=3").isAtRest)
})

test("passing what an older page says on the way does not undo what the page is about to say", () => {
  const picture = dragged().tell(letGo({ layers: 3 })).tell(drag({ layers: 2 })).answer()
  assert.equal(picture.state.name, "previewing")
  assert.deepEqual(picture.tell(letGoThere).questions, ["layers=3"])
})

test("where the page has caught up during the next drag, nothing is waited for when that ends where it began", () => {
  const picture = dragged().tell(letGo({ layers: 3 })).tell(drag({ heads: 8 })).answer().page("layers=3")
  assert.equal(picture.drawn.at(-1), "layers=3&heads=8", "what is under the finger")
  assert.deepEqual(picture.tell(letGoThere).questions, ["layers=3"])
  assert.ok(picture.answer().isAtRest)
})

test("the server may write a value in another way, or narrow it: what it has drawn is what the page will say", () => {
  const picture = dragged().tell(letGo({ layers: 9 })).answer({ query: "layers=8" })
  assert.equal(picture.state.name, "ahead")
  assert.ok(picture.page("layers=8").isAtRest)
  assert.deepEqual(picture.drawn, ["layers=2", "layers=3", "layers=8"])
})

test("a page that says something else counts when the time is over", () => {
  const picture = dragged().tell(letGo({ layers: 3 })).page("layers=1")
  assert.deepEqual(picture.questions, [])
  assert.deepEqual(picture.tell({ type: "timeout" }).questions, ["layers=1"])
  assert.ok(picture.answer().isAtRest)
})

test("an address that says something else is followed once the slider is let go", () => {
  const picture = dragged().tell({ type: "address", query: "layers=1" })
  assert.deepEqual(picture.questions, [], "while it is held, the finger counts")
  picture.tell(letGo({ layers: 3 })).tell({ type: "address", query: "layers=1" })
  assert.deepEqual(picture.questions, ["layers=1"])
})

test("what a picture has told the page is not forgotten by a slider, and the other way round", () => {
  const picture = new Simulation().commit({ base: 20 }).answer()
  assert.deepEqual(picture.tell(drag({ layers: 3 })).questions, ["base=20&layers=3"])
  assert.deepEqual(picture.answer().tell(letGo({ layers: 3 })).state.name, "committed")
  assert.ok(!picture.answer().page("", 0).isAtRest)
  assert.ok(picture.page("base=20&layers=3", 1).isAtRest)
  const other = dragged().tell(letGo({ layers: 3 })).commit({ base: 20 })
  assert.deepEqual(other.questions, ["layers=3&base=20"])
})

test("two pictures that are told the same ask the same, in step", () => {
  const pictures = [new Simulation("layers=2"), new Simulation("layers=2")]
  /** @param {(picture: Simulation) => Simulation} act */
  const both = act => {
    const [first, second] = pictures.map(picture => act(picture).questions)
    assert.deepEqual(first, second)
    return first
  }
  assert.deepEqual(both(picture => picture.tell(drag({ layers: 3 }))), ["layers=3"])
  assert.deepEqual(both(picture => picture.tell(drag({ layers: 4 }))), [])
  assert.deepEqual(both(picture => picture.answer()), ["layers=4"])
  assert.deepEqual(both(picture => picture.tell(letGo({ layers: 5 }))), ["layers=5"])
})
