/* assets/lenses/attention/graph*.js: where the nodes of a graph stand, how they are walked, and what is said of them. */

import assert from "node:assert/strict"
import { test } from "node:test"

import { edgesFrom, edgesInto, readGraph, walked } from "../../assets/lenses/attention/graph_data.js"
import { layOutGraph, rowsOf } from "../../assets/lenses/attention/graph_layout.js"
import { saidOfNode } from "../../assets/lenses/attention/graph_words.js"

/** A graph of so many tokens: at each an embedding, a head and a network per layer, and the biases.
 * @param {number} tokens @param {number[]} layers that have nodes */
function graph(tokens = 5, layers = [0, 1]) {
  const all = [...Array(tokens).keys()], nodes = all.map(at => node("E", 0, at))
  for (const layer of layers) for (const at of all) {
    nodes.push(node("1", 1 + 2 * layer, at), node("3", 1 + 2 * layer, at), node("N", 2 + 2 * layer, at))
  }
  nodes.push(node("b", 0, -1))
  const last = nodes.length - 2, edges = [[0, last, 0.9], [1, last, -0.5], [last, -1, 1.2], [nodes.length - 1, -1, -0.4]]
  const header = /** @type {any} */ ({
    nodes, from: edges.map(([from]) => from), to: edges.map(([, to]) => to), asked: { at: tokens - 1, text: "“mat” − “floor”" },
    stacks: [{ name: "", parts: ["heads", "network"], at: all, tokens: all.map(at => `token${at}`) }], locked: "", top: 2, topText: "2.00",
  })
  const numbers = new Float32Array([...nodes.map((_, i) => i % 2 ? -0.1 - i / 50 : 0.2 + i / 50), ...edges.map(([, , weight]) => weight), 0.8])
  return readGraph({ header, numbers: new Uint8Array(numbers.buffer) })
}

/** @param {string} letter @param {number} row @param {number} at */
const node = (letter, row, at) => ({ code: `${letter}@${at + 1}`, name: `${letter} of row ${row} at ${at + 1}`, letter, stack: 0, row, at })

/** @param {ReturnType<typeof graph>} data @param {number} width */
const laidOut = (data, width, high = Infinity, fill = false) =>
  layOutGraph(data, { width, rem: 1, high, fill, measure: (text, size) => 0.55 * size * text.length })

for (const [width, tokens] of [[1200, 5], [1200, 30], [360, 5], [360, 12], [360, 40]]) {
  test(`no two nodes overlap, and none is outside, ${tokens} tokens in ${width} pixels`, () => {
    const data = graph(tokens), { places, ...layout } = laidOut(data, width)
    assert.equal(places.filter(Boolean).length, data.nodes.length)
    for (const [i, { x, y, r }] of places.entries()) {
      assert.ok(x - r >= layout.margin - 1 && x + r <= layout.width + 1, `${data.nodes[i].name} at ${x} of ${layout.width}`)
      assert.ok(y - r > 0 && y + r < layout.height)
      for (const other of places.slice(i + 1)) assert.ok(Math.hypot(x - other.x, y - other.y) >= r + other.r, data.nodes[i].name)
    }
    assert.ok(layout.width === width || tokens > 5)
  })
}

test("a higher row stands higher, the logit above all, and the names of tokens below", () => {
  const data = graph(), { places, logit, feet } = laidOut(data, 900)
  for (const [i, { row }] of data.nodes.entries()) {
    for (const [j, other] of data.nodes.entries()) if (row < other.row) assert.ok(places[i].y > places[j].y)
    assert.ok(places[i].y > logit.y + logit.h / 2 && places[i].y < feet[0].y)
  }
  assert.ok(Math.abs(logit.reached - feet[0].columns[4].x) < 1)
})

test("the logit's plate is whole within a narrow picture", () => {
  const { logit, width } = laidOut(graph(12), 360)
  assert.ok(logit.x - logit.w / 2 >= 0 && logit.x + logit.w / 2 <= width)
})

