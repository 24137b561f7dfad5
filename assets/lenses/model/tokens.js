/* A text cut in several ways: a row of chips for each tokenizer, and below them how the chosen piece came about. The chips are
   buttons in effect: a click chooses tokenizer and piece, and the page's link holds both. Texts are never read as HTML. */

import { room, watch } from "../../pictures/canvas.js"
import { actOn, make, partsOf } from "../../pictures/elements.js"
import { save } from "../../pictures/files.js"
import { clamp, dress } from "../../pictures/paint.js"
import { posterOf } from "./tokens_poster.js"

const PARTS = ".chip, .step i", WORDS = ".cut b, .cut small, .chip span, .chip sub, .more, .history h4, .history p, .step i, .step small"

/** @param {Picture<TokensHeader>} picture */
export default function ({ header, root, alone, commit }) {
  const $ = partsOf(root), { rows, at, span, parameters, history } = header
  const memory = root._memory ??= {}
  const chosen = rows.find(row => row.chosen)
  /** @type {{ row: TokensRow, piece: TokenPiece, chip: HTMLElement }[]} */
  const all = []

  /** @param {TokensRow} row @param {TokenPiece} piece */
  function chipOf(row, piece) {
    const chip = make("span", { className: "chip" }, make("span", { textContent: piece.text, dir: "ltr" }), make("sub", { textContent: piece.id }))
    chip.title = `${row.name}: id ${piece.id}, token ${piece.at + 1} of ${row.count}`
    all.push({ row, piece, chip })
    return chip
  }

  /** @param {number} count @param {string} where */
  const left = (count, where) => count ? [make("span", { className: "more", textContent: `${count.toLocaleString("en")} ${where}` })] : []

  $(".cuts").replaceChildren(...rows.map(row => {
    const line = make("p", { tabIndex: 0, dir: "ltr" }) // a row may scroll, for keys too
    line.setAttribute("role", row.chosen ? "application" : "group")
    line.setAttribute("aria-label", `${row.name}: ${row.facts}${row.chosen ? ". Arrow keys walk through its pieces." : ""}`)
    line.append(...left(row.before, "before"), ...row.pieces.map(piece => chipOf(row, piece)), ...left(row.after, "more"))
    const head = make("div", {}, make("b", { textContent: row.name }), make("small", { textContent: row.facts }))
    return make("div", { className: row.chosen ? "cut chosen" : "cut" }, head, line)
  }))

  $(".history").replaceChildren(
    make("h4", { textContent: history.title }),
    make("p", { textContent: history.about }),
    make("div", { className: "steps" }, ...history.steps.map(({ parts, made, note }) => make("div", { className: "step" },
      ...parts.map((part, i) => make("i", { className: i === made ? "made" : "", textContent: part, dir: "ltr" })),
      make("small", { textContent: note })))))

  /** @param {[number, number]} range of the text's letters @param {TokensRow | undefined} of @param {number} place */
  function mark([begin, end], of, place) {
    for (const { row, piece, chip } of all) {
      const isIt = row === of && piece.at === place
      chip.classList.toggle("now", isIt)
      chip.classList.toggle("shared", !isIt && piece.span[0] < end && piece.span[1] > begin)
    }
  }

  const rest = () => mark(span, chosen, at)

  /** @param {TokensRow} row @param {number} place */
  function choose(row, place) {
    if (alone) return
    commit({ [parameters.scheme]: row.name, [parameters.piece]: place + 1 }, true)
  }

  /** @param {Event} event */
  const under = event => all.find(({ chip }) => chip.contains(/** @type {Node} */ (event.target)))

  $(".cuts").onclick = event => {
    const it = under(event)
    if (it) choose(it.row, it.piece.at)
  }
  $(".cuts").onpointerover = event => {
    const it = under(event)
    if (it && event.pointerType !== "touch") mark(it.piece.span, it.row, it.piece.at)
  }
  $(".cuts").onpointerleave = rest
  const walked = /** @type {HTMLElement | null} */ (root.querySelector(".chosen p"))
  if (walked && chosen) {
    /** @param {number} place */
    const go = place => {
      const to = clamp(place, 0, chosen.count - 1)
      $(".say").textContent = chosen.pieces.find(piece => piece.at === to)?.text ?? ""
      memory.walks = true
      choose(chosen, to)
    }
    walked.onkeydown = event => actOn(event, {
      ArrowLeft: () => go(at - 1), ArrowRight: () => go(at + 1), Home: () => go(0), End: () => go(chosen.count - 1),
    })
    walked.onblur = () => { memory.walks = false }
    if (memory.walks) walked.focus({ preventScroll: true })
  }

  /** @type {Skin} */
  let skin
  function draw() {
    if (!root.clientWidth) return
    skin = dress(root)
    rest()
    const { high, fill } = room(root, $(".cuts"))
    const lines = root.querySelectorAll(".cut").length
    $(".cuts").style.setProperty("--line", high === Infinity ? "8rem" : `max(2.4rem, ${Math.floor(high / lines) - 15}px)`)
    $(".cuts").style.setProperty("--cuts", high === Infinity ? "none" : `${high}px`)
    $(".cuts").style.minHeight = fill ? `${high}px` : ""
    const line = all.find(({ row, piece }) => row.chosen && piece.at === at)?.chip
    if (line?.parentElement) line.parentElement.scrollTop = line.offsetTop - line.parentElement.offsetTop - 8
    const cut = /** @type {HTMLElement | null} */ (root.querySelector(".chosen")), cuts = $(".cuts")
    if (cut) cuts.scrollTop = cut.offsetTop + cut.offsetHeight - cuts.offsetTop - cuts.clientHeight // 0 where it is in view already
  }

  root.savePicture = (file, words = { caption: header.about }) => {
    root.classList.add("whole")
    save(root, file, words, { width: root.clientWidth, draw: () => {}, sheet: () => posterOf(root, skin, PARTS, WORDS) })
    root.classList.remove("whole")
  }
  return watch(root, draw)
}
