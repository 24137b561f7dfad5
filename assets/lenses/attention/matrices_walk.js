/* The bar above the matrices: from step to step by click, by keyboard or by itself, and the temperature. */

import { actOn, make, partsOf } from "../../pictures/elements.js"
import { clamp } from "../../pictures/paint.js"
import { slide } from "../../pictures/slider.js"
import { speedBeside } from "../../pictures/speed.js"

const REST = 3000 // ms between two steps of a walk by itself: time enough to say what each does

/** Returns how to stop the walk.
 * @param {Pick<Picture<MatricesHeader>, "root" | "header" | "late" | "preview" | "retract">
 *   & { memory: any, tell: (changes: Values) => void }} picture */
export function walk({ root, header: { prefix, steps, step, whole, temperature }, memory, late, tell, preview, retract }) {
  const $ = partsOf(root)
  /** @param {string} name */
  const go = name => tell({ step: name })
  /** @param {number} count */
  const by = count => { const to = steps[steps.indexOf(step) + count]; if (to) go(to) }
  const chips = $(".chips")
  /** @type {() => HTMLElement[]} */
  const all = () => [...chips.querySelectorAll("button")]
  if (!chips.children.length) for (const name of steps) {
    chips.append(make("button", { textContent: name, role: "tab" }))
  }
  all().forEach((chip, i) => {
    chip.setAttribute("aria-selected", String(steps[i] === step))
    chip.tabIndex = steps[i] === step ? 0 : -1
    chip.onclick = () => { stop(); go(steps[i]) }
  })
  /** @param {number} place */
  function walkTo(place) {
    const to = clamp(place, 0, steps.length - 1)
    stop()
    memory.wanted = steps[to]
    all()[to].focus()
    go(steps[to])
  }
  chips.onkeydown = event => {
    const now = steps.indexOf(memory.wanted ?? step), on = () => walkTo(now + 1), back = () => walkTo(now - 1)
    actOn(event, {
      ArrowRight: on, ArrowDown: on, ArrowLeft: back, ArrowUp: back, Home: () => walkTo(0), End: () => walkTo(steps.length),
    })
  }
  memory.wanted = null
  centre(chips)
  $(".back").disabled = step === steps[0]
  $(".next").disabled = step === steps.at(-1)
  $(".back").onclick = () => { stop(); by(-1) }
  $(".next").onclick = () => { stop(); by(1) }
  function stop() { clearTimeout(memory.timer); memory.playing = false; $(".play").textContent = "Play" }
  function play() {
    memory.playing = true
    tell(step === steps.at(-1) || whole ? { step: steps[0], whole: false } : { step: steps[steps.indexOf(step) + 1] })
  }
  $(".play").textContent = memory.playing ? "Pause" : "Play"
  $(".play").onclick = () => memory.playing ? stop() : play()
  function wait() {
    clearTimeout(memory.timer)
    memory.timer = setTimeout(play, REST / memory.speed)
  }
  speedBeside($(".play"), memory, () => { if (memory.playing) wait() })
  if (memory.playing && step !== steps.at(-1)) wait()
  else stop()
  $(".all").textContent = whole ? "One step" : "All at once"
  $(".all").onclick = () => { stop(); tell({ whole: !whole }) }

  // temperature: ten steps of the slider are a factor of ten
  const warmth = $(".warmth input"), degrees = () => +(10 ** (Number(warmth.value) / 10)).toPrecision(2)
  const wish = () => ({ [`${prefix}temperature`]: degrees() })
  slide(warmth, memory, { value: Math.round(10 * Math.log10(temperature)), late }, {
    move() {
      $(".warmth output").textContent = String(degrees())
      memory.waits ||= setTimeout(() => { memory.waits = 0; preview(wish()) }, 50)
    },
    rest: () => { still(); tell({ temperature: degrees() }) },
    back: () => { still(); retract() },
  })
  function still() { clearTimeout(memory.waits); memory.waits = 0 }
  if (!memory.dragging && !late) $(".warmth output").textContent = String(temperature)

  return stop
}

/** Scroll to the chosen step, so that it stands in the middle where not all have room.
 * @param {HTMLElement} chips */
export function centre(chips) {
  const lit = /** @type {HTMLElement} */ (chips.querySelector("[aria-selected=true]"))
  chips.scrollLeft = lit.offsetLeft - (chips.clientWidth - lit.offsetWidth) / 2
  chips.onscroll = () => fade(chips)
  fade(chips)
}

/** An edge behind which there are more steps fades.
 * @param {HTMLElement} chips */
function fade(chips) {
  const { scrollLeft, clientWidth, scrollWidth } = chips
  chips.classList.toggle("before", scrollLeft > 1)
  chips.classList.toggle("after", scrollLeft + clientWidth < scrollWidth - 1)
}
