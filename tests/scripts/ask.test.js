/* What travels together in one question to the server. */

import assert from "node:assert/strict"
import { test } from "node:test"

import { picture, wordsAlone } from "../../assets/pictures/ask.js"
import { encoded } from "./answers.js"

/** The server's side: which names were asked for; each name is answered by a header that says it.
 * @param {string[]} asked */
function serve(asked) {
  Object.assign(globalThis, { document: { baseURI: "http://lab/" } })
  globalThis.fetch = async (address, options) => {
    const names = String(address).split("/pictures/")[1].split("+")
    asked.push(`${names.join("+")}?${options?.body}`)
    return new Response(new Blob(names.map(name => encoded({ query: String(options?.body), places: { [name]: {} } }))))
  }
}

test("words are asked for alone where the picture is known, once for all pictures", async () => {
  /** @type {string[]} */
  const asked = []
  serve(asked)
  const answers = await Promise.all([wordsAlone("seed=8", ["heads.words"]), wordsAlone("seed=8", ["heads.words"])])
  assert.deepEqual(asked, ["heads.words?seed=8"])
  for (const answer of answers) assert.deepEqual("words" in answer && Object.keys(answer.words?.places ?? {}), ["heads.words"])
})

test("they travel with the pictures that are asked for in the same moment, whoever comes first", async () => {
  /** @type {string[]} */
  const asked = []
  serve(asked)
  await Promise.all([wordsAlone("seed=8", ["heads.words"]), picture("head", "seed=8", ["heads.words"]), picture("heads", "seed=8", ["heads.words"])])
  assert.deepEqual(asked, ["head+heads+heads.words?seed=8"])
})

test("what one of them wants beside it comes along: slow words with the slow picture", async () => {
  /** @type {string[]} */
  const asked = []
  serve(asked)
  const words = ["model.words"]
  await Promise.all([picture("quick", "seed=8", words), picture("slow", "seed=8", [...words, "model.slow"])])
  assert.deepEqual(asked, ["quick+slow+model.words+model.slow?seed=8"])
})

test("where neither picture nor words are wanted, nothing is asked", async () => {
  /** @type {string[]} */
  const asked = []
  serve(asked)
  assert.deepEqual(await wordsAlone("seed=8", []), {})
  assert.deepEqual(asked, [])
})

test("an answer without words says so: it is no newer word than those that are still on their way", async () => {
  serve([])
  const answer = await picture("head", "seed=8")
  assert.deepEqual([Object.keys(answer).sort(), "words" in answer && answer.words], [["bytes", "pictures", "question", "words"], undefined])
})
