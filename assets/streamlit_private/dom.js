/* What scripts look for on the page by names of Streamlit's own, which a new version may change: no other script has any.
   docs/streamlit.md lists the names; tests/browser/test_streamlit_dom.py says which are gone. */

const STATE = "data-test-script-state" // "running", or something else

/** Whether the page is being run. */
export const isRunning = () => document.querySelector(`[${STATE}]`)?.getAttribute(STATE) === "running"

/** Whether a run of the page has been asked for, and has not ended. */
export const isToRun = () => ["rerunRequested", "running"].includes(document.querySelector(`[${STATE}]`)?.getAttribute(STATE) ?? "")

/** Call this when the page begins or ends to be run. @param {() => void} then */
export const watchRuns = then => {
  if (globalThis.MutationObserver) new MutationObserver(then).observe(document.documentElement, { subtree: true, attributeFilter: [STATE] })
}

/** What lies over the page: an open list is outside of what has opened it. */
export const OVERLAYS = "[role=listbox], [data-st-overlay-root]"

/** What scrolls when the page does. */
export const scroller = () => document.querySelector(".stMain")

/** Whether it stands in the sidebar, and not on the page. @param {Element} element */
export const isInSidebar = element => element.closest(".stSidebar") !== null

/** The button that folds the sidebar, while that is open. */
export const foldOfSidebar = () =>
  /** @type {HTMLElement | null} */ (document.querySelector(".stSidebar [aria-controls=stSidebar][aria-expanded=true]"))

/** The button that unfolds the sidebar, while that is folded. */
export const unfoldOfSidebar = () =>
  /** @type {HTMLElement | null} */ (document.querySelector(".stAppHeader [aria-controls=stSidebar][aria-expanded=false]"))

/** Whether a dialog of the page keeps all keys to itself. */
export const hasModal = () => document.querySelector("[role=dialog][aria-modal=true]") !== null
