/* What the window asks of the page: in one that is too narrow for sidebar and picture, the sidebar is folded when the app is
   opened; when a phone's keyboard closes, the text that was typed applies; the active tab and lens are in sight, and rows that are
   wider than their place say that they go on. */

import { listen as listenForBack } from "./back.js"
import { listen } from "./more.js"
import { foldOfSidebar, watchRuns } from "../streamlit_private/dom.js"

const NEEDS = 1100 // px that sidebar and picture need side by side; Streamlit itself folds the sidebar of phones
const KEYBOARD = 120 // px that a keyboard is high, at least
const ROWS = ".st-key-tabs, .st-key-lens_links"
const EDGE = 32 // px, as wide as the sign that a row goes on: page.css
const SHARE = 0.7 // of a row's width by which a press on the sign scrolls

export default function () {
  showActive()
  if (window.attentionLabWindow) return
  window.attentionLabWindow = true
  listen()
  listenForBack()
  addEventListener("resize", showActive)
  watchRuns(showActive)
  document.addEventListener("scroll", ({ target }) => { if (target instanceof HTMLElement && target.matches(ROWS)) sign(target) }, true)
  document.addEventListener("click", scrollOn)
  globalThis.navigation?.addEventListener("currententrychange", showActive)
  if (innerWidth < NEEDS) {
    foldOfSidebar()?.click()
  }
  const screen = visualViewport
  let high = screen?.height ?? 0
  screen?.addEventListener("resize", () => {
    const grown = screen.height - high, at = document.activeElement
    high = screen.height
    if (grown > KEYBOARD && at instanceof HTMLTextAreaElement) at.blur() // Streamlit applies a text that loses the focus
  })
}

/** Rows of lenses and of tabs that are wider than the window are scrolled to the active one, as soon as it is there. */
function showActive() {
  requestAnimationFrame(() => {
    for (const link of document.querySelectorAll(".st-key-lens_links a")) {
      const isHere = link.getAttribute("href") === location.pathname.split("/").at(-1) // the first page's link is empty
      link.ariaCurrent = isHere ? "page" : null
    }
    for (const active of document.querySelectorAll(".st-key-lens_links [aria-current], .st-key-tabs button[kind=primary]")) {
      const row = active.closest(ROWS)
      if (!row) continue
      const [box, room] = [active, row].map(element => element.getBoundingClientRect())
      if (box.left < room.left + EDGE || box.right > room.right - EDGE) {
        row.scrollLeft += (box.left + box.right - room.left - room.right) / 2
      }
    }
    document.querySelectorAll(ROWS).forEach(sign)
  })
}

/** Say on which sides a row goes on; page.css draws it. @param {Element} row */
function sign(row) {
  const { scrollLeft, clientWidth, scrollWidth } = row
  const sides = [scrollLeft > 1 ? "before" : "", scrollLeft + clientWidth < scrollWidth - 1 ? "after" : ""]
  row.setAttribute("data-goes-on", sides.join(" ").trim())
}

/** A press on that sign, which lies on the row itself, scrolls. @param {MouseEvent} press */
function scrollOn({ target, clientX }) {
  if (!(target instanceof HTMLElement) || !target.matches(ROWS)) return
  const { left, right } = target.getBoundingClientRect()
  const way = clientX > right - EDGE ? 1 : clientX < left + EDGE ? -1 : 0
  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches
  if (way) target.scrollBy({ left: way * SHARE * target.clientWidth, behavior: isStill ? "instant" : "smooth" })
}
