/* The sentences of a batch as rows of tokens, padding hatched: a click on one chooses it. They are buttons, carry no numbers
   and show user text through textContent alone. */

import { keepDressed } from "../../pictures/canvas.js"
import { make } from "../../pictures/elements.js"

/** @param {Picture<BatchHeader>} picture */
export default function ({ header, root, alone, commit }) {
  const undress = keepDressed(root)
  /** @param {string} className @param {string | number} textContent */
  const span = (className, textContent) => make("span", { className, textContent, dir: "auto" })
  const rows = header.rows.map(({ tokens, more, pads, morePads, name }, i) => {
    const row = /** @type {HTMLButtonElement} */ (root.children[i] ?? make("button")), chosen = i + 1 === header.chosen
    row.type = "button"
    row.ariaLabel = name
    row.ariaPressed = String(chosen)
    const read = [...tokens.map(token => span("token", token)), ...more ? [span("more", more)] : []]
    const padding = [...Array(pads).fill(0).map(() => span("token pad", "PAD")), ...morePads ? [span("more", morePads)] : []]
    row.replaceChildren(span("number", i + 1), ...header.left ? [...padding, ...read] : [...read, ...padding])
    row.onclick = () => chosen || alone || commit({ [header.parameter]: i + 1 }, true)
    row.onkeydown = event => { if (event.key === "Enter" || event.key === " ") event.stopPropagation() } // the page has keys of its own
    return row
  })
  rows.forEach((row, i) => root.children[i] ?? root.append(row))
  const memory = root._memory ??= {}, row = rows[header.chosen - 1]
  if (memory.chosen !== header.chosen) root.scrollTop = row.offsetTop - root.clientHeight / 2 // of many, some are out of sight
  memory.chosen = header.chosen
  while (root.children.length > rows.length) root.lastChild?.remove()
  return undress
}
