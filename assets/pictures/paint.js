/* What the pictures share: reading bytes, numbers, colours, and pooling so that no weight is lost. */

import { SKINS } from "./skins.js"

/** @param {string} hex */
const rgb = hex => [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16))

/** The context to draw with. It is never null: no script asks a canvas for any other context.
 * @param {HTMLCanvasElement | OffscreenCanvas} canvas */
export const contextOf = canvas => /** @type {Context} */ (canvas.getContext("2d"))

/** payload: u32 length of the header | header, JSON, padded to 4 bytes | numbers
 * @param {Uint8Array} bytes */
export function decode(bytes) {
  const copy = bytes.slice() // bytes arrive as a view with an offset
  const length = new DataView(copy.buffer).getUint32(0, true)
  return [JSON.parse(new TextDecoder().decode(copy.subarray(4, 4 + length))), copy.subarray(4 + length)]
}

/** @param {Uint8Array} bytes */
export const floats = bytes => new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)

/** @param {number} value @param {number} low @param {number} high */
export const clamp = (value, low, high) => Math.max(low, Math.min(high, value))

/** 0.0000234 as 2.3×10⁻⁵, or 23400000 as 2.3×10⁷.
 * @param {number} number @param {number} [digits] */
export function powered(number, digits = 1) {
  const [first, power] = number.toExponential(digits).split("e")
  return `${+first}×10${[...power].map(d => d === "-" ? "⁻" : d === "+" ? "" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(d)]).join("")}`
}

/** 56480.2 as 56,480.
 * @param {number} number */
export const grouped = number => Math.round(number).toString().replace(/\B(?=(\d{3})+$)/g, ",")

/** Texts joined by a glue, in as few lines as can be, each of which `fits`.
 * @param {string[]} texts @param {string} glue @param {(line: string) => boolean} fits */
export function packed(texts, glue, fits) {
  /** @type {string[]} */
  const lines = []
  for (const text of texts) {
    const longer = lines.at(-1) + glue + text
    if (lines.length && fits(longer)) lines[lines.length - 1] = longer
    else lines.push(text)
  }
  return lines
}

/** A number in so many decimals, in all pictures: only 0 is written as 0, and of shares only 1 as 1. What would be rounded to
 * 0 is "<0.01" or ">−0.01", and what would be rounded to 1 is ">0.99" or "<−0.99".
 * @param {number} value @param {number} digits @param {number} [whole] 1 of shares; other numbers may be rounded to 1 */
export function rounded(value, digits, whole) {
  const size = Math.abs(value), text = size.toFixed(digits), unit = 10 ** -digits
  if (value && !+text) return value > 0 ? `<${unit.toFixed(digits)}` : `>−${unit.toFixed(digits)}`
  if (whole && size < whole && +text === whole) return `${value > 0 ? ">" : "<−"}${(whole - unit).toFixed(digits)}`
  return (value < 0 ? "−" : "") + text
}

/** Whether a cell leaves out this number, "<0.01": that is most of a map of weights, and the colour says as much. Tip and table
 * have it.
 * @param {string} text @param {unknown} areShares or any other numbers of which none is below 0 */
export const isLeftOut = (text, areShares) => Boolean(areShares) && text.startsWith("<0")

/** The same with two decimals, as a cell has room for it.
 * @param {number} value @param {number} [whole] */
export function inCell(value, whole) {
  const text = rounded(value, 2, whole)
  return isLeftOut(text, whole) ? "" : text.replace(/^([<>]−?)0\./, "$1.")
}

/** A weight with `digits` decimals; one that would vanish in them is a power of ten.
 * @param {number} weight @param {number} digits */
export const decimals = (weight, digits) => weight === 0 || +weight.toFixed(digits) ? rounded(weight, digits, 1) : powered(weight, 0)

/** 0.1234 as 12.3%; only 0 is 0%, and only 1 is 100%.
 * @param {number} share */
