/* What is said below the arcs: of the tokens that are looked at, and of the lines that are drawn. */

import { exact } from "./arcs_drawing.js"
import { grouped, rounded } from "../../pictures/paint.js"

/** @param {{ data: ArcsData, settings: ArcsSettings, focus: ArcsFocus }} scene @param {ArcsSums} sums */
export function said({ data, settings, focus: { side, tokens } }, { total, least }) {
  const names = [data.queries, data.keys], single = tokens.length === 1,
    name = (/** @type {number} */ i) => `${i + 1} “${names[side][i]}”`, other = names[1 - side]
  const list = tokens.slice(0, 4).map(name).join(" + ") + (tokens.length > 4 ? ` + ${tokens.length - 4} more` : "")
  const most = total.map((w, i) => [w, i]).filter(([w]) => w > 0).sort((a, b) => b[0] - a[0]).slice(0, 3)
  const what = ["query", "key"][side], mean = settings.maps.length > 1 ? `, mean of ${settings.maps.length} heads` : ""
  if (!side && tokens.every(i => !data.seen[i]) && !most.length) return `${what} ${list} may look at nothing: every key is masked.`
  const verb = side ? single ? "is looked at by" : "together are looked at by" : single ? "looks at" : "together look at"
  const all = side && !data.sparse ? `; ${rounded(total.reduce((sum, w) => sum + (w ?? 0), 0), 4, 1)} in all` : ""
  return `${single ? what : ["queries", "keys"][side]} ${list} ${verb} ` +
    (most.map(([w, i]) => `“${other[i]}” ${least[i] ? "≥ " : ""}${exact(w)}`).join(", ") || "nothing") + all + (most.length ? mean : "") + "."
}

/** @param {{ data: ArcsData, settings: ArcsSettings, focus: ArcsFocus | null }} scene @param {ArcsLines} lines */
export function counted({ data, settings, focus }, { drawn, all, rest, first, top }) {
  const share = settings.mass === 100 ? "all of each row" : `the largest of each row, up to ${settings.mass}% of its weight`
  const said = [`${grouped(drawn.length)} of ${grouped(all)} line${all === 1 ? "" : "s"}: ${share}.`]
  if (drawn.length) said.push(`The thickest is ${exact(top)}.`)
  if (data.sparse) said.push(focus?.side === 1 ? `Only what is among the ${data.kept} largest of a row is known here.`
    : `Of each row the ${data.kept} largest are here; the rest, ${rest < 0.00005 ? "next to nothing" : `${exact(rest)} of a row`}, is not drawn.`)
  if (settings.hide.first && focus?.side !== 1) said.push(`Not drawn: “${data.keys[0]}”, the first token, with ${exact(first)} of a row.`)
  return said.join(" ")
}
