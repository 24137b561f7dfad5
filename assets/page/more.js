/* What has no room in a row of controls stands behind a button, and is on the page all the time: only so do its controls hear
   of every value that they get (tfm_ui/page/controls_line.py). */

import { OVERLAYS } from "../streamlit_private/dom.js"

const BUTTON = "button.more"
const EDGE = 8 // px between what is opened and the edges of the window

/** @param {Element | null} button */
const opened = button => /** @type {HTMLElement | null} */ (document.querySelector(`.st-key-more_${button?.getAttribute("data-opens")}`))
const open = () => /** @type {HTMLElement | null} */ (document.querySelector(`${BUTTON}[aria-expanded=true]`))

function close() {
  const button = open()
  opened(button)?.removeAttribute("data-open")
  button?.setAttribute("aria-expanded", "false")
  return button
}

/** Below the button, wherever that is scrolled to, or above it where the window ends. @param {HTMLElement} button @param {HTMLElement} place */
function show(button, place) {
  button.setAttribute("aria-expanded", "true")
  place.dataset.open = ""
  place.role = "dialog"
  place.ariaLabel = button.innerText
  place.style.maxHeight = ""
  const at = button.getBoundingClientRect(), { width, height } = place.getBoundingClientRect()
  const isBelow = at.bottom + height + EDGE <= innerHeight || at.top < innerHeight - at.bottom
  place.style.left = `${Math.max(EDGE, Math.min(at.left, innerWidth - width - EDGE))}px`
  place.style.top = isBelow ? `${at.bottom + 4}px` : "auto"
  place.style.maxHeight = `${(isBelow ? innerHeight - at.bottom : at.top) - EDGE - 4}px`
  place.style.bottom = isBelow ? "auto" : `${innerHeight - at.top + 4}px`
}

/** Let the buttons open and close what belongs to them: once for the window. */
export function listen() {
  document.addEventListener("click", ({ target }) => {
    const button = target instanceof Element ? /** @type {HTMLElement | null} */ (target.closest(BUTTON)) : null
    const place = opened(button), isOpen = place && "open" in place.dataset
    if (button) close()
    if (button && place && !isOpen) show(button, place)
  })
  document.addEventListener("pointerdown", ({ target }) => {
    const at = target instanceof Element ? target : document.body
    if (!at.closest(`${BUTTON}, ${OVERLAYS}`) && !opened(open())?.contains(at)) close()
  })
  document.addEventListener("keydown", event => {
    if (event.key !== "Escape" || !open() || document.querySelector("[role=listbox]")) return
    close()?.focus()
    event.preventDefault() // while presenting, Escape would end that
  }, true)
  document.addEventListener("scroll", ({ target }) => {
    const button = open(), place = opened(button)
    if (button && place && target instanceof Node && target.contains(button)) show(button, place)
  }, true)
}
