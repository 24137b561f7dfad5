/* Answers as people read and type them. */

/** A number or a word, as people write it. @param {string | number} value @param {string} unit */
export const written = (value, unit) =>
  typeof value === "string" ? value : `${value.toLocaleString("en", { maximumSignificantDigits: 4 })}${unit}`.replace("-", "−")

/** An answer in a sentence: words that somebody typed stand in quotation marks.
 * @param {string | number} mine @param {RoomQuestion | null} asked */
export const answered = (mine, asked) => asked?.kind === "words" ? `“${mine}”` : written(mine, asked?.unit ?? "")

/** The number that somebody types, with its unit or without; NaN if it is none. A comma before three digits separates thousands, any
 * other is a decimal comma. @param {string} typed @param {string} unit */
export function numberOf(typed, unit) {
  const text = typed.replace(/[\s_]/g, "").replace("−", "-"), tail = unit.replace(/\s/g, "")
  const digits = tail && text.endsWith(tail) ? text.slice(0, -tail.length) : text
  const plain = /^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$/.test(digits) ? digits.replaceAll(",", "") : digits.replace(",", ".")
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : NaN
}
