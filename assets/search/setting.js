/* The control of a setting on the page: it is opened to sight, has the focus, and a ring for a moment. */

import { isInSidebar, isToRun, unfoldOfSidebar } from "../streamlit_private/dom.js"

const EACH = 100, RESTS = 8, LONGEST = 20_000 // ms between two looks; looks at a page at rest; ms at most
const FOCUSABLE = [
  "input:not([disabled]), textarea, select, [role=combobox], [role=slider]",
  "[role=radio], [aria-pressed]",
  "button:not([disabled])",
]
const RING = 2500 // ms

/** @type {ReturnType<typeof setTimeout> | undefined} */
let looking

/** The element of a parameter's control: a widget by its key, or a slider above a picture, which stands behind a shadow root.
 * @param {string} parameter @returns {HTMLElement | null} */
function controlOf(parameter) {
  const widget = document.querySelector(`.st-key-${parameter}`) ?? unbound(parameter)
  if (widget) return /** @type {HTMLElement} */ (widget)
  for (const host of document.querySelectorAll(".st-key-knobs *, .st-key-stage *, .st-key-desk *")) {
    const knob = host.shadowRoot?.querySelector(`[data-parameter="${parameter}"]`)
    if (knob) return /** @type {HTMLElement} */ (knob)
  }
  return null
}

/** A widget that is not bound to the link has a number behind its key (tfm_ui/page/unbound.py). @param {string} parameter */
const unbound = parameter => [...document.querySelectorAll(`[class*="st-key-_${parameter}_"]`)]
  .find(({ classList }) => [...classList].some(name => name.replace(`st-key-_${parameter}_`, "").match(/^\d+$/)))

/** What holds the control while it is put away: a list of more controls, or a part that is folded. @param {Element} control */
const holders = control => ({
  more: /** @type {HTMLElement | null} */ (control.closest("[class*='st-key-more_']:not([data-open])")),
  folded: /** @type {HTMLDetailsElement | null} */ (control.closest("details:not([open])")),
})

/** @param {Element} control */
function isUsable(control) {
  const { more, folded } = holders(control)
  return Boolean(more || folded || isInSidebar(control) || control.checkVisibility({ visibilityProperty: true }))
}

/** Whether the control of a parameter is on the page as it is. @param {string} parameter */
export function isThere(parameter) {
  const control = controlOf(parameter)
  return Boolean(control && isUsable(control))
}

/** Bring the control of a setting to sight and give it the focus, as soon as it is on the page.
 * @param {string} parameter @param {string} title @param {(text: string, isShown: boolean) => void} say */
export function focusOn(parameter, title, say) {
  clearTimeout(looking)
  const began = performance.now()
  let rested = 0
  function look() {
    const control = controlOf(parameter), rests = !isToRun()
    rested = rests ? rested + 1 : 0
    if (control && rests && isUsable(control)) return bring(control, title, say)
    if (rested < RESTS && performance.now() - began < LONGEST) {
      looking = setTimeout(look, EACH)
      return
    }
    const locked = /** @type {HTMLElement | null} */ (document.querySelector(".st-key-locked"))
    if (locked) return bring(locked, title, () => say(`“${title}” is fixed by these weights.`, true))
    say(`“${title}” has no control here with the model and the settings as they are.`, true)
  }
  look()
}

/** @param {HTMLElement} control @param {string} title @param {(text: string, isShown: boolean) => void} say */
function bring(control, title, say) {
  if (isInSidebar(control)) unfoldOfSidebar()?.click()
  const { more, folded } = holders(control)
  const opener = more && [...more.classList].find(name => name.startsWith("st-key-more_"))?.replace("st-key-more_", "")
  if (opener) /** @type {HTMLElement | null} */ (document.querySelector(`button.more[data-opens="${opener}"]`))?.click()
  if (folded) folded.querySelector("summary").click()
  setTimeout(() => {
    control.scrollIntoView({ block: "nearest", inline: "nearest" })
    inside(control)?.focus({ preventScroll: true })
    ring(control)
    say(title, false)
  }, more || folded ? 2 * EACH : 0)
}

/** What can have the focus in a control, also behind the shadow root of a slider: rather what holds its value than its help.
 * @param {Element} control @returns {HTMLElement | null} */
function inside(control) {
  const roots = [control, ...[...control.querySelectorAll("*")].flatMap(({ shadowRoot }) => shadowRoot ?? [])]
  for (const selector of FOCUSABLE) {
    for (const root of roots) {
      const element = /** @type {HTMLElement | null} */ (root.querySelector(selector))
      if (element) return element
    }
  }
  return null
}

/** A ring within its edges, as a row of controls cuts off what is around them. @param {HTMLElement} control */
function ring(control) {
  const { outline, outlineOffset, borderRadius } = control.style
  Object.assign(control.style, { outline: "3px solid var(--st-primary-color, Highlight)", outlineOffset: "-3px", borderRadius: "6px" })
  control.dataset.ring = ""
  setTimeout(() => {
    Object.assign(control.style, { outline, outlineOffset, borderRadius })
    delete control.dataset.ring
  }, RING)
}
