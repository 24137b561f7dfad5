/* The sentence that Home begins with, edited in place. Pictures and words follow while somebody types, and no page is run. When
   typing rests, the box is left, or Enter is pressed, the page is told: that is one act.

   An empty text is not previewed where nothing can be shown of it: pictures stay what they were until the page says so. */

import { everywhere } from "../../pictures/follow.js"

const REST = 1200 // ms without a key
const LINES = 4 // more are to be scrolled to

/** @type {WeakMap<HTMLTextAreaElement, SentenceMemory>} */
const memories = new WeakMap()

/** Make the box as high as its text.
 * @param {HTMLTextAreaElement} box */
function grow(box) {
  const { lineHeight, paddingTop, paddingBottom, borderTopWidth, borderBottomWidth } = getComputedStyle(box)
  const edges = [borderTopWidth, borderBottomWidth].map(parseFloat).reduce((a, b) => a + b)
  const most = LINES * parseFloat(lineHeight) + parseFloat(paddingTop) + parseFloat(paddingBottom)
  box.style.height = "0"
  const high = box.scrollHeight
  box.style.height = `${Math.min(high, most) + edges}px`
  box.style.overflowY = high > most + 1 ? "auto" : "hidden"
}

/** @param {{ data: SentenceData, parentElement: HTMLElement | ShadowRoot,
 *   setTriggerValue: (name: string, value: unknown) => void }} component */
export default function ({ data, parentElement, setTriggerValue }) {
  const box = /** @type {HTMLTextAreaElement} */ (parentElement.querySelector("textarea"))
  const memory = memories.get(box) ?? { number: 0, told: data.text, isTyped: false }
  memories.set(box, memory)
  const isBehind = data.heard < memory.number // the page was run before it heard of the last act: it says what was then
  if (!isBehind) memory.told = data.text
  if (!memory.isTyped && !isBehind) put(data.text)
  box.readOnly = data.isLocked
  grow(box)

  /** @param {string} text */
  function put(text) {
    if (box.value !== text) box.value = text
  }

  const isShown = () => !data.needsText || box.value.trim() !== ""

  function tell() {
    clearTimeout(memory.rest)
    if (!memory.isTyped) return
    memory.isTyped = false
    if (box.value === memory.told) return everywhere.retract()
    memory.told = box.value
    memory.number = everywhere.commit(isShown() ? { text: box.value } : {})
    setTriggerValue("changed", { changes: { text: box.value }, number: memory.number })
  }

  function takeBack() {
    clearTimeout(memory.rest)
    memory.isTyped = false
    put(memory.told)
    everywhere.retract()
    grow(box)
  }

  box.oninput = () => {
    grow(box)
    memory.isTyped = true
    clearTimeout(memory.rest)
    memory.rest = setTimeout(tell, REST)
    if (isShown()) everywhere.preview({ text: box.value })
  }
  box.onblur = tell
  box.onkeydown = event => {
    event.stopPropagation() // the page has keys of its own
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault()
      tell()
      if (matchMedia("(pointer: coarse)").matches) box.blur() // so that the keyboard closes
    } else if (event.key === "Escape" && !event.isComposing) {
      if (memory.isTyped) takeBack()
      else box.blur()
    }
  }
  const resized = new ResizeObserver(() => grow(box))
  resized.observe(/** @type {Element} */ (box.parentElement))
  return () => resized.disconnect()
}
