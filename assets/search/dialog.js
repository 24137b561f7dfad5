/* The search as a dialog: what is typed, the list of what that finds, and the way there. While nothing is typed the list holds
   what was chosen last. The focus stays in the box; arrows move through the list. */

import { findingOf, pieces } from "./finding.js"
import { keep, recent } from "./recent.js"
import { focusOn, isThere } from "./setting.js"

const SHOWN = 12 // results
const LABELS = { view: "View", question: "Question", step: "Lesson", word: "Word", setting: "Setting" }
const HELP = "Type a word: views, questions, steps of lessons, words and settings are found."

/** @type {Promise<Finding> | undefined} */
let loading
let choices = Date.now() // counts the choices; after a reload it goes on above those of before

/** The index at this address, fetched once. @param {string} address @returns {Promise<Finding>} */
export const indexAt = address => loading ??= fetch(new URL(address, document.baseURI)).then(async answer => {
  if (!answer.ok) throw new Error(`expected the index of the search, got ${answer.status}`)
  const finding = findingOf(await answer.json())
  finding.find("a word that the first one need not wait for") // the first search takes longest
  return finding
}).catch(problem => {
  loading = undefined // the next attempt asks again
  throw problem
})

/** @param {string} tag @param {Record<string, unknown>} more @param {...(Node | string)} inside */
function make(tag, more = {}, ...inside) {
  const element = Object.assign(document.createElement(tag), more)
  element.append(...inside)
  return element
}

/** A text whose words that were found are marked. @param {string} className @param {string} text @param {Set<string>} terms */
const marked = (className, text, terms) =>
  make("span", { className }, ...pieces(text, terms).map(([piece, isMarked]) => isMarked ? make("mark", {}, piece) : piece))

