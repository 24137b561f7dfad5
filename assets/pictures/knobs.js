/* Sliders that move every picture of the page: they draw nothing themselves, and need no numbers but
   their values. */

import { keepDressed } from "./canvas.js"
import { make } from "./elements.js"
import { clamp } from "./paint.js"
import { slide } from "./slider.js"

/** Where a value stands on the slider: at the nearest stop, or without stops on a logarithmic scale from 0 to 1.
 * @param {Knob} knob */
const scaleOf = ({ low, high, stops, digits }) => stops.length
  ? {
      most: stops.length - 1, step: 1,
      /** @param {number} value */
      to: value => stops.reduce((best, stop, i) => Math.abs(stop - value) < Math.abs(stops[best] - value) ? i : best, 0),
      /** @param {number} place */
      back: place => stops[place],
    }
  : {
      most: 1, step: 0.0025,
      /** @param {number} value */
      to: value => Math.log(Math.max(value, low) / low) / Math.log(high / low), // a link may ask for a limit below the lowest
      /** @param {number} place */
      back: place => clamp(+(low * (high / low) ** place).toPrecision(digits), low, high),
    }

/** @param {Sliders} picture */
export default function ({ header, root, late, preview, commit, retract }) {
  const memory = root._memory ??= { rows: new Map() }
  Object.assign(memory, { header })
  const undress = keepDressed(root)

  /** @param {Knob} knob */
  function row({ parameter, label }) {
    if (!memory.rows.has(parameter)) {
      const range = make("input", { type: "range", min: 0, ariaLabel: label })
      const box = make("input", { type: "number", ariaLabel: `${label}, exactly` })
      const element = make("label", {}, make("span", { textContent: label }), range, box)
      element.dataset.parameter = parameter // by which the search finds it
      memory.rows.set(parameter, { element, range, box, slider: {} })
    }
    return memory.rows.get(parameter)
  }

  const shown = header.knobs.map(knob => {
    const elements = row(knob), { range, box, slider } = elements, scale = scaleOf(knob), { parameter, low, high } = knob
    range.max = scale.most
    range.step = scale.step
    Object.assign(box, { min: low, max: high, step: "any" })
    box.classList.toggle("long", high >= 10_000) // five digits have room on a small screen, too
    /** @param {number} value */
    const say = value => { if (box.getRootNode().activeElement !== box) box.value = value }
    const value = () => {
      const place = +range.value
      return place === elements.stood ? knob.value : scale.back(place) // a link may have asked for a value between two stops
    }
    slide(range, slider, { value: scale.to(knob.value), late }, {
      move: () => { say(value()); preview({ [parameter]: value() }, true) },
      rest: () => commit({ [parameter]: value() }, true),
      back: () => { say(knob.value); retract(true) },
    })
    if (!slider.dragging && !late) {
      elements.stood = +range.value
      say(knob.value)
    }
    range.ariaValueText = `${value()}`
    range.onkeydown = (/** @type {KeyboardEvent} */ event) => event.stopPropagation() // the page has keys of its own
    box.onkeydown = (/** @type {KeyboardEvent} */ event) => {
      event.stopPropagation()
      if (event.key === "Enter") box.blur()
    }
    box.onchange = () => {
      const wish = box.value === "" ? knob.value : +box.value
      box.value = clamp(wish, low, high) // `say` would leave a box that has the focus alone
      if (wish !== knob.value) commit({ [parameter]: wish }, true) // where the value is out of range, the page says so
    }
    return elements.element
  })
  const now = [...root.children]
  if (now.length !== shown.length || shown.some((element, i) => element !== now[i])) root.replaceChildren(...shown)
  return undress
}
