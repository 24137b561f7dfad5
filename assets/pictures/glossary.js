/* Words of the glossary on a page: each is marked where it stands first, in reading order, and is plain text below. The page
   marks it in each of its texts (tfm_ui/text/glossary.py), as none knows which others are on screen; what is first changes
   with each run of the page, and with words that come between two runs (words.js). Without this script all stay marked. */

import { isInSidebar } from "../streamlit_private/dom.js"

const MARKED = ".word", PLAIN = "again"

/** A word as it is written into the page. @param {Element} element @param {string} word @param {string} about */
export function markWord(element, word, about) {
  element.className = "word"
  element.setAttribute("tabindex", "0")
  element.setAttribute("role", "button")
  element.setAttribute("aria-label", `${word}: ${about}`)
  element.setAttribute("data-about", about)
}

/** The same with all words marked, as it was written into the page.
 * @template {Element} E @param {E} copy of what is on the page */
export function allMarked(copy) {
  for (const element of copy.querySelectorAll(`.${PLAIN}`)) markAgain(element)
  return copy
}

let isAtWork = false

/** Let each word be marked once on this page, from now on. */
export function markEachOnce() {
  if (isAtWork) return
  isAtWork = true
  let isAsked = false
  const ask = () => {
    if (isAsked) return
    isAsked = true
    requestAnimationFrame(() => {
      isAsked = false
      markFirst()
    })
  }
  new MutationObserver(ask).observe(document.body, { subtree: true, childList: true })
  addEventListener("resize", ask)
  ask()
}

/** The first place of each explanation is marked, on the page before the sidebar. Only attributes change, which nobody observes. */
function markFirst() {
  const known = new Set(), words = [...document.querySelectorAll(MARKED)].filter(element => element.checkVisibility())
  const beside = words.filter(isInSidebar)
  for (const element of [...words.filter(word => !beside.includes(word)), ...beside]) {
    const about = explanationIn(element), isPlain = element.classList.contains(PLAIN)
    if (known.has(about) !== isPlain) (isPlain ? markAgain : makePlain)(element)
    known.add(about)
  }
}

/** @param {Element} element */
function makePlain(element) {
  element.classList.add(PLAIN)
  for (const name of ["tabindex", "role", "aria-label"]) element.removeAttribute(name)
}

/** @param {Element} element */
const markAgain = element => markWord(element, element.textContent ?? "", explanationIn(element))

/** @param {Element} element */
const explanationIn = element => element.getAttribute("data-about") ?? ""
