/* What a window knows of its page: whether it is being run, and who changes the address.

   Whoever moves a control changes the address before the page is run. When controls have gone, the page takes them out of the
   address after it was run; nothing more will be said of that change. */

let hasActed = true // somebody has done something in this window since the page last spoke

for (const type of ["pointerdown", "pointerup", "keydown", "input", "change", "click", "popstate"]) {
  globalThis.addEventListener?.(type, () => (hasActed = true), { capture: true, passive: true })
}

/** A picture has been told what the page says. */
export const pageHasSpoken = () => (hasActed = false)

/** Whether the address changes by itself. */
export const isTidied = () => !hasActed

/** Whether the page is being run. */
export const isRunning = () => document.querySelector("[data-test-script-state]")?.dataset.testScriptState === "running"
