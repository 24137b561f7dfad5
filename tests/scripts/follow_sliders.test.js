/* assets/pictures/follow_states.js: what another picture, or a slider beside the page, has told the page. */

import assert from "node:assert/strict"
import { test } from "node:test"

import { LONG } from "../../assets/pictures/follow_states.js"
import { Simulation } from "./simulation.js"

/** @param {Values} changes
 * @returns {FollowEvent} */
const drag = changes => ({ type: "preview", changes })

/** @param {Values} changes
 * @param {number} number
 * @returns {FollowEvent} */
const letGo = (changes, number) => ({ type: "join", changes, number })

/** @type {FollowEvent} where it began */
const letGoThere = { type: "retract" }

/** @returns {Simulation} a picture while a slider that stood at 2 is held at 3 */
const dragged = () => new Simulation("layers=2").tell(drag({ layers: 3 })).answer()

test("a slider that is let go keeps what was drawn until the page has been run", () => {
  const picture = dragged().tell(letGo({ layers: 3 }, 1))
  assert.deepEqual([picture.state.name, picture.told, picture.timer], ["committed", [], LONG], "the slider has told the page")
  picture.answer().page("layers=2", 0)
  assert.deepEqual([picture.questions, picture.isAtRest], [[], false], "a page of a time before")
  picture.page("layers=3", 1)
  assert.deepEqual([picture.questions, picture.isAtRest, picture.timer], [[], true, null])
  assert.ok(picture.drawn.every(query => query !== "layers=2" || picture.drawn.indexOf(query) === 0))
})

test("the newest wish wins: what was on its way is drawn, and where it is let go is asked for next", () => {
  const picture = new Simulation("layers=2").tell(drag({ layers: 3 }))
  for (const layers of [4, 5]) assert.deepEqual(picture.tell(drag({ layers })).questions, [])
  assert.deepEqual(picture.tell(letGo({ layers: 6 }, 1)).questions, [])
  assert.deepEqual(picture.answer().questions, ["layers=6"])
  assert.ok(picture.answer().page("layers=6", 1).isAtRest)
})

test("let go where it began, it shows what the page says", () => {
  const picture = dragged().tell(drag({ layers: 2 })).answer().tell(letGoThere)
  assert.deepEqual([picture.state.name, picture.questions, picture.isAtRest], ["following", [], true])
  assert.deepEqual(dragged().tell(letGoThere).questions, ["layers=2"], "even if the last move was not seen")
})

test("acts in a row add up, though the page has heard of none", () => {
  const picture = new Simulation("layers=2").tell(letGo({ layers: 3 }, 1)).answer().tell(letGo({ heads: 8 }, 2))
  assert.deepEqual(picture.questions, ["layers=3&heads=8"])
  assert.ok(!picture.answer().page("layers=3", 1).isAtRest)
  assert.equal(picture.drawn.at(-1), "layers=3&heads=8")
  assert.ok(picture.page("layers=3&heads=8", 2).isAtRest)
})

test("a drag while the page is behind begins at what the page was told, and goes back there", () => {
  const picture = dragged().tell(letGo({ layers: 3 }, 1)).answer().tell(drag({ heads: 8 }))
  assert.deepEqual(picture.questions, ["layers=3&heads=8"])
  assert.deepEqual(picture.answer().tell(letGoThere).questions, ["layers=3"])
  assert.deepEqual([picture.state.name, picture.answer().isAtRest], ["committed", false])
  assert.ok(picture.page("layers=3", 1).isAtRest)
})

test("the server may narrow a value: what the page says when it has heard counts", () => {
  const picture = dragged().tell(letGo({ layers: 9 }, 1)).answer({ query: "layers=8" })
  assert.ok(picture.page("layers=8", 1).isAtRest)
  assert.equal(picture.drawn.at(-1), "layers=8")
  const other = dragged().tell(letGo({ layers: 3 }, 1)).answer().page("layers=1", 1)
  assert.deepEqual(other.questions, ["layers=1"])
})

test("what a picture has told the page is not forgotten by a slider, and the other way round", () => {
  const picture = new Simulation().commit({ base: 20 }).answer().tell(drag({ layers: 3 }))
  assert.deepEqual(picture.questions, ["base=20&layers=3"])
  assert.equal(picture.answer().tell(letGo({ layers: 3 }, 2)).state.name, "committed")
  assert.ok(!picture.answer().page("base=20", 1).isAtRest)
  assert.ok(picture.page("base=20&layers=3", 2).isAtRest)
  assert.deepEqual(dragged().tell(letGo({ layers: 3 }, 1)).answer().commit({ base: 20 }).questions, ["layers=3&base=20"])
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
  assert.deepEqual(both(picture => picture.answer().tell(letGo({ layers: 5 }, 1))), ["layers=5"])
})
