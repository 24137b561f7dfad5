/* The line to a room: what the server sends for as long as the tab listens, and what the tab sends. A line that breaks is opened
   again, each time after twice the time, and not all tabs at once. */

const SILENCE = 25000 // ms without a sign of life after which the line counts as broken: the server gives one every 10 s
const AGAIN = [500, 15000] // ms until the first try, and at most
const ALIVE = 30000 // ms after which the tab says that it is still there: the server waits three times as long
const WAKES = ["online", "visibilitychange", "pageshow"] // after which a try makes sense at once

/** @param {string} code @param {string} what */
const addressOf = (code, what) => new URL(`rooms/${encodeURIComponent(code)}/${what}`, document.baseURI)

/** @param {string} secret */
const headers = secret => /** @type {Record<string, string>} */ (secret ? { "X-Room-Secret": secret } : {})

/** Send an act. @param {Pick<RoomRole, "code" | "secret">} role @param {string} act @param {unknown} told
 * @returns {Promise<string>} why it was not done, in a sentence; "" if it was */
export async function send({ code, secret }, act, told) {
  const init = { method: "POST", headers: { ...headers(secret), "Content-Type": "application/json" }, body: JSON.stringify(told) }
  const response = await fetch(addressOf(code, act), init).catch(() => null)
  if (!response) return "The server was not reached. Try again."
  return response.ok ? "" : (await refusalOf(response)).words
}

/** What the server says, and whether the room is over by that. @param {Response} response */
async function refusalOf(response) {
  const told = await response.json().catch(() => null)
  return { words: String(told?.problem ?? `The server answered ${response.status}.`), isOver: Boolean(told?.over) || response.status === 403 }
}

/** Listen to a room.
 * @param {RoomRole} role
 * @param {{ news: (news: Partial<RoomView>) => void, trouble: (words: string) => void, over: (words: string) => void }} hears
 * what is new; why the room is not reached, "" when it is again; why it is over */
export function listen({ code, secret }, hears) {
  let isOver = false, failures = 0
  /** @type {AbortController | undefined} */
  let controller
  /** @type {(() => void) | undefined} */
  let wake
  const awake = () => { if (document.visibilityState !== "hidden") wake?.() }
  for (const type of WAKES) addEventListener(type, awake)
  document.addEventListener("visibilitychange", awake)

  /** @type {ReturnType<typeof setInterval> | undefined} */
  let says

  /** @param {string} line */
  async function sayAlive(line) {
    const response = await fetch(addressOf(code, "alive"), { method: "POST", body: JSON.stringify({ line }) }).catch(() => null)
    if (response?.status === 409) controller?.abort() // the server has ended it, or another one has taken its place
  }

  /** Listen until the line breaks; returns why it was refused, "" if it was not. */
  async function hear() {
    controller = new AbortController()
    let quiet = setTimeout(() => controller?.abort(), SILENCE)
    try {
      const response = await fetch(addressOf(code, "events"), { headers: headers(secret), signal: controller.signal })
      if (!response.ok || !response.body) {
        const { words, isOver } = await refusalOf(response)
        if (isOver) end(words)
        return words
      }
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
      let text = ""
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return ""
        clearTimeout(quiet)
        quiet = setTimeout(() => controller?.abort(), SILENCE)
        const lines = (text + value).split("\n")
        text = lines.pop() ?? ""
        for (const line of lines) {
          if (!line) continue
          const news = JSON.parse(line)
          failures = 0
          hears.trouble("")
          if (news.open === false) {
            end("")
            return ""
          }
          if (news.line) says = setInterval(() => void sayAlive(news.line ?? ""), ALIVE)
          hears.news(news)
        }
      }
    } catch {
      return "" // it broke
    } finally {
      clearTimeout(quiet)
      clearInterval(says)
    }
  }

  async function keep() {
    for (;;) {
      const refused = await hear()
      if (isOver) return
      if (refused || failures > 0) hears.trouble(refused || "The room is not reached. Trying again…")
      const [first, most] = AGAIN, wait = Math.min(most, first * 2 ** failures++) * (0.5 + Math.random())
      await new Promise(resolve => { wake = () => resolve(undefined); setTimeout(wake, wait) })
      wake = undefined
    }
  }

  /** @param {string} words */
  function end(words) {
    stop()
    hears.over(words)
  }
  function stop() {
    isOver = true
    controller?.abort()
    wake?.()
    for (const type of WAKES) removeEventListener(type, awake)
    document.removeEventListener("visibilitychange", awake)
  }
  void keep()
  return { end: stop }
}
