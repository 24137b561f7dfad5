/* A room without a browser: when an owner's place is said, and how a line that breaks is opened again. */

import assert from "node:assert/strict"
import { test } from "node:test"

import { asParameters, isDue, RESTS, without } from "../../assets/classroom/lead.js"
import { listen, send } from "../../assets/classroom/line.js"
import { answered, numberOf, written } from "../../assets/classroom/written.js"

const ROLE = { code: "KXTM", secret: "owner", leads: false, follows: true }
Object.assign(globalThis, {
  document: { baseURI: "http://lab.test/base/", visibilityState: "visible", addEventListener() {}, removeEventListener() {} },
  addEventListener() {}, removeEventListener() {},
})

/** Let the server answer by these, one after the other; returns what it was asked.
 * @param {((signal?: AbortSignal) => Response | Promise<Response>)[]} answers */
function answering(answers) {
  /** @type {{ url: string, headers: Record<string, string>, body: any }[]} */
  const asked = []
  globalThis.fetch = async (url, init) => {
    asked.push({ url: String(url), headers: /** @type {any} */ (init?.headers), body: init?.body })
    const answer = answers.shift()
    if (!answer) throw new Error("nobody is there")
    return answer(init?.signal ?? undefined)
  }
  return asked
}

/** A room's line with these lines in it. @param {string[]} parts */
const streamed = parts => () => new Response(new ReadableStream({
  start(controller) {
    for (const part of parts) controller.enqueue(new TextEncoder().encode(part))
    controller.close()
  },
}))

/** What is heard until the room is over. @param {((signal?: AbortSignal) => Response | Promise<Response>)[]} answers */
async function heard(answers) {
  const asked = answering(answers)
  /** @type {any[]} */
  const news = []
  /** @type {string[]} */
  const trouble = []
  const over = await new Promise(resolve => {
    listen(ROLE, { news: each => news.push(each), trouble: words => trouble.push(words), over: resolve })
  })
  return { asked, news, trouble: [...new Set(trouble)], over }
}

test("a place is said at once where it rests, and once a second while it moves: never three times in a second", () => {
  assert.ok(isDue([], 0))
  assert.ok(!isDue([1], RESTS - 1))
  assert.ok(isDue([1], RESTS))
  assert.ok(!isDue([1, 2], 10 * RESTS))
})

test("what is being typed is not said before it is applied, nor what concerns a tab alone", () => {
  const moved = without({ text: "a secret", seed: "5" }, ["text", "target"])
  assert.equal(asParameters("?text=applied&present=true&seed=3&code=KXTM", moved), "seed=5&text=applied")
})

test("lines are read whole, however the network cuts them, and empty ones are signs of life", async () => {
  const { asked, news, over } = await heard([streamed(['{"open":true,"a"', ":1}\n\n", '{"a":2}\n{"open":', "false}\n"])])
  assert.deepEqual(news, [{ open: true, a: 1 }, { a: 2 }])
  assert.equal(over, "")
  assert.deepEqual([asked[0].url, asked[0].headers["X-Room-Secret"]], ["http://lab.test/base/rooms/KXTM/events", "owner"])
})

test("a line that breaks is opened again, and what is wrong is said until it is not", async () => {
  const busy = () => new Response('{"problem":"This room has 2 members."}', { status: 503 })
  const { asked, news, trouble } = await heard([streamed(['{"a":1}\n']), busy, streamed(['{"a":2}\n{"open":false}\n'])])
  assert.equal(asked.length, 3)
  assert.deepEqual(news, [{ a: 1 }, { a: 2 }])
  assert.deepEqual(trouble, ["", "This room has 2 members."])
})

test("a tab says that it is still there, and opens another line where the server does not know this one", async context => {
  context.mock.timers.enable({ apis: ["setInterval"] })
  const open = (/** @type {AbortSignal | undefined} */ signal) => new Response(new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{"line":"first"}\n'))
      signal?.addEventListener("abort", () => controller.error(new Error("aborted")))
    },
  }))
  const asked = answering([open, () => new Response(null, { status: 204 }), () => new Response("{}", { status: 409 }),
    streamed(['{"open":false}\n'])])
  await new Promise(resolve => {
    listen(ROLE, { news: () => setTimeout(() => {
      context.mock.timers.tick(30000)
      setTimeout(() => context.mock.timers.tick(30000), 20)
    }), trouble() {}, over: resolve })
  })
  assert.deepEqual(asked.map(({ url }) => url.split("/").at(-1)), ["events", "alive", "alive", "events"])
  assert.deepEqual(JSON.parse(asked[1].body), { line: "first" })
})

test("a room that is not there any more is over", async () => {
  const gone = () => new Response('{"problem":"There is no room KXTM.","over":true}', { status: 404 })
  assert.deepEqual((await heard([gone])).over, "There is no room KXTM.")
  const ofProxy = () => new Response("<html>", { status: 404 })
  assert.deepEqual((await heard([ofProxy, gone])).trouble, ["The server answered 404."], "that was no answer of the app")
})

test("an act says why it was not done", async () => {
  const asked = answering([
    () => new Response(null, { status: 204 }),
    () => new Response('{"problem":"Too late."}', { status: 409 }),
    () => new Response("<html>", { status: 502 }),
  ])
  assert.equal(await send({ ...ROLE, secret: "" }, "answer", { id: "x", answer: 7 }), "")
  assert.deepEqual(JSON.parse(asked[0].body), { id: "x", answer: 7 })
  assert.ok(!("X-Room-Secret" in asked[0].headers))
  assert.equal(await send(ROLE, "answer", {}), "Too late.")
  assert.equal(await send(ROLE, "answer", {}), "The server answered 502.")
  assert.equal(await send(ROLE, "answer", {}), "The server was not reached. Try again.")
})

test("a number is read as people type it, and nothing else is", () => {
  const read = { "12": 12, " 0.5 ": 0.5, ".5": 0.5, "1,5": 1.5, "1,500": 1500, "12,345,678.9": 12345678.9, "0,125": 0.125, "−3": -3,
    "1e-4": 1e-4, "50%": 50, "50 %": 50, "": NaN, "x": NaN, "1,2,3": NaN,
    "1 000": 1000, "3 7": NaN, "−1e−4": -1e-4, "1e999": NaN, "%": NaN, "0x10": NaN, "Infinity": NaN }
  for (const [typed, number] of Object.entries(read)) assert.deepEqual(numberOf(typed, "%"), number, typed)
  assert.equal(numberOf("7 pairs", " pairs"), 7)
})

test("a number is said with four digits, however small, and words in quotation marks", () => {
  assert.equal(written(0.0004, ""), "0.0004")
  assert.equal(written(0.1234567, ""), "0.1235")
  assert.equal(written(-1234567, " pairs"), "−1,234,567 pairs")
  assert.equal(written(12345.6, ""), "12,346")
  assert.equal(answered("because", /** @type {any} */ ({ kind: "words", unit: "" })), "“because”")
  assert.equal(answered("yes", /** @type {any} */ ({ kind: "choice", unit: "" })), "yes")
})
