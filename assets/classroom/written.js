/* Answers as people read and type them. */

/** A number or a word, as people write it. @param {string | number} value @param {string} unit */
export const written = (value, unit) =>
  typeof value === "string" ? value : `${value.toLocaleString("en", digitsOf(value))}${unit}`.replace("-", "−")

/** Four, but of what has more before the point all of them. @param {number} value @returns {Intl.NumberFormatOptions} */
const digitsOf = value => Math.abs(value) < 10_000 ? { maximumSignificantDigits: 4 } : { maximumFractionDigits: 0 }

/** An answer in a sentence: words that somebody typed stand in quotation marks.
 * @param {string | number} mine @param {RoomQuestion | null} asked */
export const answered = (mine, asked) => asked?.kind === "words" ? `“${mine}”` : written(mine, asked?.unit ?? "")

/** The number that somebody types, with its unit or without; NaN if it is none. A comma or a blank before three digits separates
 * thousands, any other comma is a decimal one. @param {string} typed @param {string} unit */
export function numberOf(typed, unit) {
  const text = typed.trim().replaceAll("−", "-"), tail = unit.trim(), isWhole = /^[+-]?[1-9]\d{0,2}([,\s]\d{3})+(\.\d*)?$/
  const digits = (tail && text.endsWith(tail) ? text.slice(0, -tail.length) : text).trim()
  const plain = isWhole.test(digits) ? digits.replace(/[,\s]/g, "") : digits.replace(",", ".")
  const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : NaN
  return Number.isFinite(number) ? number : NaN
}
