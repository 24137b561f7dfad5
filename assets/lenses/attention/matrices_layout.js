/* Where the matrices of a step, or of all steps, go: how large their cells are, and which of their rows and columns have
   room for names. */

const TALLEST = 150, LARGEST = 14 // in the overview of all steps, without a limit by the page: a matrix, and a cell
const HIGHEST = 420, BROADEST = 40 // the same of a single step
const LEAST_HIGH = 27, ROWS = 6 // of a single step beside the page's rows: the least height of so many rows, whose numbers are then printed
const FRAME = 18, ACROSS = 8, DOWN = 10 // px: around the canvas of a matrix of the overview, and between two
const LEAST_WIDE = 96 // a matrix of the overview in a limited room, with its words
const OBLONG = 1.3 // how many times as wide as high, or as high as wide, a cell of queries and keys may be that fills the room
const WIDER = 2 // the same of other cells
const OF_NAMES = 0.3 // of a matrix's place in the overview that fills the room, at most; longer names are cut

/** Whether an axis has tokens for names.
 * @param {string} axis */
export const named = axis => axis === "query" || axis === "key"

/** @typedef {ReturnType<typeof reachOf> & { rem: number, family: string, width: number, space: Room }} Place where there is room
 * for the matrices, and what their names need */

/** How wide the names of an axis are, and how far slanted ones reach beyond the last of cells that are not too small.
 * @param {Context} pen @param {{ query: string[], key: string[] }} names @param {number} rem */
export function reachOf(pen, names, rem) {
  /** @param {string} axis */
  const lengths = axis => names[axis === "query" ? "query" : "key"].map(name => pen.measureText(name).width)
  return {
    widest: (/** @type {string} */ axis) => Math.max(...lengths(axis)),
    beyond: (/** @type {string} */ axis) => Math.max(...lengths(axis).map((length, i, all) =>
      length * Math.SQRT1_2 - (all.length - 1 - i) * 12 * rem)),
  }
}

/** How much of a matrix's canvas its names take, which are no longer than this.
 * @param {Matrix} matrix @param {number} size of the letters @param {Place} place @param {number} [longest] */
function sidesOf({ axes: [rows, columns], rows: count, columns: last }, size, place, longest = Infinity) {
  const share = Math.SQRT1_2 // names of columns are slanted
  const widest = (/** @type {string} */ axis) => Math.min(longest, place.widest(axis))
  return {
    left: named(rows) ? widest(rows) + 8 : `${count}`.length * 0.62 * size + 8,
    top: named(columns) ? widest(columns) * share + 0.5 * size + 6 : 1.2 * size,
    right: named(columns) ? Math.max(8, Math.min(longest * share, place.beyond(columns)) - 6) : Math.max(3, (`${last}`.length - 1) * 0.35 * size),
  }
}

/** How many matrices of the overview stand side by side so that their cells are largest: of the ways in which no place stays
 * empty. Without a limit by the page its style sheet decides.
 * @param {Matrix[]} matrices @param {Place} place @param {number} others the height of a matrix's words */
export function acrossOf(matrices, place, others) {
  const { rem, widest, width, space: { high, fill } } = place, most = Math.max(...matrices.map(({ rows, axes }) => named(axes[0]) ? rows : 1))
  const ways = [1, 2, 3, 4, 6].filter(across => across === 1 || eachOf(across, width) >= LEAST_WIDE * rem)
  /** @param {number} across */
  const cell = across => {
    const each = eachOf(across, width), names = fill ? Math.min(OF_NAMES * each, widest("query")) : widest("query")
    const above = fill ? names * Math.SQRT1_2 + 10 * rem : 20 * rem
    return Math.min((each - names) / most, (highOf(matrices.length, across, high) - others - above) / most / 0.8)
  }
  return ways.reduce((best, across) => cell(across) > cell(best) + 0.2 * rem ? across : best)
}

/** @param {number} across @param {number} width */
const eachOf = (across, width) => (width - ACROSS * (across - 1)) / across - FRAME
/** @param {number} count @param {number} across @param {number} high */
const highOf = (count, across, high) => (high - DOWN * (Math.ceil(count / across) - 1)) / Math.ceil(count / across)

/** A matrix of the overview of all steps.
 * @param {Matrix} matrix @param {Place} place @param {number} count how many matrices there are @param {number} across
 * @param {number} others the height of its words @returns {MatrixLayout} */
