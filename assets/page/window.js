/* What the window asks of the page: in one that is too narrow for sidebar and picture, the sidebar is folded when the app is
   opened; when a phone's keyboard closes, the text that was typed applies. */

const NEEDS = 1100 // px that sidebar and picture need side by side; Streamlit itself folds the sidebar of phones
const KEYBOARD = 120 // px that a keyboard is high, at least

export default function () {
  if (window.attentionLabWindow) return
  window.attentionLabWindow = true
  if (innerWidth < NEEDS) {
    const fold = /** @type {HTMLElement | null} */ (document.querySelector("[data-testid=stSidebarCollapseButton] button[aria-expanded=true]"))
    fold?.click()
  }
  const screen = visualViewport
  let high = screen?.height ?? 0
  screen?.addEventListener("resize", () => {
    const grown = screen.height - high, at = document.activeElement
    high = screen.height
    if (grown > KEYBOARD && at instanceof HTMLTextAreaElement) at.blur() // Streamlit applies a text that loses the focus
  })
}
