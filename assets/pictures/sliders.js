/* A slider beside the page, which all pictures follow: while it is dragged, and before the page has been run when it is let
   go. It is drawn as the sliders in pictures are. */

import { everywhere } from "./follow.js"
import draw from "./knobs.js"

/** @param {Component & { data: { knobs: Knob[] } }} component */
export default function ({ data, parentElement, setTriggerValue }) {
  const root = /** @type {PictureRoot} */ (parentElement.querySelector(".knobs"))
  const memory = root._sliders ??= { number: 0, pending: {} }
  const isBehind = data.heard < memory.number // the page was run before it heard of the last act: it says what was then
  if (!isBehind) memory.pending = {}
  const { preview, retract } = everywhere, header = { about: "", query: "", knobs: data.knobs }
  draw({
    header, root, late: isBehind, preview, retract,
    commit: changes => {
      memory.pending = { ...memory.pending, ...changes } // of two acts in a row, the page may hear of the second alone
      memory.number = everywhere.commit(changes)
      setTriggerValue("changed", { changes: memory.pending, number: memory.number })
    },
  })
}
