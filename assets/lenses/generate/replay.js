/* The buttons and the slider that move a picture through the steps of a text: step back, play, step on. */

const EACH = 140 // ms for which a token stays while the text is played

/** @param {PictureRoot} root @param {{ last: () => number, at: () => number, stand: (place: number) => void, rest: () => void }} acts
 * `last` is the last place, `at` the present one; `stand` draws a place, `rest` tells the page where the hand has come to rest. */
export function replay(root, { last, at, stand, rest }) {
  const memory = root._memory
  const $ = (/** @type {string} */ selector) => /** @type {any} */ (root.querySelector(selector))
  const input = $(".scrub input"), button = $(".scrub .play")
  function stop() {
    clearInterval(memory.playing)
    memory.playing = undefined
    button.textContent = "▶"
    button.ariaLabel = "Play"
  }
  function play() {
    if (memory.playing) { stop(); return rest() }
    if (at() >= last()) stand(0)
    memory.playing = setInterval(() => root.isConnected ? memory.forward() : clearInterval(memory.playing), EACH)
    button.textContent = "❚❚"
    button.ariaLabel = "Stop"
  }
  // The timer outlives a new drawing of the picture, and then moves the newest one.
  memory.forward = () => {
    if (at() < last()) return stand(at() + 1)
    stop()
    rest()
  }
  const back = () => { stop(); stand(Math.max(0, at() - 1)); rest() }
  const on = () => { stop(); stand(Math.min(last(), at() + 1)); rest() }
  Object.assign($(".scrub .back"), { onclick: back })
  Object.assign($(".scrub .on"), { onclick: on })
  button.onclick = play
  input.oninput = () => { stop(); stand(Number(input.value) - 1) }
  input.onchange = rest
  input.onkeydown = (/** @type {KeyboardEvent} */ event) => event.stopPropagation() // the page has keys of its own
  if (memory.playing) Object.assign(button, { textContent: "❚❚", ariaLabel: "Stop" })
  return {
    stop, back, on,
    /** Show where it stands. @param {string} words what else a screen reader hears */
    say(words = "") {
      const text = `token ${at() + 1} of ${last() + 1}`
      input.max = String(last() + 1)
      input.value = String(at() + 1)
      input.ariaValueText = words ? `${text}, ${words}` : text
      $(".scrub output").textContent = text
    },
  }
}

/** Tell the page where the hand has come to rest: the value of the link's parameter, which `isMoved` will know again.
 * @param {any} memory @param {number} step */
export function told(memory, step) {
  const all = memory.told ??= []
  if ((all.at(-1) ?? memory.wished) !== step) all.push(step)
  return step
}

/** Whether somebody else has moved it: a page that is behind says each step that it was told, when the hand is elsewhere.
 * @param {any} memory @param {number} step what the page says */
export function isMoved(memory, step) {
  const all = memory.told ??= [], echo = all.lastIndexOf(step), isOther = echo < 0 && memory.wished !== step
  all.splice(0, isOther ? all.length : echo + 1)
  memory.wished = step
  return isOther
}

/** Where a link's step stands among the places from 0 to `last`: 0 stands for the last. @param {number} step */
export const placeOf = step => step ? step - 1 : Infinity
/** The step of a place. @param {number} place @param {number} last */
export const stepOf = (place, last) => place >= last ? 0 : place + 1
