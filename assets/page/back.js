/* What a click in a picture has opened, and the way back: Escape presses the button "Back to ..." above it
   (tfm_ui/page/controls_line.py). Whatever else Escape ends comes first: a list or a menu that is open, a reading in a picture.
   Who opens it or leaves it by keys keeps the focus: it goes to that button, and back to what was opened. */

const BUTTON = ".st-key-_back button", OVERLAYS = "[role=listbox], [role=dialog]"
const EACH = 100, TRIES = 50 // ms between two looks for what shall have the focus, and how many

const way = () => /** @type {HTMLButtonElement | null} */ (document.querySelector(BUTTON))
/** @returns {HTMLElement | null | undefined} what was opened, in the picture from which it was */
const opened = () => [...document.querySelectorAll(".st-key-stage *")]
  .map(({ shadowRoot }) => /** @type {HTMLElement | null | undefined} */ (shadowRoot?.querySelector("[aria-current=true]"))).find(Boolean)

/** Give the focus to an element as soon as it is there, if nothing else has it. @param {() => HTMLElement | null | undefined} find */
function focus(find, tries = TRIES) {
  const element = find()
  if (element && document.activeElement === document.body) element.focus()
  else if (tries) setTimeout(focus, EACH, find, tries - 1)
}

/** Let the keys act: once for the window. */
export function listen() {
  let isCovered = false // before Escape has closed what covers the page
  document.addEventListener("keydown", () => { isCovered = Boolean(document.querySelector(OVERLAYS)) }, true)
  // At the body, so before the keys of presenting, for which Escape is the end.
  document.body.addEventListener("keydown", event => {
    const button = way()
    if (event.key !== "Escape" || event.defaultPrevented || isCovered || !button || "editing" in document.documentElement.dataset) return
    event.preventDefault()
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
    button.click()
  })
  document.addEventListener("click", ({ target, detail }) => {
    if (detail || !(target instanceof Element)) return // by a pointer
    if (target.closest(BUTTON)) focus(opened)
    else if (target.closest(".st-key-stage") && !way()) focus(way)
  })
}
