/* A figure comes in light colours and in sizes at a root font of 16: here it gets the colours, sizes and font of the page. */

import { packed } from "./paint.js"
import { SKINS } from "./skins.js"

/** @typedef {{ [key: string]: any }} Part */

const SIZES = ["size", "xshift", "yshift", "standoff", "pad"]

/** The figure as the page wants it.
 * @param {Part} figure @param {Skin} skin @returns {any} */
export function dressed(figure, skin) {
  const isDark = skin.ink === SKINS.dark.ink
  const colours = new Map(isDark ? pairsOf(SKINS.light, SKINS.dark) : [])
  colours.set("#FFFFFF", skin.paper)
  const after = change(figure, "", "", { colours, rem: skin.rem })
  after.layout.font = { ...after.layout.template.layout.font, family: skin.family }
  return after
}

/** Each colour of one mode with the same one of the other.
 * @param {Part} from @param {Part} to @returns {[string, string][]} */
const pairsOf = (from, to) => Object.entries(from).flatMap(([name, colour]) => Array.isArray(colour)
  ? colour.map((each, i) => /** @type {[string, string]} */ ([each, to[name][i]]))
  : [/** @type {[string, string]} */ ([colour, to[name]])])

/** @param {any} part @param {string} key @param {string} parent
 * @param {{ colours: Map<string, string>, rem: number }} look @returns {any} */
function change(part, key, parent, look) {
  const isColour = key.includes("color") && key !== "coloraxis"
  if (typeof part === "string") return isColour ? look.colours.get(part) ?? part : part
  if (typeof part === "number") return SIZES.includes(key) || key === "width" && parent === "line" ? part * look.rem : part
  if (Array.isArray(part)) return part.map(each => change(each, key, parent, look))
  if (!part || typeof part !== "object" || "bdata" in part) return part
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, change(value, name, key, look)]))
}

/** How wide a text is, in pixels.
 * @param {string} text @param {number} size @param {Skin} skin @param {string} [weight] */
export function wide(text, size, { family }, weight = "") {
  pencil.font = `${weight} ${size}px ${family}`
  return Math.max(...text.split("<br>").map(line => pencil.measureText(line.replace(/<[^>]*>|&[a-z]+;/g, "")).width))
}
const pencil = /** @type {any} */ (new OffscreenCanvas(1, 1).getContext("2d"))

/** The x axis's title as a text below the axis: Plotly's own title may lie over the ticks' names.
 * @param {any} axis @param {string} which its number @param {number} width @param {Skin} skin */
export function titleBelow({ title }, which, width, skin) {
  const { size } = title.font, text = wrapped(title.text, width, size, skin).join("<br>")
  return {
    text, font: { size, color: skin.muted }, showarrow: false, x: 0.5, xref: `x${which} domain`, y: 0, yref: `y${which} domain`,
    yanchor: "top", yshift: -22 * skin.rem, name: "title",
  }
}

/** Texts that stand at an x, shifted as far as they must be not to leave the picture at the left or at the right. One that
 * would lie over an earlier one is left out: of many marks at even steps, a few names tell the others.
 * @param {any[]} texts annotations @param {(text: any) => boolean} isMark which of them @param {[number, number]} range of the x axis
 * @param {number} plot the width of the plot @param {number} left the room left of it @param {number} right the room right of it
 * @param {Skin} skin */
export function kept(texts, isMark, [low, high], plot, left, right, skin) {
  /** @type {[number, number][]} */
  const taken = []
  return texts.flatMap(text => {
    if (!isMark(text)) return [text]
    const width = wide(text.text, text.font.size, skin) + 6, share = { left: 0, right: 1 }[/** @type {string} */ (text.xanchor)] ?? 0.5
    const begin = (text.x - low) / (high - low) * plot - share * width, from = Math.max(-left, Math.min(begin, plot + right - width))
    if (taken.some(([other, end]) => from < end && other < from + width)) return []
    taken.push([from, from + width])
    return [{ ...text, xshift: from - begin }]
  })
}

/** A text in lines of at most this width.
 * @param {string} text @param {number} width @param {number} size @param {Skin} skin @param {string} [weight] */
export const wrapped = (text, width, size, skin, weight = "") =>
  packed(text.split(" "), " ", line => wide(line, size, skin, weight) <= width)

/** The names in the legend.
 * @param {any[]} data @returns {string[]} */
const inLegend = data => data.filter(trace => trace.showlegend ?? Boolean(trace.name)).map(trace => trace.name)

/** How large the legend's letters are: as large as they may be for the longest name to have room.
 * @param {any[]} data @param {number} width @param {Skin} skin */
export function legendSize(data, width, skin) {
  const { rem } = skin, longest = Math.max(1, ...inLegend(data).map(name => wide(name, 15 * rem, skin)))
  return 15 * rem * Math.min(1, (width - 56 * rem) / longest)
}

/** How high the legend is: it has as many rows as it needs.
 * @param {any[]} data @param {number} width @param {Skin} skin */
export function legendHeight(data, width, skin) {
  const names = inLegend(data), { rem } = skin, size = legendSize(data, width, skin)
  let rows = names.length ? 1 : 0, used = 0
  for (const name of names) {
    const needed = wide(name, size, skin) + 48 * rem
    if (used && used + needed > width) { rows++; used = 0 }
    used += needed
  }
  return rows && (rows * 22 + 10) * rem
}