/** Open the search of this component. @param {SearchComponent} component @param {number} asked when that was */
export function show(component, asked) {
  const { data, parentElement, setTriggerValue } = component
  const dialog = /** @type {HTMLDialogElement} */ (parentElement.querySelector("dialog"))
  const box = dialog.querySelector("input"), list = dialog.querySelector("ul"), says = dialog.querySelector(".says")
  const told = dialog.querySelector("section")
  if (dialog.open) return box.select()
  /** @type {Finding | undefined} */
  let finding
  /** @type {Hit[]} */
  let hits = []
  let at = 0 // the place of the marked one
  const before = deepActive()

  /** @param {number} place */
  function mark(place) {
    const options = [...list.children]
    at = options.length ? (place + options.length) % options.length : 0
    options.forEach((option, number) => { option.ariaSelected = String(number === at) })
    if (options[at]) box.setAttribute("aria-activedescendant", options[at].id)
    else box.removeAttribute("aria-activedescendant")
    options[at]?.scrollIntoView({ block: "nearest" })
  }

  /** @param {number} began when that was which is answered */
  function draw(began) {
    if (!finding) return
    const text = box.value, lately = recent()
    const isAsked = Boolean(text.trim())
    const { hits: all, isClosest } = isAsked
      ? finding.find(text, new Set(lately))
      : { hits: lately.flatMap(id => finding?.entry(id) ?? []).map(entry => ({ entry, terms: new Set() })), isClosest: false }
    hits = all.slice(0, SHOWN)
    told.hidden = true
    list.replaceChildren(...hits.map(option))
    box.ariaExpanded = String(hits.length > 0)
    says.textContent = sentence(isAsked, text.trim(), all.length, isClosest)
    mark(0)
    requestAnimationFrame(() => setTimeout(() => performance.measure("search", { start: began, detail: text }))) // painted
  }

  /** @param {boolean} isAsked @param {string} text @param {number} count @param {boolean} isClosest */
  function sentence(isAsked, text, count, isClosest) {
    if (!isAsked) return count ? "Chosen last" : HELP
    if (!count) return `Nothing here is called “${text}”, or anything like it.`
    const more = count > SHOWN ? ` and ${count - SHOWN} more: another word narrows them down` : ""
    if (isClosest) return `Nothing has all of these words. The closest is “${hits[0].entry.title}”.`
    return `${Math.min(count, SHOWN)} ${count === 1 ? "result" : "results"}${more}`
  }

  /** @param {Hit} hit @param {number} number */
  function option({ entry, terms }, number) {
    const { kind, title, place, words } = entry
    const element = make("li", { id: `result_${number}`, role: "option" },
      make("span", { className: `kind ${kind}` }, LABELS[/** @type {keyof typeof LABELS} */ (kind)]),
      make("span", { className: "said" },
        make("span", { className: "head" }, marked("title", title, terms), place ? marked("place", place, terms) : ""),
        ...(words ? [marked("words", words, terms)] : [])))
    element.onclick = () => choose(number)
    element.onpointermove = () => { if (at !== number) mark(number) }
    return element
  }

  /** @param {number} number */
  function choose(number) {
    const entry = hits[number]?.entry
    if (!entry) return
    keep(entry.id)
    if (entry.kind === "word") return explain(entry)
    if (entry.kind === "setting" && isThere(entry.name)) {
      close()
      return focusOn(entry.name, entry.title, say)
    }
    close(false)
    setTriggerValue("chosen", { kind: entry.kind, name: entry.name, number: ++choices })
    if (entry.kind === "setting") focusOn(entry.name, entry.title, say)
    else say(`${entry.title} opens.`, false)
  }

  /** A word is explained where it was found: nothing leads away. @param {SearchEntry} entry */
  function explain({ title, words }) {
    told.replaceChildren(make("h3", { textContent: title }), make("p", { textContent: words }))
    told.hidden = false
    says.textContent = ""
    list.replaceChildren()
    hits = []
    mark(0)
    box.ariaExpanded = "false"
    box.select()
  }

  /** Say something on the page itself. @param {string} text @param {boolean} isShown or only for the ear */
  function say(text, isShown) {
    const note = /** @type {HTMLElement} */ (parentElement.querySelector(".note"))
    note.textContent = text
    note.classList.toggle("shown", isShown)
    if (isShown) setTimeout(() => { if (note.textContent === text) note.classList.remove("shown") }, 6000)
  }

  function close(returns = true) {
    dialog.close()
    if (returns) before?.focus()
  }

  dialog.onkeydown = event => {
    event.stopPropagation() // the page has keys of its own
    if (event.isComposing) return
    /** @type {Record<string, () => void>} */
    const acts = {
      ArrowDown: () => mark(at + 1),
      ArrowUp: () => mark(at - 1),
      PageDown: () => mark(Math.min(at + 5, hits.length - 1)),
      PageUp: () => mark(Math.max(at - 5, 0)),
      Enter: () => choose(at),
      Escape: () => close(),
    }
    // Home and End move through what is typed, and through the list where that is at its end already.
    if (event.key === "Home" && box.selectionStart === 0) acts.Home = () => mark(0)
    if (event.key === "End" && box.selectionEnd === box.value.length) acts.End = () => mark(hits.length - 1)
    const isAgain = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)
    if (isAgain) acts[event.key] = () => box.select()
    if (!acts[event.key] || (event.key === "Enter" && event.target instanceof HTMLButtonElement)) return
    event.preventDefault()
    acts[event.key]()
  }
  dialog.oncancel = event => { event.preventDefault(); close() } // Back of a phone
  dialog.onclick = event => { if (event.target === dialog) close() } // beside it
  dialog.querySelector("button").onclick = () => close()
  box.oninput = event => draw(event.timeStamp)
  box.value = ""
  list.replaceChildren()
  told.hidden = true
  says.textContent = "…"
  dialog.showModal()
  box.focus()
  indexAt(data.index).then(index => {
    finding = index
    draw(asked)
  }, () => { says.textContent = "The search was not reached. Close it and try again." })
}

/** What has the focus, also behind shadow roots. @returns {HTMLElement | null} */
function deepActive() {
  let active = document.activeElement
  while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement
  return active instanceof HTMLElement && active !== document.body ? active : null
}
