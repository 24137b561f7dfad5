/* Says that the server is full, and in about how many seconds it answers, to who has waited for some. The document itself
   loads this script: while a page waits for its turn, none of the page's own scripts is there (tfm_ui/server/waiting.py). */

import { isAsked } from "./ask.js"
import { isToRun } from "../streamlit_private/dom.js"

const FIRST = 4 // seconds that somebody waits before the server is asked for how long
const AGAIN = 2 // seconds between two questions, as the queue changes

/** What stands on the page meanwhile; it has its style with it, as those of the page may not be there.
 * @type {HTMLElement | undefined} */
let notice
let waited = 0 // seconds

/** Whether a page, a run of it, or pictures are to come. */
const isWaiting = () => !document.querySelector(".st-key-desk") || isToRun() || isAsked()

/** @param {number} seconds */
export const words = seconds => `The server is full: your ${document.querySelector(".st-key-desk") ? "picture" : "page"} comes in about ` +
  (seconds < 1.5 ? "a second." : `${Math.round(seconds)} seconds.`)

/** @param {string} text */
function say(text) {
  if (!text) return notice?.remove()
  notice ??= Object.assign(document.createElement("p"), { className: "full_server", role: "status" })
  notice.style.cssText = "position: fixed; z-index: 999993; bottom: 1rem; left: 50%; transform: translateX(-50%); width: max-content; " +
    "max-width: calc(100vw - 2rem); box-sizing: border-box; margin: 0; padding: .5rem 1rem; border: 1px solid currentColor; " +
    "border-radius: .375rem; background: inherit; color: inherit; font: 1rem/1.4 sans-serif" // of the body, in light or dark
  if (notice.textContent !== text) notice.textContent = text
  if (!notice.isConnected) document.body.append(notice)
}

/** How many seconds it still takes; 0 if nothing waits, or the server cannot be reached, which the page says by itself. */
async function seconds() {
  const answer = await fetch(new URL("waiting", document.baseURI)).catch(() => null)
  return answer?.ok ? Number((await answer.json()).seconds) || 0 : 0
}

async function look() {
  waited = isWaiting() ? waited + 1 : 0
  if (waited < FIRST) say("")
  else if ((waited - FIRST) % AGAIN === 0) {
    const still = await seconds()
    say(still && isWaiting() ? words(still) : "")
  }
}

setInterval(look, 1000)
