/* assets/search: what is found by what is typed, in which order, and what of it is marked. */

import assert from "node:assert/strict"
import { test } from "node:test"

import { findingOf, pieces, plain, wordsOf } from "../../assets/search/finding.js"

/** @type {[string, string, string, string, string, string][]} */
const ROWS = [
  ["view", "attention.scale", "√dₖ", "The page Attention", "Questions: Why √dₖ", ""],
  ["view", "masks.see", "Mask and weights", "The page Masks", "Questions: Causal, Padding", ""],
  ["question", "attention.why-dk", "Why √dₖ", "Attention · √dₖ", "What becomes of the softmax without the division?", ""],
  ["question", "generate.temperature", "Temperature", "Generate · Write", "Drag it from 0.3 to 2. What becomes of the text?", ""],
  ["step", "start-here.softmax", "Softmax: from scores to weights", "Start here · step 5", "The softmax makes weights of the scores.", ""],
  ["step", "masks.causal", "The mask", "Masks · step 3", "A causal mask hides what comes later.", ""],
  ["word", "softmax", "softmax", "", "Makes numbers that sum to 1 of any numbers.", ""],
  ["word", "cache", "cache", "", "The keys and values of earlier tokens.", "KV cache key-value cache"],
  ["word", "RoPE", "RoPE", "", "Turns queries and keys by their positions.", "rope"],
  ["setting", "generate_temperature", "Temperature", "Generate · Write", "", "generate_temperature"],
  ["setting", "training_rate", "Learning rate", "Training · Learn", "The learning rate of AdamW.", "training_rate"],
  ["setting", "clinic_tokens", "Tokens", "Clinic", "", "clinic_tokens"],
  ["setting", "tokenizer", "Tokens by", "in the sidebar", "A token's id depends on nothing but itself.", "tokenizer"],
  ["setting", "d_model", "d_model", "in the sidebar", "Width of the vector that stands for each token.", "d_model"],
]
const finding = findingOf(ROWS)
/** @param {string} text @param {Set<string>} [recent] */
const ids = (text, recent) => finding.find(text, recent).hits.map(({ entry }) => entry.id)

for (const [typed, first] of [
  ["softmax", "word softmax"], ["sofmax", "word softmax"], ["SOFTMAX", "word softmax"], ["softm", "word softmax"],
  ["temprature", "setting generate_temperature"], ["kv cache", "word cache"], ["key value", "word cache"], ["rope", "word RoPE"],
  ["why square root", "question attention.why-dk"], ["causal mask", "view masks.see"], ["learning rate", "setting training_rate"],
  ["lerning rat", "setting training_rate"], ["d_model", "setting d_model"], ["d model", "setting d_model"], ["√dk", "view attention.scale"],
  ["tokens", "setting clinic_tokens"], ["tokens by", "setting tokenizer"],
]) test(`“${typed}” finds ${first} first`, () => assert.equal(ids(typed)[0], first))

test("what has all of the words stands above what has some of them", () => {
  const { hits, isClosest } = finding.find("causal mask")
  assert.equal(isClosest, false)
  assert.deepEqual(hits.slice(0, 2).map(({ entry }) => entry.id).sort(), ["step masks.causal", "view masks.see"])
})

test("where nothing has all words, the closest is named as such", () => {
  const { hits, isClosest } = finding.find("softmax zebra")
  assert.equal(isClosest, true)
  assert.equal(hits[0].entry.id, "word softmax")
  assert.deepEqual(finding.find("qqqqqqqq"), { hits: [], isClosest: true })
})

test("words that say nothing are left out, and nothing typed finds nothing", () => {
  assert.deepEqual(ids("what is the softmax"), ids("softmax"))
  assert.deepEqual(ids("softmax is"), ids("softmax"))
  assert.ok(ids("to").length) // the beginning of “token”
  assert.deepEqual(ids("   "), [])
  assert.deepEqual(ids("-/?"), [])
})

test("what was chosen lately rises, and a typing mistake does not hide it", () => {
  assert.equal(ids("temperature")[0], "setting generate_temperature")
  assert.equal(ids("temperature", new Set(["question generate.temperature"]))[0], "question generate.temperature")
  assert.equal(ids("temprature", new Set(["question generate.temperature"]))[0], "question generate.temperature")
})

test("words of texts are those that are typed", () => {
  assert.deepEqual(wordsOf("√dₖ and W_Q"), ["square", "root", "dk", "and", "w", "q"])
  assert.equal(plain("Naïve"), "naive")
})

test("the pieces of a text are the text, and what was found is marked in it", () => {
  const text = "Step 4a: the softmax, and √dₖ", all = pieces(text, new Set(["softmax", "dk"]))
  assert.equal(all.map(([piece]) => piece).join(""), text)
  assert.deepEqual(all.filter(([, isMarked]) => isMarked).map(([piece]) => piece), ["softmax", "√dₖ"])
})
