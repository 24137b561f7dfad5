/* Where charts of lines go: side by side if there is room and no place stays empty, with the names beside the lines' ends. */

import { kept, legendHeight, legendSize, titleBelow, wide, wrapped } from "./chart_look.js"
import { grouped } from "./paint.js"

/* In pixels at a root font of 16: the gap between charts; the least width of a chart that stands beside another; the
   height of a chart, of one that has the whole width of a wide page, and the least in little room; the least width of a
   chart with names at its ends; the least width of the ticks' names at the left; the height of the axis below, of a line of words above. */
const GAP = 28, NARROWEST = 290, TALL = 300, LOW = 240, FLATTEST = 144, WITH_NAMES = 420, LEFT = 50, BELOW = 46, LINE = 18

/** @param {{ data: any[], layout: any }} figure as `dressed` returns it @param {number} width @param {Skin} skin
 * @param {Room} room @param {Set<string>} hidden names that the reader has switched off in the legend */
export function arranged({ data, layout }, width, skin, room, hidden) {
  const { rem } = skin, gap = GAP * rem
  const axes = Object.keys(layout).filter(key => key.startsWith("xaxis")).map(key => key.slice(5))
  if (!axes.length) return { ...layout, width, height: 10 }
  const legend = legendHeight(data, width, skin), across = acrossOf(axes.length, width, rem, room.high - legend)
  const left = Math.max(LEFT * rem, ...axes.map(which => 10 * rem + ticksWide(layout[`yaxis${which}`], skin)))
  const each = (width - gap * (across - 1)) / across
  const tall = tallOf(axes.length / across, (across === 1 && width > 480 * rem ? LOW : TALL) * rem, rem, room, legend)
  const height = axes.length / across * (tall + gap) - gap + legend
  const after = { ...layout, width, height, margin: { l: 0, r: 0, t: 0, b: 0, autoexpand: false } }
  const font = { ...layout.template.layout.legend.font, size: legendSize(data, width, skin) }
  after.legend = { ...layout.template.layout.legend, ...layout.legend, font, x: 0, xref: "container", y: 0, yref: "container", yanchor: "bottom" }
  after.annotations = [...layout.annotations]
  axes.forEach((which, i) => {
    const x0 = i % across * (each + gap), y0 = Math.floor(i / across) * (tall + gap)
    const called = endsOf(data.filter(trace => trace.xaxis === `x${which}` && !hidden.has(trace.name)))
    const names = each > WITH_NAMES * rem && called.length > 1 ? Math.max(...called.map(({ name }) => wide(name, 13 * rem, skin))) + 30 * rem : 0
    const { above, text } = heading(layout, which, each - left, skin)
    const plot = tall - above - BELOW * rem, hasNames = names > 0 && names < each / 3 && called.length * LINE * rem <= plot + LINE * rem
    const right = hasNames ? names : 14 * rem, inside = each - left - right
    const vertical = layout[`yaxis${which}`], horizontal = layout[`xaxis${which}`]
    const ofPower = inside / Math.abs(horizontal.range[1] - horizontal.range[0]) // pixels of a power of ten, on a log scale
    const isTight = horizontal.type === "log" && typeof horizontal.dtick !== "number" && ofPower * Math.log10(2) < 40 * rem && ofPower > 48 * rem
    after[`xaxis${which}`] = {
      ...horizontal, ...isTight ? { dtick: 1 } : {}, // 5 and 10 would touch
      automargin: false, tickangle: 0, domain: [(x0 + left) / width, (x0 + each - right) / width],
      title: { text: "" },
      nticks: Math.max(3, Math.min(horizontal.type === "log" ? 5 : Infinity, Math.floor(inside / (48 * rem)))),
    }
    after[`yaxis${which}`] = {
      ...vertical, title: { text: "" }, automargin: false,
      nticks: vertical.type !== "log" ? 7 : plot > TALL * rem ? 5 : 3, // on a log scale, 20 and 50 may stand between 10 and 100
      domain: [1 - (y0 + above + plot) / height, 1 - (y0 + above) / height],
    }
    after.annotations = kept(after.annotations, ({ xref }) => xref === `x${which}`, horizontal.range, inside, left, right, skin)
    after.annotations.push(text, titleBelow(horizontal, which, each - left, skin))
    if (hasNames) after.annotations.push(...beside(called, which, vertical.range, plot, skin))
  })
  return after
}