export const percent = share => share === 0 || share === 1 ? `${100 * share}%` : share < 0.0001 ? "<0.01%"
  : share >= 0.9995 && share < 1 ? ">99.9%" : `${(100 * share).toFixed(share < 0.01 ? 2 : 1)}%`

/** The colours of the mode that the page is in, which also become variables for the picture's style sheet; the page's font;
 * and `rem`, how many pixels there are to one of a root font of 16.
 * @param {HTMLElement} root */
export function dress(root) {
  const paper = getComputedStyle(root).getPropertyValue("--st-background-color").trim().slice(0, 7)
  const skin = SKINS[rgb(paper).reduce((a, b) => a + b) < 380 ? "dark" : "light"]
  for (const [name, colour] of Object.entries(skin)) {
    const isNew = typeof colour === "string" && root.style.getPropertyValue("--" + name) !== colour
    if (isNew) root.style.setProperty("--" + name, colour) // also to the same colour, it would cost a look at all styles
  }
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16
  return { ...skin, paper, rem, family: getComputedStyle(root).fontFamily }
}

/** @param {number[]} colour */
const hex = colour => "#" + colour.map(c => Math.round(c).toString(16).padStart(2, "0")).join("")

/** A colour scale as 256 colours: entry i stands for i / 255 of the way.
 * @param {string[]} stops */
export function palette(stops) {
  const colours = stops.map(rgb), last = colours.length - 1
  return Array.from({ length: 256 }, (_, i) => {
    const x = i / 255 * last, low = Math.min(Math.floor(x), last - 1)
    return hex(colours[low].map((c, k) => c + (colours[low + 1][k] - c) * (x - low)))
  })
}

/** Black or white, whichever reads better (WCAG 2).
 * @param {string} hex */
export function ink(hex) {
  const [r, g, b] = rgb(hex).map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
  return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05 < Math.sqrt(1.05 * 0.05) ? "#ffffff" : "#000000"
}

/** @type {Map<string, number>} */
const words = new Map() // of the few hundred colours that there are: a picture asks for each of its pixels

/** A colour as one number that holds the four bytes of a pixel.
 * @param {string} colour */
export function word(colour) {
  const known = words.get(colour) ?? new Uint32Array(new Uint8ClampedArray([...rgb(colour), 255]).buffer)[0]
  words.set(colour, known)
  return known
}

/** The largest value of each block x block of a window of a matrix; `none` where the block holds nothing above it.
 * @param {Float32Array | Uint8Array} values @param {number} width @param {Part} window @param {number} block
 * @param {number} none */
export function pool(values, width, { left, top, columns, rows }, block, none) {
  const across = Math.ceil(columns / block), down = Math.ceil(rows / block)
  const largest = /** @type {typeof values} */ (new (/** @type {any} */ (values.constructor))(across * down)).fill(none)
  for (let y = 0; y < rows; y++) {
    const to = Math.floor(y / block) * across, from = (top + y) * width + left
    for (let x = 0; x < columns; x++) {
      const value = values[from + x], at = to + Math.floor(x / block)
      if (value > largest[at]) largest[at] = value
    }
  }
  return { largest, across, down }
}

/** An image of one pixel per value.
 * @param {number} across @param {number} down @param {(at: number) => number} colour */
export function image(across, down, colour) {
  const tile = new OffscreenCanvas(across, down), context = contextOf(tile)
  const pixels = context.createImageData(across, down), words = new Uint32Array(pixels.data.buffer)
  for (let i = 0; i < words.length; i++) words[i] = colour(i)
  context.putImageData(pixels, 0, 0)
  return tile
}

/** Draw an image of one pixel per value or block where its cells are; the last pixel may reach beyond the last cell.
 * @param {Context} context @param {OffscreenCanvas} tile @param {Box} box @param {number} wide
 * @param {number} high */
export function paste(context, tile, { x, y, w, h }, wide, high) {
  context.save()
  context.beginPath()
  context.rect(x, y, w, h)
  context.clip()
  context.imageSmoothingEnabled = false
  context.drawImage(tile, x, y, wide, high)
  context.restore()
}