export function layOutWhole(matrix, place, count, across, others) {
  const { rem, family, width, space: { high, fill } } = place, { rows, columns, axes } = matrix, size = (fill ? 13 : 12) * rem
  const isLimited = high < Infinity, each = isLimited ? eachOf(across, width) : width
  const tall = isLimited ? Math.max(24, highOf(count, across, high) - others - 10) : TALLEST * rem
  const longest = fill ? OF_NAMES * each : Infinity
  const sides = sidesOf(matrix, size, place, longest), isSquare = named(axes[0]) && named(axes[1])
  const hasColumns = worth(tall, sides.top, rows, 7 * rem, 0.25), mayHaveRows = worth(each, sides.left, columns, 6 * rem, 0.36)
  const top = hasColumns ? sides.top : mayHaveRows ? 0.6 * size : 2
  const best = fill ? Infinity : (isLimited ? 2 : 1) * LARGEST * rem
  const y = Math.max(1, Math.min(best, (tall - top - 4) / rows)), hasRows = mayHaveRows && size / y < (fill ? 4 : 3) // otherwise names would be rare
  const left = hasRows ? sides.left : 2, right = hasColumns ? sides.right : 3
  const x = Math.max(1, Math.min(best, (each - left - right) / columns))
  const cell = isSquare ? alike(x, y, fill ? OBLONG : isLimited ? 1.5 : 1) : { x, y }
  return {
    left, top, cell, rem, size, family, fill, longest, angle: named(axes[1]) ? Math.PI / 4 : 0, hasRows, hasColumns,
    width: left + cell.x * columns + right, height: top + cell.y * rows + 4,
  }
}

/** Whether names are worth their place: cells stay as large as this, or lose no more than this share.
 * @param {number} all @param {number} names @param {number} count of cells @param {number} least @param {number} share */
const worth = (all, names, count, least, share) => (all - names) / count >= least || names < share * all

/** @param {number} x @param {number} y @param {number} most how many times as large the one may be as the other */
const alike = (x, y, most) => ({ x: Math.min(x, most * y), y: Math.min(y, most > 1 ? most * x : x) })

/** The matrices of one step, side by side, or below each other where there is no room; they share a size of cells.
 * @param {Matrix[]} matrices @param {Place} place @param {number} signs how wide what stands between them is
 * @param {number} others the height of a matrix's words @returns {MatrixLayout[]} */
export function layOutStep(matrices, place, signs, others) {
  const { rem, family, width, space: { high, fill } } = place, size = 13 * rem, isLimited = high < Infinity
  const sides = matrices.map(matrix => sidesOf(matrix, size, place)), isStacked = width < 700 * rem && !fill
  const total = (/** @type {number[]} */ list) => list.reduce((sum, value) => sum + value, 0)
  const all = width - total(sides.map(side => side.left + side.right + 10)) - signs, share = all / total(matrices.map(matrix => matrix.columns))
  const limit = isLimited ? Math.max(60, (high - (isStacked ? 12 * (matrices.length - 1) : 0)) / (isStacked ? matrices.length : 1) - others - 4) : 0
  return matrices.map(({ rows, columns, axes }, i) => {
    const { left, top, right } = sides[i], isSquare = named(axes[0]) && named(axes[1])
    const tallest = !isLimited ? Math.min(HIGHEST * rem, innerHeight * 0.46) : fill ? limit - top : Math.min(HIGHEST * rem, limit - top)
    const across = isStacked ? (width - left - right) / columns : share
    const x = Math.max(1, Math.min(fill ? Infinity : BROADEST * rem, across))
    const least = !isLimited ? 11 * rem : fill || isStacked ? 1 : Math.min(1, ROWS / rows) * LEAST_HIGH * rem
    const y = Math.max(Math.min(least, x), Math.min(fill ? WIDER * x : x, tallest / rows))
    const cell = fill ? alike(x, y, isSquare ? OBLONG : WIDER) : isSquare ? { x: Math.min(x, y), y: Math.min(x, y) } : { x: Math.min(x, 1.25 * y), y }
    return {
      left, top, cell, rem, size, family, fill, longest: Infinity, angle: named(axes[1]) ? Math.PI / 4 : 0, hasRows: true, hasColumns: true,
      width: left + cell.x * columns + right, height: top + cell.y * rows + 4,
    }
  })
}
