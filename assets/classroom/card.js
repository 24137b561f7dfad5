/* The question of a room: what is asked, the answer of this browser, and what all have answered once that is shown. */

import { make } from "../pictures/elements.js"
import { isAstray } from "./follow.js"
import { send } from "./line.js"
import { result as drawnResult } from "./result.js"
import { answered, numberOf } from "./written.js"

const MOST_WORDS = 80 // characters of an answer in a few words
const CONTROLS = "button, input, a, [tabindex]"

/** Let the page show its answer, if it waits for that; returns whether it does. */
export function pressShow() {
  const button = /** @type {HTMLButtonElement | null} */ (document.querySelector(".st-key-_show_answer button"))
  button?.click()
  return button !== null
}

export class Card {
  element = make("div", { className: "card", hidden: true })
  id = "" // of the question that is drawn
  drawn = "" // what is drawn of it, as text
  problem = ""
  isFolded = false
  isShown = false // whether answers are

  /** @param {RoomView} view @param {RoomRole} role @param {RoomData} data @param {boolean} isPresenting */
  draw(view, role, data, isPresenting) {
    const { asked } = view, { element } = this
    element.hidden = !asked
    if (!asked) return void (this.id = "")
    const isOnPage = role.leads && Boolean(asked.which && document.querySelector(".st-key-answer")) // its words stand there
    element.hidden = asked.kind === "nothing" && isOnPage
    const isNew = this.id !== asked.id, answers = !role.secret && !isPresenting, result = view.result?.id === asked.id ? view.result : null
    if (isNew) Object.assign(this, { id: asked.id, drawn: "", problem: "", isFolded: false })
    const texts = role.secret && data.isDesk ? view.texts : null
    const isAstrayHere = Boolean(view.place && isAstray(view.place, data))
    const isAlone = (!role.follows || isAstrayHere) && !isOnPage // what is asked stands on a page that is not here
    const key = JSON.stringify([answers, isOnPage, isAlone, result, view.mine, view.late, this.problem, texts, this.isFolded])
    if (key !== this.drawn) { // a box that is being typed in stays as it is
      const wasShown = this.isShown
      Object.assign(this, { drawn: key, isShown: Boolean(result) })
      const body = result ? drawnResult(view, role, result, isOnPage, texts, told => void this.act(role, "reveal", told))
        : answers ? this.form(asked, view, role) : []
      const about = isAlone && asked.kind !== "nothing" && asked.about ? [`${asked.about} `] : []
      const ask = isOnPage ? [] : [make("p", { className: "ask" }, ...about, make("b", { textContent: asked.ask }))]
      const focused = isNew ? null : this.focused(), typed = isNew ? "" : element.querySelector("input")?.value
      const acts = this.acts(asked, role, result, isOnPage)
      const head = make("div", { className: "head" }, ...ask, make("p", { className: "count" }), ...acts, this.fold())
      element.replaceChildren(
        head, ...this.isFolded ? [] : body,
        ...this.problem ? [make("p", { className: "problem", role: "alert", textContent: this.problem })] : [],
      )
      const box = element.querySelector("input")
      if (box && typed && this.problem) box.value = typed
      if (focused) this.focus(focused)
      if (isNew || Boolean(result) !== wasShown) document.querySelector(".st-key-classroom")?.scrollIntoView?.({ block: "nearest" })
    }
    this.say(counted(view, role, result))
  }

  /** What has the focus here, and its place among all that can have it. */
  focused() {
    const tree = /** @type {Document | ShadowRoot} */ (this.element.getRootNode())
    const all = [...this.element.querySelectorAll(CONTROLS)], at = all.findIndex(each => each === tree.activeElement)
    return at < 0 ? null : { at, many: all.length, before: all[at] }
  }

  /** What is drawn anew keeps the focus; where something else stands in its place, nobody shall press that unawares.
   * @param {{ at: number, many: number, before: Element }} focused */
  focus({ at, many, before }) {
    const all = /** @type {NodeListOf<HTMLElement>} */ (this.element.querySelectorAll(CONTROLS)), now = all[at]
    const isSame = all.length === many && (now?.textContent === before.textContent || now?.className === before.className)
    const next = isSame ? now : /** @type {HTMLElement | null} */ (this.element.querySelector(".fold"))
    next?.focus({ preventScroll: true })
  }

