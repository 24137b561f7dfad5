/* What the window asks of the page: in one that is too narrow for sidebar and picture, the sidebar is folded when the app is
   opened; when a phone's keyboard closes, the text that was typed applies; the active tab and lens are in sight. */

import { listen as listenForBack } from "./back.js"
import { listen } from "./more.js"
import { foldOfSidebar } from "../streamlit_private/dom.js"

const NEEDS = 1100 // px that sidebar and picture need side by side; Streamlit itself folds the sidebar of phones
const KEYBOARD = 120 // px that a keyboard is high, at least

export default function () {
  showActive()
  if (window.attentionLabWindow) return
  window.attentionLabWindow = true
  listen()
  listenForBack()
  addEventListener("resize", showActive)
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
      const row = active.closest(".st-key-tabs, .st-key-lens_links")
      if (!row) continue
      const [box, room] = [active, row].map(element => element.getBoundingClientRect())
      if (box.left < room.left || box.right > room.right) row.scrollLeft += (box.left + box.right - room.left - room.right) / 2
    }
  })
}
