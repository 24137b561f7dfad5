/* The buttons and the slider that move a picture through steps: step back, play, step on. */

import { partsOf } from "./elements.js"

const EACH = 140 // ms for which a step stays while all are played

/** @param {PictureRoot} root
 * @param {{ last: () => number, at: () => number, stand: (place: number) => void, rest: () => void, each?: number }} acts
 * `last` is the last place, `at` the present one; `stand` draws a place, `rest` tells the page where the hand has come to rest. */
export function replay(root, { last, at, stand, rest, each = EACH }) {
  const memory = root._memory, $ = partsOf(root), input = $(".scrub input"), button = $(".scrub .play")
  function mark() {
    button.textContent = memory.playing ? "❚❚" : "▶"
    button.ariaLabel = memory.playing ? "Pause" : "Play"
  }
  function stop() {
    clearInterval(memory.playing)
    memory.playing = undefined
    mark()
  }
  function play() {
    if (memory.playing) { stop(); return rest() }
    if (at() >= last()) stand(0)
    memory.playing = setInterval(() => root.isConnected ? memory.forward() : clearInterval(memory.playing), each)
    mark()
  }
  // The timer outlives a new drawing of the picture, and then moves the newest one.
  memory.forward = () => {
    if (at() < last()) return stand(at() + 1)
    stop()
    rest()
  }
  const back = () => { stop(); stand(Math.max(0, at() - 1)); rest() }
  const on = () => { stop(); stand(Math.min(last(), at() + 1)); rest() }
  for (const [name, act] of Object.entries({ back, on })) Object.assign($(`.scrub .${name}`) ?? {}, { onclick: act })
  button.onclick = play
  input.oninput = () => { stop(); stand(Number(input.value) - 1) }
  input.onchange = rest
  input.onkeydown = (/** @type {KeyboardEvent} */ event) => event.stopPropagation() // the page has keys of its own
  mark()
  return {
    stop, back, on,
    /** Show where it stands. @param {{ text?: string, words?: string, spoken?: string }} said beside the slider; what else, or
     * what instead, a screen reader hears */
    say({ text = `token ${at() + 1} of ${last() + 1}`, words = "", spoken = words ? `${text}, ${words}` : text }) {
      input.max = String(last() + 1)
      input.value = String(at() + 1)
      input.ariaValueText = spoken
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