test("the area of a node follows the size of its value", () => {
  const data = graph(), { places } = laidOut(data, 1200), largest = Math.max(...data.values.map(Math.abs))
  const top = Math.max(...places.map(({ r }) => r))
  for (const [i, { r }] of places.entries()) {
    assert.ok(Math.abs((r / top) ** 2 - Math.abs(data.values[i]) / largest) < 1e-6 || r === 4.5, `${r}`)
  }
})

test("layers without a node have one line together, and in little room a layer is one row", () => {
  const data = graph(4, [0, 1, 6, 9]), [stack] = data.header.stacks
  const names = rowsOf(data, stack, 0, false, false).map(({ name }) => name)
  const between = ["L3–6 …", "L7 heads", "L7 network", "L8–9 …", "L10 heads", "L10 network"]
  assert.deepEqual(names, ["tokens", "L1 heads", "L1 network", "L2 heads", "L2 network", ...between])
  assert.deepEqual(rowsOf(data, stack, 0, false, true).map(({ name }) => name), ["tokens", "L1", "L2", "L3–6 …", "L7", "L8–9 …", "L10"])
  const natural = laidOut(data, 1200).height
  assert.ok(laidOut(data, 1200, 0.7 * natural).height <= 0.7 * natural)
  assert.ok(laidOut(data, 1200, 1.5 * natural, true).height > 1.1 * natural)
})

test("the tokens that are left out of a long text are one gap", () => {
  const data = graph(3), [stack] = data.header.stacks
  stack.at = [0, 1, 17]
  for (const each of data.nodes) if (each.at === 2) each.at = 17
  data.header.asked.at = 17
  assert.deepEqual(laidOut(data, 900).feet[0].columns.map(({ name }) => name), ["token0", "token1", "…", "token2"])
})

test("up and down lead along the largest edge, left and right within a row", () => {
  const data = graph(), { places, logit } = laidOut(data, 900), last = data.nodes.length - 2
  /** @param {number} at @param {string} key */
  const to = (at, key) => walked(data, places, logit, at, key)
  assert.equal(to(-1, "ArrowDown"), last)
  assert.equal(to(last, "ArrowUp"), -1)
  assert.equal(to(last, "ArrowDown"), 0)
  assert.equal(to(0, "ArrowRight"), 1)
  assert.equal(to(1, "ArrowLeft"), 0)
  assert.equal(to(4, "ArrowRight"), 4)
  assert.equal(data.nodes[to(3, "ArrowUp")].row, 1)
  assert.equal(to(0, "ArrowLeft"), data.nodes.length - 1)
})

test("a node is said with its value and its edges, the largest first", () => {
  const data = graph(), last = data.nodes.length - 2
  assert.deepEqual(edgesInto(data, last).map(({ from }) => from), [0, 1])
  assert.deepEqual(edgesFrom(data, last).map(({ to }) => to), [-1])
  const said = saidOfNode(data, last)
  assert.match(said, /^N of row 4 at 5: [+−]\d\.\d\d\. In: E of row 0 at 1 \+0\.90, E of row 0 at 2 −0\.50\. Out: the logit \+1\.20\.$/)
  assert.match(saidOfNode(data, -1), /^The logit of “mat” − “floor”: \+0\.80\. In: N of row 4 at 5 \+1\.20, b of row 0 at 0 −0\.40\.$/)
  assert.match(saidOfNode(data, 2), /too small to be drawn/)
})

test("of many edges three are named", () => {
  const data = graph()
  data.edges = [5, 4, 3, 2, 1].map((weight, from) => ({ from, to: -1, weight }))
  assert.match(saidOfNode(data, -1), /\+3\.00 and 2 smaller\.$/)
})

test("where there is little room, tokens in a row without nodes are a gap; what is crowded is not pressed into a column", () => {
  const data = graph(4, [0, 1, 2]), [stack] = data.header.stacks
  stack.at = [...Array(40).keys()]
  stack.tokens = stack.at.map(at => `token${at}`)
  for (const each of data.nodes) if (each.at > 0) each.at *= 10
  data.header.asked.at = 30
  const names = laidOut(data, 1500).feet[0].columns.map(({ name }) => name)
  assert.equal(names.length, 40)
  const { columns } = laidOut(data, 360).feet[0]
  assert.deepEqual(columns.map(({ name }) => name), ["token0", "…", "token10", "…", "token20", "…", "token30", "…"])
})
