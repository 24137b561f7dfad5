/* Presenting: keys that work wherever the focus is, and the button that opens the text.

   A step leads from the question that was asked for last, even if the page does not show it yet: so four fast presses are four
   steps, and it does no harm if the page hears only of the last. `data.steps` maps a key to what it walks through and how far,
   `data.buttons` to the Streamlit keys of buttons, of which the first that is there is pressed, `data.questions` a lens to the
   number of its questions; `data.taken` is the last step that the page has heard of. Letters do nothing while something is typed.
   The arrows belong to a picture or control that has the focus. */

import { isRunning, scroller } from "../streamlit_private/dom.js"

const TYPES = "input:not([type=range], [type=checkbox], [type=radio], [type=number]), textarea, [contenteditable], [role=combobox]"
const HAS_ARROWS = "input, textarea, select, summary, [contenteditable], "
  + "[role=slider], [role=combobox], [role=listbox], [role=menu], [role=radiogroup], [role=dialog]"
const SCREEN = 0.8 // of the window's height that a press scrolls
// How often the page is looked at, in ms; on how many looks it rests without the last step before that counts as lost; how often
// a step is asked for again.
const LOOK = 500, LOOKS = 4, TRIES = 5
const page = document.documentElement

/** @type {PresentingData} of the strip that was drawn last */
let data
/** @type {((target: PresentingTarget) => void) | undefined} undefined while one page gives way to another */
let say
/** @type {PresentingTarget | undefined} the question that was asked for last, until the page shows it */
let target
let step = 0 // counts the steps
/** @type {ReturnType<typeof setTimeout> | undefined} until the step is asked for again */
let waiting

/** @returns {{ lens: string, number: number } | undefined} where the next step begins */
function place() {
  const row = /** @type {HTMLElement | null} */ (document.querySelector(".ask"))
  if (!row) return target // one page gives way to another
  // A row that was drawn before the last step was taken shows an earlier question: it may stand there for as long as the page
  // is busy, and when a run was ended by another, the page looks at rest for a moment.
  if (Number(row.dataset.taken) === step) target = undefined
  return target ?? { lens: row.dataset.lens ?? "", number: Number(row.dataset.number) }
}

/** @param {"lens" | "question"} what @param {number} far */
function walk(what, far) {
  const lenses = Object.keys(data.questions), from = place()
  if (!from) return
  let lens = from.lens, number = from.number + far
  if (what === "lens" || number < 1 || number > data.questions[lens]) {
    const next = lenses[lenses.indexOf(lens) + far]
    if (!next) return
    number = what === "lens" || far > 0 ? 1 : data.questions[next]
    lens = next
  }
  ask({ lens, number, sets_up: what === "question" })
}

/** @param {Omit<PresentingTarget, "step">} wanted @param {number} [tries] */
function ask(wanted, tries = 0) {
  target = { ...wanted, step: ++step }
  say?.(target)
  clearTimeout(waiting)
  if (tries < TRIES) waiting = setTimeout(() => { look(tries, 0) }, LOOK)
}

/** Look whether a step got lost: on a busy machine Streamlit drops some values that a page sets while it is renewed, and
 * the page that left may be run once more. So it is asked for again if the page rests without showing it. While the page is
 * busy it is left alone: a run that is ended early may forget the model.
 * @param {number} tries @param {number} rested */
function look(tries, rested) {
  if (!target || !isPresenting() || isShown(target)) return
  const rests = !isRunning()
  if (rests && rested + 1 === LOOKS) return ask(target, tries + 1)
  waiting = setTimeout(() => { look(tries, rests ? rested + 1 : 0) }, LOOK)
}

/** @param {PresentingTarget} target */
function isShown({ lens, number }) {
  const shown = /** @type {HTMLElement | null} */ (document.querySelector(".ask"))?.dataset
  return shown?.lens === lens && Number(shown.number) === number && Number(shown.taken) === step
}

const isPresenting = () => new URLSearchParams(location.search).has("present")

function forget() {
  clearTimeout(waiting)
  target = undefined
}
document.addEventListener("pointerdown", forget)
addEventListener("popstate", forget)

/** The box in which a page has its text itself, if it has: a component's, so that it stands behind a shadow root. */
const boxOnPage = () => [...document.querySelectorAll(".st-key-editor *")]
  .map(element => element.shadowRoot?.querySelector("textarea")).find(box => box && !box.readOnly)

/** @param {boolean} [opens] */
function edit(opens = !("editing" in page.dataset)) {
  if (!opens) {
    delete page.dataset.editing
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur() // this applies what was typed
    return
  }
  const above = boxOnPage()
  if (above) {
    above.focus()
    return above.select()
  }
  page.dataset.editing = ""
  const box = document.querySelector(".st-key-text textarea")
  box.focus()
  box.select()
}

/** @param {string} name @returns {boolean} whether there was a button to press */
function press(name) {
  const pressed = /** @type {HTMLButtonElement | null} */ (document.querySelector(`.st-key-${name} button`))
  if (!pressed || pressed.disabled) return false
  pressed.click()
  return true
}

/** @param {KeyboardEvent} event */
function act(event) {
  if (!data || !isPresenting()) return
  const { steps, buttons, scrolls, text } = data
  const [inside] = event.composedPath(), at = inside instanceof Element ? inside : document.body // behind shadow roots
  if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return
  const isLetter = event.key.length === 1, key = isLetter ? event.key.toLowerCase() : event.key
  if (key === "Escape" && "editing" in page.dataset) { edit(false); return event.preventDefault() }
  if (isLetter && at.closest(TYPES)) return
  const inPicture = inside !== event.target
  if (key.startsWith("Arrow") && (inPicture || at.closest(HAS_ARROWS))) return
  if (key === "Escape" && (inPicture || at.closest("[role=dialog], input, textarea"))) return
  if (steps[key]) walk(...steps[key])
  else if (scrolls[key]) {
    const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches
    scroller()?.scrollBy({ top: scrolls[key] * SCREEN * innerHeight, behavior: isStill ? "instant" : "smooth" })
  } else if (key === text) edit()
  else if (!buttons[key]?.split(" ").some(press)) return
  event.preventDefault()
}
document.addEventListener("keydown", act) // for good: a press between two pages is a step, too

/** @param {{ data: PresentingData, parentElement: HTMLElement | ShadowRoot,
 *   setStateValue: (name: string, value: PresentingTarget) => void }} component */
export default function (component) {
  const isNew = !say, button = component.parentElement.querySelector("button")
  data = component.data
  const tell = say = asked => { component.setStateValue("target", asked) }
  if (button) button.onclick = () => edit()
  // What was asked for while one page gave way to another was said to nobody, or to the page that left. It is another step, as
  // the server may have taken this one by now and would stay at the page that left.
  if (isNew && target && data.taken !== step) ask(target)
  return () => { if (say === tell) say = undefined }
}
