/* What the page says of its link: sentences, laws, shapes, facts, answers. Between two runs of the page they come with the
   pictures, as {place: what stands there}, and are put into the elements with that `data-words`, as text.

   What belongs to a panel with a picture is put there when that picture is drawn, everything else with the first of them. If
   the page is run meanwhile and writes what held before, the newer words are put back. A page that has caught up with the
   link says the same, so then nothing is left to do. Screen readers hear the main sentence, at rest.

   What a slow panel says is not computed for each tick: its words come with its picture, or from the page. Until then their
   places are marked as being renewed, for as long as what stands there is of another link than the newest words.

   A picture of the view before is on the page until the run that replaces it has ended, and may speak meanwhile: of a link
   that this page never has. So once all pictures rest, words that are still ahead are replaced by the page's own. */

import { wordsAlone } from "./ask.js"
import { allMarked, markEachOnce, markWord } from "./glossary.js"
import { isRunning } from "../streamlit_private/dom.js"

const PANEL = '[class*="st-key-panel_"]'
/** @type {Record<string, string | undefined>} */
const LABELS = { facts_label: ".st-key-_facts button p" } // words in an element of Streamlit's
const RENEWED = "[data-words][aria-busy=true]"
const REST = 120 // ms after which a page that was run has been put on screen

/** @type {PageSaid | undefined} what the page said last */
let page
let written = "" // the query of what the page has put on screen
/** @type {Map<string, { query: string, spoken: Spoken }>} what is on screen and the page does not know of, by place */
const ahead = new Map()
/** @type {Map<string, string>} */
const later = new Map() // place -> the query of the words that are still to come
const newer = new MutationObserver(putBack)
/** @type {ReturnType<typeof setTimeout> | undefined} */
let looking // runs while words are ahead of the page
let spokenNumber = 0 // of the question whose words were put on the page last

/** The names of the words that shall travel with pictures of this query: of the page, of an answer that is open, and at rest of
 * slow panels, with which an answer waits. None where the page says them already.
 * @param {string} query @param {boolean} [atRest] */
export function wanted(query, atRest = false) {
  if (!page?.names.length || (query === page.query && !isAhead())) return []
  const [words, answer] = page.names, { slow } = page
  const isOpen = document.querySelector("[data-words=answer]") && (atRest || !slow)
  return [words, ...isOpen ? [answer] : [], ...atRest && slow ? [slow] : []]
}

/** Whether the page has still to say what is on screen, or is about to be. */
const isAhead = () => ahead.size > 0 || later.size > 0

/** A picture has been drawn: what stands in no panel with a picture follows the first picture of each question.
 * @param {Words} words @param {number} number of the question that they answer
 * @param {() => HTMLElement[]} pictures that are on the page at the time */
export function sayOnPage(words, number, pictures) {
  if (number > spokenNumber) {
    spokenNumber = number
    const panels = pictures().map(panelOf).filter(panel => panel !== null) // a picture may stand in none
    say(words, element => !panels.some(panel => panel.contains(element)))
  }
  void endAtRest(pictures) // no picture may follow that would look
}

/** A picture has been drawn: its panel says what it shows.
 * @param {Words} words @param {Element} picture */
export function sayInPanel(words, picture) {
  const panel = panelOf(picture)
  if (panel) say(words, element => element.closest(PANEL) === panel)
}

/** While words are ahead of the page, look whether it stands still: then the page's own words are put there.
 * @param {() => HTMLElement[]} pictures */
async function endAtRest(pictures) {
  clearTimeout(looking)
  if (!isAhead() || !page) return
  looking = setTimeout(endAtRest, REST, pictures)
  const queries = [...[...ahead.values()].map(({ query }) => query), ...later.values()]
  if (queries.every(query => query === page?.query)) return // the page is about to say the same
  if (isRunning() || pictures().some(({ dataset }) => dataset.settled !== page?.query)) return
  const { query } = page, answer = await wordsAlone(query, wanted(query, true))
  if (page?.query !== query || !("words" in answer) || !answer.words || Number(answer.question) < spokenNumber) return
  say(answer.words, () => true)
  clear() // a place of which they know nothing holds what the page wrote
}

/** @param {Element} picture behind a shadow root, or not */
function panelOf(picture) {
  const root = picture.getRootNode()
  return (root instanceof ShadowRoot ? root.host : picture).closest(PANEL)
}

/** @param {Words} words @param {(element: Element) => boolean} isMeant */
function say({ query, places }, isMeant) {
  if (!page?.names.length) return // the page says everything itself
  for (const [place, spoken] of Object.entries(places)) {
    const element = elementOf(place)
    if (!element || !isMeant(element)) continue
    if (spoken.later) {
      later.set(place, query)
      continue
    }
    if (query !== page.query) ahead.set(place, { query, spoken })
    else ahead.delete(place)
    fill(place, spoken)
  }
  mark()
}

