/* A slider in a picture that is redrawn while it is dragged. Key presses in a row are one act, which ends when there has
   been none for a moment.

   value   the value that the drawn numbers are of
   late    whether it has been moved since they were asked for
   move()  as it is moved
   rest()  when it is let go
   back()  when it is let go where it began, for which a browser sends no "change" */
const ROW = 400 // ms: longer than key presses of a row lie apart

/** @param {HTMLInputElement} input @param {SliderMemory} memory @param {{ value: number, late: boolean }} shown
 * @param {{ move: () => void, rest: () => void, back: () => void }} acts */
export function slide(input, memory, { value, late }, { move, rest, back }) {
  if (!memory.dragging && !late) stand()
  function stand() {
    input.value = String(value)
    memory.began = input.value // the browser may have rounded the value to the slider's step
  }
  memory.letGo = letGo
  function letGo() {
    clearTimeout(memory.row)
    if (!memory.dragging) return
    memory.dragging = false
    const moved = input.value !== memory.began
    memory.began = input.value
    if (moved) rest()
    else back()
  }
  function pressed() {
    clearTimeout(memory.row)
    memory.row = setTimeout(() => memory.letGo?.(), ROW) // the newest, as it may be drawn anew meanwhile
  }
  input.oninput = () => { memory.dragging = true; move() }
  input.onpointerdown = () => { memory.isHeld = true }
  input.onpointerup = input.onpointercancel = () => { letGo(); memory.isHeld = false }
  input.onchange = () => memory.isHeld ? letGo() : pressed()
  input.onblur = letGo
}
