/* Two rows of a batch, as a model is handed them: under each piece its id, its place in the mask, and its token type.

   payload, behind the header: float32 [grid][row][place]. Texts are never read as HTML. */

import { room, watch } from "../../pictures/canvas.js"
import { make, partsOf } from "../../pictures/elements.js"
import { save } from "../../pictures/files.js"
import { dress, floats } from "../../pictures/paint.js"
import { posterOf } from "./tokens_poster.js"

const PARTS = "td", WORDS = "caption, th, td, .rest b, .rest s, .rest span"

/** @param {Picture<TokensBatchHeader>} picture */
export default function ({ header, numbers: bytes, root }) {
  const $ = partsOf(root), numbers = floats(bytes), { grids, length, rows } = header
  /** @param {number} grid @param {number} row @param {number} place */
  const value = (grid, row, place) => numbers[(grid * rows.length + row) * length + place]
  $(".rows").replaceChildren(...rows.flatMap((row, number) => {
    const isPad = row.pieces.map((_, place) => value(1, number, place) === 0)
    const head = make("tr", { className: "pieces" }, make("th", { scope: "row", textContent: "pieces" }), ...row.pieces.map((piece, place) =>
      make("td", { className: isPad[place] ? "pad" : row.special[place] ? "special" : "", textContent: piece, dir: "ltr" })))
    const lines = grids.map((name, grid) => make("tr", {}, make("th", { scope: "row", textContent: name }), ...row.pieces.map((_, place) => {
      const figure = value(grid, number, place), className = grid ? `bit of${figure}` : isPad[place] ? "pad" : ""
      return make("td", { className, textContent: figure.toLocaleString("en") })
    })))
    const table = make("table", { tabIndex: 0 }, make("caption", { textContent: `Row ${number + 1}` }), head, ...lines)
    const left = row.cut.flatMap((pieces, text) => pieces.length ? [make("p", { className: "rest" },
      make("b", { textContent: row.cut.length > 1 ? `No room for, of text ${text + 1}: ` : "No room for: " }),
      ...pieces.map(piece => make("s", { textContent: piece, dir: "auto" })),
      ...row.more[text] ? [make("span", { textContent: `and ${row.more[text].toLocaleString("en")} more` })] : [])] : [])
    return [make("div", { className: "scrolled" }, table), ...left]
  }))
  /** @type {Skin} */
  let skin
  function draw() {
    if (!root.clientWidth) return
    skin = dress(root)
    $(".rows").style.minHeight = ""
    const { high, fill } = room(root, $(".rows"))
    $(".rows").style.minHeight = fill ? `${high}px` : ""
  }
  root.savePicture = (file, words = { caption: header.about }) =>
    save(root, file, words, { width: root.clientWidth, draw: () => {}, sheet: () => posterOf(root, skin, PARTS, WORDS) })
  return watch(root, draw)
}
