/* Hands on the link of the page: a press copies it, and says so; under a finger it opens the system's sheet, where there is one.
   What the pictures show and the page does not know of yet is in the link, too. */

const isTouched = matchMedia("(pointer: coarse)").matches, hasSheet = isTouched && "share" in navigator
const SAYS = {
  ready: hasSheet ? "Share" : "Copy link",
  copied: "Link copied",
  refused: isTouched ? "Copy the address above" : "Press Ctrl+C to copy",
}
const SHOWN_FOR = 2500 // ms

/** Open the system's sheet with the link. @param {string} url @returns {Promise<boolean>} whether it opened */
const shared = url => navigator.share({ title: document.title, url })
  .then(() => true, error => ["AbortError", "InvalidStateError"].includes(error.name)) // it was put away, or is open already

/** Copy by a selection, which is all that a browser allows without permission, or without https.
 * @param {string} link */
function copySelected(link) {
  const box = document.body.appendChild(Object.assign(document.createElement("textarea"), { value: link }))
  box.select()
  const isCopied = document.execCommand("copy")
  box.remove()
  return isCopied
}

/** @param {{ data: { link: string }, parentElement: HTMLElement | ShadowRoot }} component */
export default function ({ data: { link }, parentElement }) {
  const button = /** @type {HTMLButtonElement} */ (parentElement.querySelector("button"))
  const says = /** @type {HTMLElement} */ (button.querySelector("span"))
  says.textContent ||= SAYS.ready
  button.title = button.ariaLabel = SAYS.ready // where its words have no room
  button.classList.toggle("sheet", hasSheet)
  /** @type {ReturnType<typeof setTimeout>} */
  let timer
  button.onclick = async () => {
    const moved = window.attentionLabCarried?.() ?? {}, whole = new URL(link)
    for (const [name, value] of Object.entries(moved)) whole.searchParams.set(name, value)
    const text = Object.keys(moved).length ? whole.href : link
    if (hasSheet && await shared(text)) return
    const isCopied = await navigator.clipboard?.writeText(text).then(() => true, () => false) || copySelected(text)
    button.classList.toggle("copied", isCopied)
    button.classList.toggle("refused", !isCopied)
    says.textContent = isCopied ? SAYS.copied : SAYS.refused
    clearTimeout(timer)
    timer = setTimeout(() => {
      button.classList.remove("copied", "refused")
      says.textContent = SAYS.ready
    }, SHOWN_FOR)
  }
}