/** While words are ahead of the page, what only the page can renew is marked as old, and so are places whose words are to come. */
function mark() {
  for (const [place, query] of later) if (query === (ahead.get(place)?.query ?? written)) later.delete(place)
  document.documentElement.toggleAttribute("data-behind", isAhead())
  newer.disconnect()
  markPlaces()
  if (isAhead()) newer.observe(document.body, { subtree: true, childList: true, characterData: true })
}

function markPlaces() {
  const old = new Set([...later.keys()].map(elementOf))
  for (const element of document.querySelectorAll(RENEWED)) if (!old.has(element)) element.removeAttribute("aria-busy")
  for (const element of old) element?.setAttribute("aria-busy", "true")
}

/** The page has changed something on screen. */
function putBack() {
  for (const [place, { spoken }] of ahead) fill(place, spoken)
  markPlaces()
}

/** Nothing is ahead of the page. */
function clear() {
  ahead.clear()
  later.clear()
  mark()
}

/** @param {string} place @returns {Element | null} */
const elementOf = place => document.querySelector(LABELS[place] ?? `[data-words="${CSS.escape(place)}"]`)

/** @param {string} place @param {Spoken} spoken */
function fill(place, spoken) {
  const element = elementOf(place)
  if (!element) return
  if (LABELS[place]) return rename(element, String(spoken.text?.[0] ?? ""))
  const { laws, facts, tokens, text = [] } = spoken
  const nodes = laws?.flatMap(law) ?? facts?.flatMap(fact) ?? (tokens ? row(tokens) : text.flatMap(piece))
  if (spoken.title !== undefined && element instanceof HTMLElement && element.title !== spoken.title) element.title = spoken.title
  const filled = /** @type {Element} */ (element.cloneNode(false))
  filled.append(...nodes)
  const there = allMarked(/** @type {Element} */ (element.cloneNode(true)))
  if (!filled.isEqualNode(there)) element.replaceChildren(...filled.childNodes)
}

/** Change the text in place: the node belongs to Streamlit, which will change it again.
 * @param {Element} element @param {string} text */
function rename(element, text) {
  const node = [...element.childNodes].find(child => child instanceof Text)
  if (node instanceof Text && node.data !== text) node.data = text
}

/** A piece of text; a word of the glossary carries its explanation, as tfm_ui/text/glossary.py writes it.
 * @param {Piece} piece @returns {Node | Node[]} */
function piece(piece) {
  if (typeof piece === "string") return document.createTextNode(piece)
  if ("mouse" in piece) return byHand(piece)
  const [word, about] = piece, element = tag("span", word)
  markWord(element, word, about)
  return element
}

/** An act in the words for a mouse and for fingers, of which page.css shows one, as tfm_ui/text/by_hand.py writes it.
 * @param {{ mouse: string, touch: string }} act */
const byHand = ({ mouse, touch }) =>
  [Object.assign(tag("span", mouse), { className: "by_mouse" }), Object.assign(tag("span", touch), { className: "by_touch" })]

/** @param {[boolean, Piece[]]} law */
function law([holds, pieces]) {
  const element = tag("span", holds ? "✓ " : "✕ ")
  element.append(...pieces.flatMap(piece))
  return [element]
}

/** @param {[string, string]} fact */
const fact = ([name, value]) => [tag("dt", name), tag("dd", value)]

/** The nodes of a row of tokens.
 * @param {TokenItem[]} items */
export const row = items => items.flatMap(token)

/** A token with its weight, or words between tokens, as tfm_ui/text/token_row.py writes them, with spaces between.
 * @param {TokenItem} item @param {number} at @returns {(string | Element)[]} */
function token(item, at) {
  const between = at ? [" "] : []
  if (typeof item === "string") return [...between, tag("span", item)]
  const [label, share, written] = item, element = tag("b", label)
  element.className = "token"
  if (share !== undefined && written !== undefined) {
    element.className += " weighed"
    element.setAttribute("style", `--weight: ${share}`)
    element.append(tag("small", written), tag("i", ""))
  }
  return [...between, element]
}

/** @param {string} name @param {string} text */
const tag = (name, text) => Object.assign(document.createElement(name), { textContent: text })

/** The page has been run: it says which words it wants, and what it says by now.
 * @param {{ data: PageSaid, parentElement: HTMLElement }} component */
export default function ({ data, parentElement }) {
  const before = page
  page = data
  markEachOnce()
  const status = /** @type {HTMLElement} */ (parentElement.querySelector("[role=status]"))
  if (before && before.names[0] === data.names[0] && before.query !== data.query) status.textContent = data.said
  setTimeout(() => { // its elements are on screen by then
    if (page !== data) return
    written = data.query
    const isGone = (/** @type {string} */ place) => !data.names.length || !elementOf(place)
    for (const [place, { query }] of ahead) if (query === written || isGone(place)) ahead.delete(place)
    for (const place of later.keys()) if (isGone(place)) later.delete(place)
    putBack()
    mark()
  }, REST)
  return () => setTimeout(() => { // unless this was only an update
    if (page !== data) return
    page = undefined
    clear()
  })
}
