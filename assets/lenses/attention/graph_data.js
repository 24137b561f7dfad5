/* A graph as it comes from the server, and how its nodes are reached from each other. The logit is node -1. */

import { floats } from "../../pictures/paint.js"

export const TO_LOGIT = -1

/** @param {{ header: GraphHeader, numbers: Uint8Array }} content @returns {GraphData} */
export function readGraph({ header, numbers }) {
  const { nodes, from, to } = header, all = [...floats(numbers)]
  const edges = from.map((source, i) => ({ from: source, to: to[i], weight: all[nodes.length + i] }))
  return { header, nodes, values: all.slice(0, nodes.length), edges, total: all[all.length - 1] }
}

/** The edges into a node, and out of it, the largest first.
 * @param {GraphData} data @param {number} node */
export const edgesInto = ({ edges }, node) => edges.filter(edge => edge.to === node)
/** @param {GraphData} data @param {number} node */
export const edgesFrom = ({ edges }, node) => edges.filter(edge => edge.from === node)

/** Where an arrow leads from a node: within its row to the next place, up and down along the largest edge; without an edge
 * to the nearest node of a row above or below. The node itself if there is none.
 * @param {GraphData} data @param {{ x: number, y: number, line: string }[]} places of the nodes
 * @param {{ x: number, y: number }} ofLogit @param {number} node @param {string} key */
export function walked(data, places, ofLogit, node, key) {
  const here = node < 0 ? { ...ofLogit, line: "logit" } : places[node], all = places.map((place, i) => ({ ...place, i }))
  if (key === "ArrowLeft" || key === "ArrowRight") {
    const sign = key === "ArrowRight" ? 1 : -1
    const beside = all.filter(({ i, x, line }) => line === here.line && sign * (x - here.x || i - node) > 0)
    return nearest(beside, ({ x, y }) => Math.abs(x - here.x) + 0.01 * Math.abs(y - here.y)) ?? node
  }
  const up = key === "ArrowUp", edge = (up ? edgesFrom(data, node) : edgesInto(data, node))[0]
  if (edge) return up ? edge.to : edge.from
  const beyond = all.filter(({ line, y }) => line !== here.line && (up ? y < here.y : y > here.y))
  return nearest(beyond, ({ x, y }) => 10 * Math.abs(y - here.y) + Math.abs(x - here.x)) ?? (up ? TO_LOGIT : node)
}

/** @template {{ x: number, y: number, i: number }} Place @param {Place[]} places @param {(place: Place) => number} far
 * @returns {number | undefined} */
function nearest(places, far) {
  return [...places].sort((a, b) => far(a) - far(b))[0]?.i
}
