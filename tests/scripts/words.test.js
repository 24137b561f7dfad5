/* assets/pictures/words.js: what a slow panel says is marked as being renewed until its words are there, and no longer. */

import assert from "node:assert/strict"
import { beforeEach, mock, test } from "node:test"

import { encoded } from "./answers.js"

class Panel {
  /** @param {Place} place */
  contains(place) { return place.panel === this }
}

/** An element of the page, as far as words work on it. */
class Place {
  /** @type {Map<string, string>} */
  attributes = new Map()
  /** @type {{ textContent: string }[]} */
  childNodes = []
  dataset = { settled: "" } // of a picture: at rest with this query

  /** @param {Panel | null} panel in which it stands */
  constructor(panel) { this.panel = panel }

  get textContent() { return this.childNodes.map(({ textContent }) => textContent).join("") }
  get isBusy() { return this.attributes.get("aria-busy") === "true" }

  /** @param {string} name @param {string} value */
  setAttribute(name, value) { this.attributes.set(name, value) }
  /** @param {string} name */
  removeAttribute(name) { this.attributes.delete(name) }
  /** @param {{ textContent: string }[]} nodes */
  append(...nodes) { this.childNodes.push(...nodes) }
  /** @param {{ textContent: string }[]} nodes */
  replaceChildren(...nodes) { this.childNodes = nodes }
  /** @param {boolean} deep */
  cloneNode(deep) {
    const copy = new Place(this.panel)
    if (deep) copy.childNodes = this.childNodes
    return copy
  }
  querySelectorAll() { return [] } // words of the glossary that are not marked
  /** @param {Place} other */
  isEqualNode(other) { return this.textContent === other.textContent }
  closest() { return this.panel }
  getRootNode() { return this }
}

const panels = { slow: new Panel(), quick: new Panel() }
const places = { facts: new Place(null), said_slow: new Place(panels.slow), said_quick: new Place(panels.quick) }
const picture = { slow: new Place(panels.slow), quick: new Place(panels.quick) }
const page = { isBehind: false }
/** @param {string} selector */
const named = selector => Object.entries(places).find(([name]) => selector === `[data-words="${name}"]`)?.[1] ?? null
Object.assign(globalThis, {
  CSS: { escape: String },
  HTMLElement: class {},
  ShadowRoot: class {},
  MutationObserver: class { observe() {} disconnect() {} },
  document: {
    baseURI: "http://lab/",
    body: {},
    documentElement: { toggleAttribute: (/** @type {string} */ _, /** @type {boolean} */ isOn) => { page.isBehind = isOn } },
    querySelector: named,
    querySelectorAll: () => Object.values(places).filter(({ isBusy }) => isBusy),
    createTextNode: (/** @type {string} */ textContent) => ({ textContent }),
    createElement: () => ({}),
  },
  addEventListener() {},
  requestAnimationFrame() {}, // what marks words of the glossary is tested in the browser
})
mock.timers.enable({ apis: ["setTimeout"] })
const { default: pageSays, sayInPanel, sayOnPage, wanted } = await import("../../assets/pictures/words.js")

const LATER = { later: true }
let question = 0
let leave = () => {}

/** The page has been run, and its words are on screen.
 * @param {string} query */
function run(query) {
  const data = { names: ["model.words", "model.answer"], slow: "model.slow", query, said: "" }
  leave = pageSays(/** @type {any} */ ({ data, parentElement: { querySelector: () => ({}) } }))
  for (const place of Object.values(places)) place.replaceChildren({ textContent: `the page's of ${query}` })
  mock.timers.tick(120)
}

/** An answer has come, to pictures of these panels.
 * @param {string} query @param {Partial<Record<keyof typeof places, Spoken>>} words @param {(keyof typeof picture)[]} drawn */
function answer(query, words, drawn = ["slow", "quick"]) {
  question += 0.001 // below those that ask.js counts
  const spoken = { query, places: /** @type {Record<string, Spoken>} */ (words) }
  for (const panel of drawn) {
    sayInPanel(spoken, /** @type {any} */ (picture[panel]))
    sayOnPage(spoken, question, () => /** @type {any} */ (Object.values(picture)))
  }
}

/** @param {string} query @returns {Partial<Record<keyof typeof places, Spoken>>} what the page says at a tick */
const tick = query => ({ facts: { text: [query] }, said_quick: { text: [query] }, said_slow: LATER })

const marked = () => Object.entries(places).filter(([, { isBusy }]) => isBusy).map(([name]) => name)

beforeEach(() => {
  leave()
  mock.timers.tick(1)
  run("seed=0")
})