  /** @param {string} words */
  say(words) {
    const place = this.element.querySelector(".count")
    if (place && place.textContent !== words) place.textContent = words
  }

  fold() {
    const label = this.isFolded ? "Unfold the question" : "Fold the question"
    return make("button", {
      type: "button", className: "fold", textContent: this.isFolded ? "▸" : "▾", ariaLabel: label, title: label,
      onclick: () => { this.isFolded = !this.isFolded; this.again() },
    })
  }

  /** How a member answers. @param {RoomQuestion} asked @param {RoomView} view @param {RoomRole} role @returns {HTMLElement[]} */
  form(asked, { mine }, role) {
    const said = mine === null ? "" : `You answered ${answered(mine, asked)}. You can change it until answers are shown.`
    const note = make("p", { className: "mine", role: "status", textContent: said })
    if (asked.kind === "choice") {
      const choices = asked.options.map(option => make("button", {
        type: "button", textContent: option, className: option === mine ? "choice chosen" : "choice", ariaPressed: String(option === mine),
        onclick: () => this.act(role, "answer", { id: asked.id, answer: option }),
      }))
      return [make("div", { className: "choices", role: "group", ariaLabel: asked.ask }, ...choices), note]
    }
    const isNumber = asked.kind === "number", unit = asked.unit.trim(), label = `Your answer${unit && `, in ${unit}`}`
    const box = make("input", { type: "text", ariaLabel: label, placeholder: label, value: mine ?? "" })
    Object.assign(box, isNumber ? { inputMode: "decimal", autocomplete: "off" } : { maxLength: MOST_WORDS })
    const sends = make("button", { type: "submit", textContent: mine === null ? "Send" : "Change", className: "calls" })
    const form = make("form", { noValidate: true }, box, sends)
    form.onsubmit = event => {
      event.preventDefault()
      const value = isNumber ? numberOf(box.value, unit) : box.value.trim()
      if (value !== "" && !Number.isNaN(value)) return void this.act(role, "answer", { id: asked.id, answer: value })
      this.problem = isNumber ? "Type a number, such as 12 or 0.5." : "Type a few words."
      this.again()
    }
    form.onkeydown = event => event.stopPropagation() // the page has keys of its own
    return [form, note]
  }

  /** What the owner can do; what is on the page goes with it. @param {RoomQuestion} asked @param {RoomRole} role
   * @param {RoomResult | null} result @param {boolean} isOnPage */
  acts(asked, role, result, isOnPage) {
    if (!role.secret || result && isOnPage) return []
    const pressed = result
      ? { textContent: "Done", title: "Take the question off all screens", onclick: () => this.act(role, "withdraw", { id: asked.id }) }
      : { textContent: "Show answers", className: "calls", onclick: () => this.show(role, asked) }
    return [make("span", { className: "acts" }, make("button", { type: "button", ...pressed }))]
  }

  /** Answers are shown by the page that has asked, with what it computes; without that page at once.
   * @param {RoomRole} role @param {RoomQuestion} asked */
  async show(role, asked) {
    if (!asked.which || !role.leads || !pressShow()) await this.act(role, "show", { id: asked.id })
  }

  /** @param {RoomRole} role @param {string} act @param {unknown} told */
  async act(role, act, told) {
    this.problem = await send(role, act, told)
    this.again()
  }

  again() {
    const { view, role, data } = window.attentionLabRoom ?? {}
    if (view && role && data) this.draw(view, role, data, new URLSearchParams(location.search).has("present"))
  }
}

/** How many have answered. @param {RoomView} view @param {RoomRole} role @param {RoomResult | null} result */
function counted({ asked, here, lates }, role, result) {
  if (asked?.kind === "nothing") return ""
  const late = role.secret && lates ? ` ${lates} came too late.` : ""
  return (result ? `${result.many} answered.` : `${asked?.answered} of ${here.members} have answered.`) + late
}
