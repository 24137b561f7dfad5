/* Streamlit's sliders act when they are let go. With this script all pictures follow while they are dragged.

   data.keys are the Streamlit keys of the sliders, which are parameters of the link, too. Of Streamlit's page this relies
   on: the class st-key-<key> around a slider, in it one <input type=range> whose aria-valuetext is the value as a link
   writes it, and that Streamlit tells the server by itself, at once, when the slider is let go at another value, and at
   each press of a key. tests/browser/test_live_sliders.py holds that. Where it is otherwise, sliders act as before.

   One script watches for as long as the window lives: a page that is run meanwhile does not end a drag. */

import { everywhere } from "./follow.js"

/** @type {string[]} */
let keys = []
/** @type {{ key: string, began: string, shown: string } | null} the slider under the finger */
let held = null
/** @type {{ key: string, shown: string, until: number } | null} the slider on which a key was pressed */
let pressed = null
let watches = false

const MOVING = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End"]
const AT_ONCE = 500 // ms within which a key moves a slider: what moves later is moved by the page, as by Undo or Back

/** @param {{ data: { keys: string[] } }} component */
export default function ({ data }) {
  ({ keys } = data)
  if (watches) return
  watches = true
  addEventListener("pointerdown", take, true)
  addEventListener("pointerup", letGo, true)
  addEventListener("pointercancel", letGo, true)
  addEventListener("keydown", press, true)
  new MutationObserver(moved).observe(document.body, { subtree: true, attributeFilter: ["aria-valuetext"] })
}

/** @param {EventTarget | null} target */
const keyOf = target => keys.find(key => target instanceof Element && target.closest(`.st-key-${key} [role=group]`)) ?? null

/** @param {string} key */
const valueOf = key => document.querySelector(`.st-key-${key} input[type=range]`)?.getAttribute("aria-valuetext") ?? ""

/** @param {PointerEvent} event */
function take({ target, button }) {
  const key = button === 0 ? keyOf(target) : null
  held = key === null ? null : { key, began: valueOf(key), shown: valueOf(key) }
  pressed = null
}

function letGo() {
  const slider = held
  if (slider) setTimeout(() => { // a click moves the slider in the moment in which it is let go
    const { key, began, shown } = slider, value = valueOf(key)
    if (held === slider) held = null
    if (value !== began) everywhere.commit({ [key]: value })
    else if (shown !== began) everywhere.retract()
  })
}

/** @param {KeyboardEvent} event */
function press({ target, key: name, altKey, ctrlKey, metaKey }) {
  const key = MOVING.includes(name) && !altKey && !ctrlKey && !metaKey ? keyOf(target) : null
  pressed = key === null ? null : { key, shown: valueOf(key), until: performance.now() + AT_ONCE }
}

/** @param {MutationRecord[]} records */
function moved(records) {
  const slider = held ?? (pressed && performance.now() < pressed.until ? pressed : null)
  if (!slider || !records.some(({ target }) => keyOf(target) === slider.key)) return
  const { key } = slider, value = valueOf(key)
  if (value === slider.shown) return // drawn again, and nothing new
  slider.shown = value
  if (held) everywhere.preview({ [key]: value })
  else everywhere.commit({ [key]: value })
}
