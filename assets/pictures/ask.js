/* Asking the server for the bytes of pictures, and for the words of the page that belong to them. */

import { decode } from "./paint.js"

/** @type {Map<string, { names: string[], words: Set<string>, answer: Promise<AnswerForAll> }>} */
const asked = new Map() // query -> the names asked for in this moment, and the answer to come
let questions = 0
let underWay = 0

/** Whether the server has been asked something that it has not answered. */
export const isAsked = () => underWay > 0

/** One picture: its bytes, or why there are none. Pictures that are asked for at the same time travel together, and what the
 * page says of the same link with them. Questions are numbered through all pictures.
 * @param {string} name
 * @param {string} query
 * @param {string[]} [words] the names of what the page says
 * @returns {Promise<{ bytes: Uint8Array, words?: Words, question: number } | Problem>} without words where none were asked for */
export async function picture(name, query, words = []) {
  const { names, answer } = journeyOf(query, words)
  if (!names.includes(name)) names.push(name)
  const all = await answer
  return "pictures" in all ? { ...all, bytes: all.pictures[name] } : all
}

/** What the page says of a link of which a picture is known. They travel with the pictures that are asked for at the same time.
 * @param {string} query
 * @param {string[]} words
 * @returns {Promise<{ bytes?: undefined, words?: Words, question?: number } | Problem>} */
export async function wordsAlone(query, words) {
  return words.length ? journeyOf(query, words).answer : {}
}

/** @param {string} query
 * @param {string[]} words */
function journeyOf(query, words) {
  let journey = asked.get(query)
  if (!journey) {
    /** @type {string[]} */
    const names = []
    /** @type {Set<string>} */
    const spoken = new Set()
    const answer = Promise.resolve().then(() => { // when all have asked
      asked.delete(query)
      return question(names, [...spoken], query, ++questions)
    })
    asked.set(query, journey = { names, words: spoken, answer })
  }
  for (const name of words) journey.words.add(name)
  return journey
}

/** @type {Problem} */
const UNREACHED = { problem: "The server was not reached.", again: 0 }

/** @param {string[]} names
 * @param {string[]} words
 * @param {string} query
 * @param {number} number
 * @returns {Promise<AnswerForAll>} */
async function question(names, words, query, number) {
  const all = [...names, ...words]
  const address = new URL(`pictures/${all.join("+")}`, document.baseURI)
  underWay++
  const response = await fetch(address, { method: "POST", body: query }).catch(() => null)
  underWay--
  if (!response) return UNREACHED
  if (!response.ok) {
    const problem = await response.text().catch(() => "") || `The server answered ${response.status}.`
    const wait = Number(response.headers.get("Retry-After"))
    return [502, 503, 504].includes(response.status) ? { problem, again: 1000 * wait } : { problem }
  }
  const bytes = await response.arrayBuffer().catch(() => null) // broken off on its way
  if (!bytes) return UNREACHED
  const pictures = split(new Uint8Array(bytes), all)
  return { pictures, words: words.length ? together(words.map(name => decode(pictures[name])[0])) : undefined, question: number }
}

/** @param {Words[]} answers which have no places if the server could not say anything
 * @returns {Words} */
const together = answers => ({ query: answers[0]?.query ?? "", places: Object.assign({}, ...answers.map(({ places }) => places)) })

/** The answer holds, for each picture, u32 length | bytes.
 * @param {Uint8Array} bytes
 * @param {string[]} names */
export function split(bytes, names) {
  const lengths = new DataView(bytes.buffer)
  /** @type {Record<string, Uint8Array>} */
  const pictures = {}
  let at = 0
  for (const name of names) {
    const length = lengths.getUint32(at, true)
    pictures[name] = bytes.subarray(at + 4, at + 4 + length)
    at += 4 + length
  }
  return pictures
}
