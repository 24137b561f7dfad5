/* The speaker's clock: how long the lecture lasts already, how long this step does, and how far that is from the plan. The server says
   when both began; the browser counts on by itself. */

const MINUTE = 60

/** @param {number} seconds */
const told = seconds => `${Math.floor(seconds / MINUTE)}:${String(Math.floor(seconds % MINUTE)).padStart(2, "0")}`

/** @typedef {HTMLElement & { ticking?: ReturnType<typeof setInterval> }} Place */

/** How far from the plan, in words.
 * @param {LectureClock} clock
 * @param {number} now in seconds since 1970 */
export function words(clock, now) {
  const whole = Math.max(0, now - clock.began), step = Math.max(0, now - clock.stepBegan)
  const late = Math.round((whole - step) / MINUTE - clock.before + Math.max(0, step / MINUTE - clock.step))
  const far = late === 0 ? "on time" : `${Math.abs(late)} ${Math.abs(late) === 1 ? "minute" : "minutes"} ${late > 0 ? "late" : "early"}`
  return {
    whole: `${told(whole)} of ${clock.lecture} minutes`,
    step: `this step ${told(step)} of ${clock.step} ${clock.step === 1 ? "minute" : "minutes"}`,
    far,
    late: late > 0,
  }
}

/** @param {{ data: LectureClock, parentElement: HTMLElement | ShadowRoot }} component */
export default function ({ data, parentElement }) {
  const place = /** @type {Place} */ (parentElement.querySelector(".clock"))
  const ahead = data.now - Date.now() / 1000 // the server's clock, which may go otherwise than this one
  const draw = () => {
    const { whole, step, far, late } = words(data, Date.now() / 1000 + ahead)
    const parts = [["whole", whole], ["step", step], [late ? "late" : "early", far]]
    place.replaceChildren(...parts.map(([className, textContent]) =>
      Object.assign(document.createElement("span"), { className, textContent })))
  }
  draw()
  clearInterval(place.ticking) // of what the server said before
  place.ticking = setInterval(draw, 1000)
  return () => clearInterval(place.ticking)
}
