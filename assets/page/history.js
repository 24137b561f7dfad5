/* What the browser's history and address bar hold. Streamlit writes both; this script corrects five things:

   1. One act is one entry. A click that sets several parameters makes Streamlit push an entry for each, so Back would
      lead through states that never were on screen. Of the pushes of one run of the app only the first is a push.
   2. No address is too long. An address beyond the limit is not written; the server says (`address`) what stands there instead:
      the same link with its texts cut.
   3. Back brings back whole texts. What the address had to cut is remembered here, and Streamlit is shown it in full.
   4. Back does not stop at a link that the server has corrected. Streamlit pushes the corrected one before this script
      is loaded; such entries lack our mark, and are skipped.
   5. A slider that moves makes no entry. So it is with those that Streamlit binds to the address; of the others, whose
      parameters the server writes (`quiet`), Streamlit pushes each step. If such a step turns out to be the beginning of
      an act that changes more, the entry before the act keeps the address that it had.

   Without this script, or with a Streamlit that works otherwise, the app runs on with Streamlit's own entries. */

import { isRunning } from "../streamlit_private/dom.js"

/** @param {number} limit
 * @param {string[]} quiet */
function mend(limit, quiet) {
  const push = history.pushState.bind(history), replace = history.replaceState.bind(history)
  const at = () => window.navigation?.currentEntry?.index ?? 0
  /** @type {HistoryMemory} */
  const memory = { whole: new Map(), pushed: false, before: null, owes: false, at: at(), short: null }
  const marked = { lab: true },
    tooLong = (/** @type {string | URL | null | undefined} */ url) => new URL(url ?? "", location.href).href.length > limit

  /** Whether an address differs from the present one at most in what makes no entry.
   * @param {string | URL | null | undefined} url */
  function isStep(url) {
    const [now, then] = [location.href, url ?? ""].map(address => {
      const { pathname, searchParams } = new URL(address, location.href)
      for (const name of quiet) searchParams.delete(name)
      searchParams.sort()
      return `${pathname}?${searchParams}`
    })
    return now === then
  }

  // An act is over when the app has rested for a while: between two runs of one act, as on its way to another page, it rests
  // for a shorter time.
  /** @param {number} rested */
  function settle(rested) {
    clearTimeout(memory.timer)
    if (rested < 2) memory.timer = setTimeout(() => settle(isRunning() ? 0 : rested + 1), 150)
    else [memory.pushed, memory.before] = [false, null]
  }

  history.pushState = (_, title, url) => {
    if (tooLong(url)) { memory.owes = true; return }
    settle(0)
    if (isStep(url)) {
      if (!memory.pushed) memory.before ??= location.href
      return replace(marked, title, url)
    }
    if (memory.pushed) return replace(marked, title, url)
    if (memory.before) replace(marked, "", memory.before)
    push(marked, title, url)
    memory.pushed = true
    memory.at = at()
  }
  history.replaceState = (_, title, url) => tooLong(url) || replace(marked, title, url)
  replace(marked, "")

  // Before the popstate in which Streamlit reads the address: show it whole texts. (Browsers without a navigation API
  // come back to the part that the address holds.)
  window.navigation?.addEventListener("currententrychange", ({ navigationType }) => {
    const long = new URL(location.href), cut = [...long.searchParams].filter(([, text]) => memory.whole.has(text))
    if (navigationType !== "traverse" || !history.state?.lab || !cut.length) return
    memory.short = location.href
    for (const [name, text] of cut) long.searchParams.set(name, memory.whole.get(text) ?? text)
    replace(marked, "", long)
  })
  addEventListener("popstate", () => { // after Streamlit's own listener
    const forwards = at() > memory.at
    memory.at = at()
    memory.before = null
    if (!history.state?.lab) return history.go(forwards ? 1 : -1)
    if (memory.short) replace(marked, "", memory.short)
    memory.short = null
  })
  return memory
}

/** @param {{ data: { limit: number, quiet: string[], address: string, whole: Record<string, string> } }} component */
export default function ({ data: { limit, quiet, address, whole } }) {
  const memory = window.attentionLabHistory ??= mend(limit, quiet)
  for (const [cut, text] of Object.entries(whole)) memory.whole.set(cut, text)
  const told = location.pathname + address
  if (told === memory.told) return // drawn again, and nothing new
  memory.told = told
  if (address && address !== location.search) {
    if (memory.owes) history.pushState(null, "", address)
    else history.replaceState(null, "", address)
  }
  memory.owes = false
}