/** How many charts stand side by side: without an empty place, and more than their best width allows if they would be too
 * flat otherwise.
 * @param {number} count @param {number} width @param {number} rem @param {number} high */
function acrossOf(count, width, rem, high) {
  const gap = GAP * rem, ways = Array.from({ length: count }, (_, i) => i + 1).filter(across => count % across === 0)
  /** @param {number} least */
  const most = least => ways.filter(across => (width + gap) / across - gap >= least * rem).at(-1) ?? 1
  const best = most(NARROWEST), isFlat = (high + gap) * best / count - gap < FLATTEST * rem
  return isFlat ? most(NARROWEST * 0.75) : best
}

/** How high each chart is, of `rows` below each other.
 * @param {number} rows @param {number} natural @param {number} rem @param {Room} room @param {number} legend */
function tallOf(rows, natural, rem, { high, fill }, legend) {
  const most = (high - legend + GAP * rem) / rows - GAP * rem
  return Math.max(Math.min(natural, FLATTEST * rem), fill ? most : Math.min(natural, most))
}

/** The name of the y axis as a heading, above the names of marks, in as many lines as it needs; and the height of all.
 * @param {any} layout @param {string} which @param {number} width of the lines @param {Skin} skin */
function heading(layout, which, width, skin) {
  const { rem } = skin, yref = `y${which} domain`, { text } = layout[`yaxis${which}`].title, size = 15 * rem
  const lines = wrapped(text, width, size, skin, "bold")
  const marks = layout.annotations.some((/** @type {any} */ mark) => mark.yref === yref) ? 20 * rem : 2 * rem
  return {
    above: (lines.length * 20 + 4) * rem + marks,
    text: {
      text: `<b>${lines.join("<br>")}</b>`, name: "heading", showarrow: false, font: { size, color: skin.ink },
      x: 0, xref: `x${which} domain`, xanchor: "left", y: 1, yref, yanchor: "bottom", yshift: marks,
    },
  }
}

/** How wide the names of an axis's ticks may be: whole powers of two or of ten, or numbers with a power of ten.
 * @param {any} axis @param {Skin} skin */
function ticksWide({ type, range: [low, high], exponentformat, tickformat }, skin) {
  const size = Math.max(Math.abs(low), Math.abs(high)), sign = low < 0 ? "−" : "", isLog = type === "log"
  const base = isLog && exponentformat === "none" ? 2 : isLog && tickformat === ",~r" ? 10 : 0
  if (!base && (tickformat || !isLog && size >= 0.005 && size < 1e4)) return 0
  return wide(base ? grouped(base ** Math.floor(high / Math.log10(base))) : `${sign}1.5×10−7`, 13 * skin.rem, skin)
}

/** The names and the heights at which their lines end.
 * @param {any[]} traces */
const endsOf = traces => traces.flatMap(({ name, meta, line, marker }) => {
  const sign = !line ? "○" : line.dash === "dash" ? "╍" : line.width < 2 ? "─" : "━"
  return meta?.end === undefined ? [] : [{ name, end: meta.end, sign: `<span style="color:${(line ?? marker).color}">${sign}</span>` }]
})

/** A name beside the end of each line, pushed apart where ends lie close.
 * @param {ReturnType<typeof endsOf>} called @param {string} which @param {[number, number]} range @param {number} plot
 * @param {Skin} skin */
function beside(called, which, [low, high], plot, { rem }) {
  const size = LINE * rem, ends = called.map(end => ({ ...end, y: (end.end - low) / (high - low) * plot })).sort((a, b) => a.y - b.y)
  const at = ends.map(({ y }) => y)
  for (let i = 1; i < at.length; i++) at[i] = Math.max(at[i], at[i - 1] + size)
  for (let i = at.length - 1; i >= 0; i--) at[i] = Math.min(at[i], i === at.length - 1 ? plot : at[i + 1] - size)
  return ends.map(({ name, end, sign, y }, i) => ({
    text: `${sign} ${name}`, x: 1, xref: `x${which} domain`, xanchor: "left", xshift: 6 * rem, y: end, yref: `y${which}`, yanchor: "middle",
    yshift: at[i] - y, showarrow: false, font: { size: 13 * rem },
  }))
}
