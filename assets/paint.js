/* What the pictures share: reading bytes, colours, and pooling so that no weight is lost. */

export const rgb = hex => [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16))

/* payload: u32 length of the header | header, JSON, padded to 4 bytes | numbers */
export function decode(bytes) {
  const own = bytes.slice() // bytes arrive as a view with an offset
  const length = new DataView(own.buffer).getUint32(0, true)
  return [JSON.parse(new TextDecoder().decode(own.subarray(4, 4 + length))), own.subarray(4 + length)]
}

/* 0.0000234 as 2.3×10⁻⁵; of a positive number below 1. */
export function tiny(number, digits = 1) {
  const [first, power] = number.toExponential(digits).split("e-")
  return `${+first}×10⁻${[...power].map(d => "⁰¹²³⁴⁵⁶⁷⁸⁹"[d]).join("")}`
}

/* The colours of the mode that the page is in, also as variables for its style sheet. */
export function dress(root, skins) {
  const paper = getComputedStyle(root).getPropertyValue("--st-background-color").trim().slice(0, 7)
  const skin = skins[rgb(paper).reduce((a, b) => a + b) < 380 ? "dark" : "light"]
  for (const name in skin) if (typeof skin[name] === "string") root.style.setProperty("--" + name, skin[name])
  return { ...skin, paper }
}

const hex = colour => "#" + colour.map(c => Math.round(c).toString(16).padStart(2, "0")).join("")

/* A colour scale as 256 colours: entry i stands for i / 255 of the way. */
export function palette(stops) {
  const colours = stops.map(rgb), last = colours.length - 1
  return Array.from({ length: 256 }, (_, i) => {
    const x = i / 255 * last, low = Math.min(Math.floor(x), last - 1)
    return hex(colours[low].map((c, k) => c + (colours[low + 1][k] - c) * (x - low)))
  })
}

/* Black or white, whichever reads better (WCAG 2). */
export function ink(hex) {
  const [r, g, b] = rgb(hex).map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
  return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05 < Math.sqrt(1.05 * 0.05) ? "#ffffff" : "#000000"
}

/* What lies over a masked cell: strokes from (x, y) to (x, y), in sides of the cell. */
export const HATCH = [[0, .5, .5, 0], [0, 1, 1, 0], [.5, 1, 1, .5]]

/* A colour as the four bytes of a pixel. */
export const word = colour => new Uint32Array(new Uint8ClampedArray([...rgb(colour), 255]).buffer)[0]

/* The largest value of each block x block of a window of a matrix; `none` where the block holds nothing above it. */
export function pool(values, width, { left, top, columns, rows }, block, none) {
  const across = Math.ceil(columns / block), down = Math.ceil(rows / block)
  const largest = new values.constructor(across * down).fill(none)
  for (let y = 0; y < rows; y++) {
    const to = Math.floor(y / block) * across, from = (top + y) * width + left
    for (let x = 0; x < columns; x++) {
      const value = values[from + x], at = to + Math.floor(x / block)
      if (value > largest[at]) largest[at] = value
    }
  }
  return { largest, across, down }
}

/* An image of one pixel per value. */
export function image(across, down, colour) {
  const tile = new OffscreenCanvas(across, down), context = tile.getContext("2d")
  const pixels = context.createImageData(across, down), words = new Uint32Array(pixels.data.buffer)
  for (let i = 0; i < words.length; i++) words[i] = colour(i)
  context.putImageData(pixels, 0, 0)
  return tile
}

/* For "PNG" beside the picture. */
export function save(canvas, name) {
  Object.assign(document.createElement("a"), { download: name, href: canvas.toDataURL() }).click()
}

/* Draw again when the page turns dark or light, as soon as it has put on its new colours; returns how to stop. */
export function watchMode(draw) {
  const mode = matchMedia("(prefers-color-scheme: dark)"), later = () => setTimeout(draw, 300)
  mode.addEventListener("change", later)
  return () => mode.removeEventListener("change", later)
}
