/* How fast a picture plays by itself: a small select box beside its button, kept while the page is open. */

import { make } from "./elements.js"

const SPEEDS = [0.25, 0.5, 1, 2]

/** Put the box behind the button, once; `change` is called when the reader has chosen another speed. The speed is
 * memory.speed, 1 at first.
 * @param {HTMLElement} button @param {any} memory @param {() => void} change */
export function speedBeside(button, memory, change) {
  memory.speed ??= 1
  if (!memory.speeds) {
    const options = SPEEDS.map(speed => make("option", { value: speed, textContent: `×${speed}` }))
    memory.speeds = make("select", { className: "speed", ariaLabel: "Speed of playing", title: "Speed of playing" }, ...options)
    memory.speeds.value = memory.speed
    button.after(memory.speeds)
  }
  memory.speeds.onchange = () => {
    memory.speed = Number(memory.speeds.value)
    change()
  }
  memory.speeds.onkeydown = (/** @type {KeyboardEvent} */ event) => event.stopPropagation() // the page has keys of its own
}
