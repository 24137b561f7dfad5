/* What a window knows of its page: whether it is being run, and who changes the address.

   Whoever moves a control changes the address before the page is run. When controls have gone, the page takes them out of the
   address after it was run; nothing more will be said of that change. */

import { isRunning, watchRuns } from "../streamlit_private/dom.js"

let hasActed = true // somebody has done something in this window since the page last spoke
let hasRun = false // the page has been run since then, or is being run, and has not spoken yet

for (const type of ["pointerdown", "pointerup", "keydown", "input", "change", "click", "popstate"]) {
  globalThis.addEventListener?.(type, () => { hasActed = true; hasRun = isRunning() }, { capture: true, passive: true })
}
watchRuns(() => (hasRun ||= isRunning()))

/** A picture has been told what the page says. */
export const pageHasSpoken = () => { hasActed = hasRun = false }

/** Whether the address changes by itself. */
export const isTidied = () => !hasActed

/** Whether the page changes the address: what it says next is all that it holds. Else a control does, or Back. */
export const isByPage = () => hasRun
