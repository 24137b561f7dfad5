/* Where the parts of a chart in rows go: names at the left of their rows if there is room, above them if there is none. */

import { kept, legendHeight, titleBelow, wide, wrapped } from "./chart_look.js"

/* In pixels at a root font of 16: the height of a line of words, of the ticks' names below, of the x axis's title. */
const WORDS = 20, TICKS = 28, TITLE = 22
const TWO_TICKS = 64 // the least width of bars beside names: two ticks have room below them
const LEAST = 13 // the least height of a row that the room presses together

/** @param {{ data: any[], layout: any }} figure as `dressed` returns it @param {number} width @param {Skin} skin
 * @param {Room} room */
export function inRows({ data, layout }, width, skin, { high, fill }) {
  const { rem } = skin, { yaxis, xaxis, meta } = layout, size = yaxis.tickfont.size
  /** @type {any[]} */
  const texts = layout.annotations, ends = texts.filter(each => each.name === "end"), areBeside = ends.some(end => end.xref === "paper")
  const names = widest(yaxis.ticktext, size, skin), right = Math.max(0, ...ends.map(end => wide(end.text, end.font.size, skin)))
  const isNarrow = names + right > (areBeside ? 0.55 : 0.7) * width || width - names - right < (28 + TWO_TICKS) * rem
  const natural = meta.pixels * rem * (isNarrow ? areBeside ? 1.9 : 1.3 : 1)
  const lines = Number(texts.some(each => each.name === "line"))
  const l = isNarrow ? 8 * rem : names + 14 * rem, r = isNarrow && areBeside ? 8 * rem : right + 14 * rem, plot = width - l - r
  const above = legendHeight(layout.showlegend ? data : [], plot, skin) + (4 + WORDS * lines) * rem // it is as wide as the plot
  const title = xaxis.title?.text ? wrapped(xaxis.title.text, width, xaxis.title.font.size, skin).length : 0 // in lines
  const below = (TICKS + TITLE * title) * rem
  const margin = { l, r, t: above, b: below, autoexpand: false }
  const range = isNarrow ? [yaxis.range[0], yaxis.range[1] - (areBeside ? 0.9 : 0.2)] : yaxis.range // room for the first name
  const rows = range[0] - range[1], most = (high - above - below) / rows
  const pixels = Math.max(Math.min(natural, LEAST * rem * (isNarrow ? areBeside ? 1.9 : 1.5 : 1)), fill ? most : Math.min(natural, most))
  const legend = { ...layout.template.layout.legend, x: 0, xref: "container", y: 1, yref: "container", yanchor: "top" }
  return {
    ...layout, width, height: rows * pixels + above + below, margin, legend,
    xaxis: {
      ...xaxis, title: { text: "" }, automargin: false, tickangle: 0,
      nticks: Math.max(plot < 120 * rem ? 2 : 3, Math.min(xaxis.type === "log" ? 5 : Infinity, Math.floor(plot / (52 * rem)))),
    },
    yaxis: { ...yaxis, title: { text: "" }, range, automargin: false, showticklabels: !isNarrow },
    annotations: [
      ...kept(
        isNarrow ? [...texts.map(each => lifted(each, areBeside)), ...namesAbove(layout, width, areBeside, skin)] : texts,
        ({ name }) => name === "line", xaxis.range, plot, l, r, skin,
      ),
      ...xaxis.title?.text ? [titleBelow(xaxis, "", width, skin)] : [],
    ],
  }
}

/** @param {string[]} texts @param {number} size @param {Skin} skin */
const widest = (texts, size, skin) => Math.max(0, ...texts.map(text => wide(text, size, skin)))

/** What stands after a row goes above its right end; what stands after a bar stays.
 * @param {any} text @param {boolean} areBeside */
const lifted = (text, areBeside) =>
  text.name === "end" && areBeside ? { ...text, xanchor: "right", xshift: 0, y: text.y - 0.55 } : text

/** The names above their rows, each in its own line if the text at the end of the row needs the whole line.
 * @param {any} layout @param {number} width @param {boolean} areBeside @param {Skin} skin */
function namesAbove({ yaxis, meta, annotations, template }, width, areBeside, skin) {
  const size = 13 * skin.rem
  return yaxis.ticktext.map((/** @type {string} */ name, /** @type {number} */ i) => {
    const text = name.replace("<br>", "  "), first = meta.firsts[i]
    const end = areBeside && annotations.find((/** @type {any} */ each) => each.name === "end" && each.y === first)
    const isLong = end && wide(text, size, skin) + wide(end.text, end.font.size, skin) > width - 20 * skin.rem
    return {
      text, x: 0, xref: "paper", xanchor: "left", y: first - (isLong ? 1.05 : 0.55), yref: "y", yanchor: "middle",
      showarrow: false, font: { ...yaxis.tickfont, size }, bgcolor: template.layout.paper_bgcolor, borderpad: 0, // no line runs through it
    }
  })
}
