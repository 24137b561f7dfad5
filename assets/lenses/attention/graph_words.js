/* What is said below a graph of the node that is looked at. */

import { edgesFrom, edgesInto } from "./graph_data.js"
import { signedText } from "./graph_drawing.js"

const NAMED = 3 // edges in, and out

/** @param {GraphData} data @param {number} node */
export function saidOfNode(data, node) {
  const { header, nodes, values, total } = data
  const name = node < 0 ? `The logit of ${header.asked.text}` : capital(nodes[node].name)
  const into = edgesInto(data, node).map(({ from, weight }) => `${nodes[from].name} ${signedText(weight)}`)
  const out = edgesFrom(data, node).map(({ to, weight }) => `${to < 0 ? "the logit" : nodes[to].name} ${signedText(weight)}`)
  const said = [`${name}: ${signedText(node < 0 ? total : values[node])}.`]
  if (into.length) said.push(`In: ${listed(into)}.`)
  if (out.length) said.push(`Out: ${listed(out)}.`)
  if (!into.length && !out.length) said.push("Its edges are all too small to be drawn.")
  return said.join(" ")
}

/** @param {string[]} texts */
const listed = texts => texts.slice(0, NAMED).join(", ") + (texts.length > NAMED ? ` and ${texts.length - NAMED} smaller` : "")

/** @param {string} text */
const capital = text => text[0].toUpperCase() + text.slice(1)
