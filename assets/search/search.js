/* The button that opens the search, and the keys that do: "/" wherever nothing is typed, Ctrl or Cmd with K anywhere. The search
   itself and its index are fetched when it is first opened, or when the page has nothing else to do. */

import { hasModal, isToRun } from "../streamlit_private/dom.js"

const TYPES = "input:not([type=range], [type=checkbox], [type=radio]), textarea, select, [contenteditable], [role=combobox]"
const LATER = 4000 // ms after the page has come at which it is fetched, as soon as the browser is idle

/** @type {SearchComponent | undefined} the one that was drawn last */
let component
/** @type {Promise<typeof import("./dialog.js")> | undefined} */
let loading
let isWaiting = false

/** The search, as soon as it is there; a failed attempt is made again by the next. */
export const fetched = () => loading ??= import("./dialog.js").catch(problem => {
  loading = undefined
  throw problem
})

async function open() {
  if (!component || hasModal()) return
  const asked = performance.now(), { show } = await fetched()
  show(component, asked)
}

/** @param {KeyboardEvent} event */
function act(event) {
  const [inside] = event.composedPath(), at = inside instanceof Element ? inside : document.body // behind shadow roots
  const isK = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey
  const isSlash = event.key === "/" && !event.altKey && !event.ctrlKey && !event.metaKey && !at.closest(TYPES)
  if (event.defaultPrevented || !(isK || isSlash)) return
  event.preventDefault()
  open()
}

/** Fetch the search while nothing else is to be done. */
function fetchLater() {
  if (isWaiting) return
  isWaiting = true
  setTimeout(function look() {
    if (isToRun()) return setTimeout(look, LATER)
    const fetchNow = () => fetched().then(({ indexAt }) => component && indexAt(component.data.index)).catch(() => {})
    if ("requestIdleCallback" in globalThis) requestIdleCallback(fetchNow, { timeout: LATER })
    else fetchNow() // Safari
  }, LATER)
}

/** @param {SearchComponent} drawn */
export default function (drawn) {
  if (!component) document.addEventListener("keydown", act, true) // sliders keep keys from the page
  component = drawn
  const button = /** @type {HTMLButtonElement} */ (drawn.parentElement.querySelector("button.open"))
  button.onclick = open
  fetchLater()
}
