/* Presenting: keys that work wherever the focus is, and the button that opens the text.

   A step to another question or lens is counted, not sent: the page may be busy when the next one comes, and four fast presses
   are four steps. `data.steps` maps a key to what it walks through and how far, `data.buttons` to the Streamlit key of a
   button. Letters do nothing while something is typed. The arrows belong to a picture or control that has the focus. */

const TYPES = "input:not([type=range], [type=checkbox], [type=radio], [type=number]), textarea, [contenteditable], [role=combobox]"
const HAS_ARROWS = "input, textarea, select, summary, [contenteditable], "
  + "[role=slider], [role=combobox], [role=listbox], [role=menu], [role=radiogroup], [role=dialog]"
const known = new WeakSet() // the pages that have said how far the browser has walked
const SCREEN = 0.8 // of the window's height that a press scrolls

/** @param {{ data: PresentingData, parentElement: HTMLElement | ShadowRoot,
 *   setStateValue: (name: string, value: Record<string, number>) => void }} component */
export default function ({ data: { steps, buttons, scrolls, text, taken }, parentElement, setStateValue }) {
  const walked = window.attentionLabSteps ??= {}, page = document.documentElement
  const button = parentElement.querySelector("button")

  /** @param {boolean} [opens] */
  function edit(opens = !("editing" in page.dataset)) {
    if (!opens) {
      delete page.dataset.editing
      if (document.activeElement instanceof HTMLElement) document.activeElement.blur() // this applies what was typed
      return
    }
    page.dataset.editing = ""
    const box = document.querySelector(".st-key-text textarea")
    box.focus()
    box.select()
  }
  if (button) button.onclick = () => edit()

  /** @param {string} name @returns {boolean} whether there was a button to press */
  function press(name) {
    const pressed = /** @type {HTMLButtonElement | null} */ (document.querySelector(`.st-key-${name} button`))
    if (!pressed || pressed.disabled) return false
    pressed.click()
    return true
  }

  /** @param {KeyboardEvent} event */
  function act(event) {
    const [inside] = event.composedPath(), at = inside instanceof Element ? inside : document.body // behind shadow roots
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return
    const isLetter = event.key.length === 1, key = isLetter ? event.key.toLowerCase() : event.key
    if (key === "Escape" && "editing" in page.dataset) { edit(false); return event.preventDefault() }
    if (isLetter && at.closest(TYPES)) return
    const inPicture = inside !== event.target
    if (key.startsWith("Arrow") && (inPicture || at.closest(HAS_ARROWS))) return
    if (key === "Escape" && (inPicture || at.closest("[role=dialog], [data-testid=stPopoverBody], input, textarea"))) return
    if (steps[key]) {
      const [what, far] = steps[key]
      walked[what] = (walked[what] ?? 0) + far
      setStateValue("walked", { ...walked })
    } else if (scrolls[key]) {
      const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches
      document.querySelector(".stMain")?.scrollBy({ top: scrolls[key] * SCREEN * innerHeight, behavior: isStill ? "instant" : "smooth" })
    } else if (key === text) edit()
    else if (!(buttons[key] && press(buttons[key]))) return
    event.preventDefault()
  }
  document.addEventListener("keydown", act)
  // A step that came while one page gave way to another was said to nobody.
  const isNew = !known.has(parentElement)
  known.add(parentElement)
  if (isNew && Object.keys(walked).some(what => walked[what] !== (taken[what] ?? 0))) setStateValue("walked", { ...walked })
  return () => { document.removeEventListener("keydown", act) }
}
