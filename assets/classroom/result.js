/* What a room has answered: a chart, the computed answer beside it, and for the owner's eyes the answers in words. */

import chart from "../pictures/chart.js"
import { make } from "../pictures/elements.js"
import { answered, written } from "./written.js"

const LONG = 20 // characters of a choice that may not have room beside its bar
const SHEETS = ["pictures/canvas.css", "pictures/chart.css"]

/** @param {RoomView} view @param {RoomRole} role @param {RoomResult} result
 * @param {boolean} isOnPage whether the page itself says the computed answer
 * @param {{ member: string, text: string }[] | null | undefined} texts answers in words, where the owner alone reads them
 * @param {(told: { member: string }) => void} reveal shows one to all
 * @returns {HTMLElement[]} */
export function result({ asked, mine, late, texts: all = [] }, role, { measured, said, text, words, chart: drawn }, isOnPage, texts, reveal) {
  const unit = asked?.unit ?? "", told = make("div", { className: "told" }), lines = []
  if (!role.secret && late) lines.push("Your answer came too late, and does not count.")
  else if (!role.secret && mine !== null) lines.push(`You answered ${answered(mine, asked)}.`)
  if (measured !== null && !isOnPage) lines.push(`It is ${written(measured, unit)}.`)
  if (lines.length) told.append(make("p", { className: "measured", textContent: lines.join(" ") }))
  if (text) told.append(make("p", { className: "shown", textContent: `“${text}”` }))
  if (said && !isOnPage) told.append(make("p", { className: "said", textContent: said }))
  if (texts) told.append(...texts.map(each => line(each, reveal)))
  else if (role.secret && all.length) told.append(make("p", {}, toDesk(), " has the answers: there you can show one to all."))
  const shown = drawn ? [plot(drawn, rowsOf(asked?.options ?? []))] : words ? [make("p", { className: "words", textContent: words })] : []
  return [make("div", { className: "result" }, ...shown, ...told.childElementCount ? [told] : [])]
}

/** The height of a chart of these choices, in rows: long names stand above their bars. @param {string[]} options */
const rowsOf = options => options.length * (options.some(option => option.length > LONG) ? 1.75 : 1)

/** A tab of its own, as the room follows this one. */
const toDesk = () => make("a", { href: new URL("room", document.baseURI).href, target: "_blank", rel: "noopener", textContent: "Your desk" })

/** @param {{ member: string, text: string }} answer @param {(told: { member: string }) => void} reveal */
function line({ member, text }, reveal) {
  const shows = make("button", { type: "button", textContent: "Show to all", onclick: () => reveal({ member }) })
  return make("p", { className: "text" }, make("q", { textContent: text }), shows)
}

/** A chart that Plotly draws, with a line of room for each of these rows. @param {ChartHeader} header @param {number} rows */
function plot(header, rows) {
  const inside = [make("div", { className: "plot", tabIndex: 0, role: "application" }), make("span", { className: "say", ariaLive: "polite" })]
  const root = /** @type {PictureRoot} */ (/** @type {unknown} */ (make("div", { className: "chart", style: `--rows: ${rows}` }, ...inside)))
  void Promise.all(SHEETS.map(sheet)).then(sheets => {
    const tree = root.getRootNode()
    if (!(tree instanceof ShadowRoot)) return // it has been drawn anew since
    tree.adoptedStyleSheets.push(...sheets.filter(each => !tree.adoptedStyleSheets.includes(each)))
    chart(/** @type {Picture<ChartHeader>} */ ({ header, root, settling: promise => void promise }))
  })
  return root
}

/** @type {Map<string, Promise<CSSStyleSheet>>} */
const sheets = new Map()
/** @param {string} path */
function sheet(path) {
  const known = sheets.get(path) ?? fetch(new URL(`../${path}`, import.meta.url)).then(async answer => {
    const made = new CSSStyleSheet()
    made.replaceSync(await answer.text())
    return made
  })
  sheets.set(path, known)
  return known
}