test("a tick renews what is quick, and marks what a slow panel says, whose words stay", () => {
  assert.deepEqual([marked(), page.isBehind], [[], false])
  answer("seed=1", tick("seed=1"))
  assert.deepEqual([marked(), page.isBehind], [["said_slow"], true])
  assert.equal(places.said_slow.textContent, "the page's of seed=0")
  assert.equal(places.said_quick.textContent, "seed=1")
})

test("an act is there in the words for a mouse and for fingers, and the style shows one of them", () => {
  answer("seed=1", { said_quick: { text: [{ mouse: "Click", touch: "Tap" }, " a cell"] } })
  const [mouse, touch, rest] = /** @type {{ className?: string, textContent: string }[]} */ (places.said_quick.childNodes)
  assert.deepEqual([mouse.className, mouse.textContent, touch.className, touch.textContent], ["by_mouse", "Click", "by_touch", "Tap"])
  assert.equal(rest.textContent, " a cell")
})

test("the words that come with the slow picture end the mark, and a later tick marks them again", () => {
  answer("seed=1", tick("seed=1"))
  answer("seed=1", { ...tick("seed=1"), said_slow: { text: ["slow of 1"] } })
  assert.deepEqual([marked(), places.said_slow.textContent], [[], "slow of 1"])
  answer("seed=1", tick("seed=1"), ["quick", "slow"]) // of the same link: they are there already
  assert.deepEqual(marked(), [])
  answer("seed=2", tick("seed=2"))
  assert.deepEqual([marked(), places.said_slow.textContent], [["said_slow"], "slow of 1"])
})

test("words of an older link do not end the mark, nor does a page that was run before", () => {
  answer("seed=1", tick("seed=1"))
  answer("seed=2", tick("seed=2"))
  answer("seed=1", { said_slow: { text: ["slow of 1"] } }, ["slow"])
  assert.deepEqual(marked(), ["said_slow"])
  run("seed=1")
  assert.deepEqual(marked(), ["said_slow"])
})

test("a page that has caught up ends the mark", () => {
  answer("seed=1", tick("seed=1"))
  run("seed=1")
  assert.deepEqual([marked(), page.isBehind, places.said_slow.textContent], [[], false, "the page's of seed=1"])
})

test("who drags back to what the page says ends the mark, unless the words there are of another link by now", () => {
  answer("seed=1", tick("seed=1"))
  answer("seed=0", tick("seed=0"))
  assert.deepEqual([marked(), page.isBehind], [[], false])
  answer("seed=1", { ...tick("seed=1"), said_slow: { text: ["slow of 1"] } })
  answer("seed=0", tick("seed=0"))
  assert.deepEqual([marked(), page.isBehind], [["said_slow"], true])
})

test("slow words are asked for at rest alone, and the answer of a question with them", context => {
  answer("seed=1", tick("seed=1"))
  assert.deepEqual([wanted("seed=2"), wanted("seed=2", true)], [["model.words"], ["model.words", "model.slow"]])
  context.mock.method(document, "querySelector", () => places.facts) // there is an open answer
  assert.deepEqual([wanted("seed=2"), wanted("seed=2", true)], [["model.words"], ["model.words", "model.answer", "model.slow"]])
})

/** All pictures rest at the page's link: the words that the page asks for by then.
 * @param {Partial<Record<keyof typeof places, Spoken>>} words with which it is answered */
async function rest(words) {
  for (const { dataset } of Object.values(picture)) dataset.settled = "seed=0"
  /** @type {string[]} */
  const asked = []
  globalThis.fetch = async address => {
    const names = String(address).split("/pictures/")[1].split("+")
    asked.push(...names)
    return new Response(new Blob(names.map(() => encoded({ query: "seed=0", places: /** @type {any} */ (words) }))))
  }
  mock.timers.tick(120)
  for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate)
  return asked
}

test("a wish that nobody takes further is forgotten once all pictures rest: the page's words are asked for", async () => {
  answer("seed=1", tick("seed=1"))
  assert.deepEqual(await rest({ said_slow: { text: ["slow of 0"] } }), ["model.words", "model.slow"])
  assert.deepEqual([marked(), page.isBehind, places.said_slow.textContent], [[], false, "slow of 0"])
})

test("so it is if a picture has spoken once, and of nothing that stands in a panel", async () => {
  answer("seed=1", { facts: { text: ["seed=1"] } }, ["slow"])
  assert.deepEqual([page.isBehind, places.facts.textContent], [true, "seed=1"])
  assert.deepEqual(await rest({ facts: { text: ["facts of 0"] } }), ["model.words", "model.slow"])
  assert.deepEqual([page.isBehind, places.facts.textContent], [false, "facts of 0"])
})
