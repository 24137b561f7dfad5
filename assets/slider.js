/* A slider in a picture that is redrawn while it is dragged.

   value   where the page says that it stands
   move()  as it is moved
   rest()  when it is let go
   back()  the same, where it began: of that a browser tells no "change" */
export function slide(input, memory, value, { move, rest, back }) {
  const held = input.getRootNode().activeElement === input // a key may have been pressed since this answer was asked for
  if (!memory.dragging && !held) stand()
  function stand() {
    input.value = value
    memory.began = input.value // what the browser made of it
  }
  function letGo() {
    if (!memory.dragging) return
    memory.dragging = false
    const moved = input.value !== memory.began
    memory.began = input.value
    if (moved) rest()
    else back()
  }
  input.oninput = () => { memory.dragging = true; move() }
  input.onchange = input.onpointerup = letGo
  input.onblur = () => { letGo(); stand() }
}
