/* Which lines there are: arithmetic on what came from the server, without a canvas.

   payload, behind the header: float32 rest [map][query] | float32 weights [map][query][kept], falling; -1 where masked
   | uint16 keys [map][query][kept]. A token is given by its side (0 for queries, 1 for
   keys) and its index from 0. */

/** @param {Content<ArcsHeader>} header */
export function unpack({ header, numbers }) {
  const M = header.maps.length, Q = header.queries.length, { kept } = header, rows = M * Q
  return {
    ...header, M, Q, K: header.keys.length, sparse: kept < header.keys.length,
    rest: new Float32Array(numbers.buffer, numbers.byteOffset, rows),
    weights: new Float32Array(numbers.buffer, numbers.byteOffset + 4 * rows, rows * kept),
    at: new Uint16Array(numbers.buffer, numbers.byteOffset + 4 * rows * (1 + kept), rows * kept), open: header.at,
  }
}

/** The settings in the link, which anyone may have written: what cannot be is left out.
 * @param {ArcsData} data @param {any} local */
export function settingsOf(data, local) {
  /** @param {string} text @param {number} last */
  const numbers = (text, last) => [...new Set(text.split(" ").map(Number))].filter(n => n >= 1 && n <= last && n % 1 === 0)
  const maps = data.heads ? numbers(local.heads, data.M).map(n => n - 1).sort((a, b) => a - b) : []
  const side = local.tokens.startsWith("k") ? 1 : 0
  /** @type {string[]} */
  const words = local.tokens.split(" ")
  const tokens = words.filter(word => word[0] === "qk"[side]).map(word => word.slice(1)).join(" ")
  return {
    maps: maps.length ? maps : [...Array(data.M).keys()],
    side, tokens: numbers(tokens, side ? data.K : data.Q).map(n => n - 1),
    mass: local.mass, hide: { padding: local.hide.includes("padding"), first: local.hide.includes("first") },
  }
}

/** The settings as the link holds them.
 * @param {ArcsSettings} settings @param {ArcsData} data */
export function written({ maps, side, tokens, mass, hide }, data) {
  const on = Object.keys(hide).filter(name => hide[name])
  return {
    heads: data.heads && maps.length < data.M ? maps.map(m => m + 1).join(" ") : "",
    tokens: tokens.map(i => "qk"[side] + (i + 1)).join(" "),
    mass, hide: on.join(" and ") || "none",
  }
}

/** @param {ArcsData} data @param {ArcsSettings} settings @param {number} side @param {number} i */
export const hidden = (data, { hide }, side, i) => hide.first && i === 0 || hide.padding && i >= data.read[side]

/** Call `visit(key, weight, drawn, can)` for each weight of a row that the server sent, from the largest to the smallest.
 * `can` says whether the weight has a line at all: it is above 0, and neither of its tokens is hidden. `drawn` says whether
 * that line is drawn: lines are, until they make up the share of the row that the reader has asked for.
 * @param {ArcsData} data @param {ArcsSettings} settings @param {number} m @param {number} q
 * @param {(key: number, weight: number, drawn: boolean, can: boolean) => void} visit */
export function row(data, settings, m, q, visit) {
  const { kept, Q } = data, begin = (m * Q + q) * kept
  let all = data.rest[m * Q + q], sum = 0
  for (let i = begin; i < begin + kept; i++)
    if (data.weights[i] > 0 && !hidden(data, settings, 1, data.at[i])) all += data.weights[i]
  const enough = all * settings.mass / 100 * (1 - 1e-6), lost = hidden(data, settings, 0, q)
  for (let i = begin; i < begin + kept; i++) {
    const k = data.at[i], w = data.weights[i], can = w > 0 && !lost && !hidden(data, settings, 1, k)
    visit(k, w, can && sum < enough, can)
    if (can) sum += w
  }
}

/** The lines of the tokens in focus, or without a focus of the window's queries: `drawn` are {m, q, k, w}, `all` is how many
 * lines there are, drawn or not, and `rest` is the weight that the server did not send, as a mean over rows.
 * @param {ArcsData} data @param {ArcsSettings} settings @param {ArcsFocus | null} focus
 * @param {ArcsWindow} window */
export function gather(data, settings, focus, window) {
  const queries = focus && focus.side === 0 ? focus.tokens : focus ? [...Array(data.Q).keys()]
    : [...Array(Math.min(window.rows, data.Q)).keys()].map(i => window.tops[0] + i)
  const wanted = focus?.side === 1 && new Set(focus.tokens), /** @type {ArcsLine[]} */ drawn = []
  const away = [0, 0, 0] // weight before the window of keys, in it, after it
  let all = 0, rest = 0, rows = 0, first = 0
  for (const m of settings.maps) for (const q of queries) {
    rows += 1
    rest += data.rest[m * data.Q + q]
    let listed = 0
    row(data, settings, m, q, (k, w, isDrawn, can) => {
      if (w > 0) listed += 1
      if (k === 0 && w > 0) first += w
      if (wanted && !wanted.has(k)) return
      if (can) all += 1
      if (isDrawn) drawn.push({ m, q, k, w })
      if (isDrawn && !focus) away[k < window.tops[1] ? 0 : k >= window.tops[1] + window.rows ? 2 : 1] += w
    })
    if (!wanted && data.sparse && !hidden(data, settings, 0, q)) all += Math.max(0, data.seen[q] - listed)
  }
  return {
    drawn, all, rest: rest / (rows || 1), first: first / (rows || 1), away: away.map(sum => sum / (rows || 1)),
    top: drawn.reduce((top, { w }) => Math.max(top, w), 0),
  }
}

/** The weights between each token of the other side and the tokens in focus: a sum in each map, and their mean. A
 * sum is null where all of its weights are masked, and undefined where the server sent none of them; `least` says where it
 * sent only some, so that the sum is at least this.
 * @param {ArcsData} data @param {ArcsSettings} settings @param {ArcsFocus} focus */
export function sums(data, settings, { side, tokens }) {
  const size = side ? data.Q : data.K, blank = () => new Array(size).fill(undefined), wanted = new Set(tokens)
  const each = settings.maps.map(blank), total = blank(), came = new Array(size).fill(0)
  settings.maps.forEach((m, at) => {
    const queries = side ? [...Array(data.Q).keys()] : tokens
    for (const q of queries) row(data, settings, m, q, (k, w) => {
      if (side && !wanted.has(k)) return
      const other = side ? q : k
      came[other] += 1
      each[at][other] = w < 0 ? each[at][other] ?? null : (each[at][other] ?? 0) + w
    })
  })
  for (let i = 0; i < size; i++) {
    const known = each.map(sums => sums[i]).filter(w => w !== null && w !== undefined)
    total[i] = known.length ? known.reduce((a, b) => a + b) / settings.maps.length : each.some(sums => sums[i] === null) ? null : undefined
  }
  return { each, total, least: came.map(count => count < tokens.length * settings.maps.length) }
}
