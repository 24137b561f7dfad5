/* What the pictures share: reading bytes, numbers, colours, pooling so that no weight is lost, and small marks. */

export const rgb = hex => [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16))

/* payload: u32 length of the header | header, JSON, padded to 4 bytes | numbers */
export function decode(bytes) {
  const own = bytes.slice() // bytes arrive as a view with an offset
  const length = new DataView(own.buffer).getUint32(0, true)
  return [JSON.parse(new TextDecoder().decode(own.subarray(4, 4 + length))), own.subarray(4 + length)]
}

export const floats = bytes => new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)

export const clamp = (value, low, high) => Math.max(low, Math.min(high, value))

/* 0.0000234 as 2.3×10⁻⁵, or 23400000 as 2.3×10⁷. */
export function powered(number, digits = 1) {
  const [first, power] = number.toExponential(digits).split("e")
  return `${+first}×10${[...power].map(d => ({ "-": "⁻", "+": "" })[d] ?? "⁰¹²³⁴⁵⁶⁷⁸⁹"[d]).join("")}`
}

/* 56480.2 as 56 480, with narrow spaces. */
export const grouped = number => Math.round(number).toString().replace(/\B(?=(\d{3})+$)/g, "\u202f")

/* A weight in so many decimals; one that would vanish in them as a power of ten. */
export const decimals = (weight, digits) => weight === 0 || +weight.toFixed(digits) ? weight.toFixed(digits) : powered(weight, 0)

/* What a picture wears: the colours of the mode that the page is in, also as variables for its style sheet, the page's
   font, and `rem`, how many pixels there are to one of a root font of 16. */
export function dress(root, skins) {
  const paper = getComputedStyle(root).getPropertyValue("--st-background-color").trim().slice(0, 7)
  const skin = skins[rgb(paper).reduce((a, b) => a + b) < 380 ? "dark" : "light"]
  for (const name in skin) if (typeof skin[name] === "string") root.style.setProperty("--" + name, skin[name])
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16
  return { ...skin, paper, rem, family: getComputedStyle(root).fontFamily }
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

/* Add to a path what lies over a masked cell. */
export function hatch(path, x, y, w, h) {
  for (const [x0, y0, x1, y1] of [[0, .5, .5, 0], [0, 1, 1, 0], [.5, 1, 1, .5]]) {
    path.moveTo(x + x0 * w, y + y0 * h)
    path.lineTo(x + x1 * w, y + y1 * h)
  }
}

/* Rows of padding are computed, but nobody reads them. */
export function veil(context, paper, x, y, w, h) {
  context.globalAlpha = 0.65
  context.fillStyle = paper
  context.fillRect(x, y, w, h)
  context.globalAlpha = 1
}

/* Around what is locked: amber, so wide, on a wider dark line. */
export function ringAround(context, skin, { x, y, w, h }, dark, amber) {
  for (const [colour, wide] of [[skin.ringInk, dark], [skin.ring, amber]]) {
    context.strokeStyle = colour
    context.lineWidth = wide
    context.strokeRect(x, y, w, h)
  }
}

/* The colour bar of a scale, with the names of its ends. */
export function colourBar(context, skin, stops, { x, y, w }, low, high) {
  const { rem } = skin, gradient = context.createLinearGradient(x, 0, x + w, 0)
  stops.forEach((stop, i) => gradient.addColorStop(i / (stops.length - 1), stop))
  context.fillStyle = gradient
  context.fillRect(x, y, w, 10 * rem)
  context.strokeStyle = skin.rule
  context.lineWidth = 1
  context.strokeRect(x, y, w, 10 * rem)
  context.fillStyle = skin.muted
  context.textBaseline = "middle"
  context.textAlign = "right"
  context.fillText(low, x - 6, y + 5 * rem)
  context.textAlign = "left"
  context.fillText(high, x + w + 6, y + 5 * rem)
}

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

/* Such an image of cells too small for borders, in its place: the last pixel may reach beyond the last cell. */
export function paste(context, tile, { x, y, w, h }, wide, high) {
  context.save()
  context.beginPath()
  context.rect(x, y, w, h)
  context.clip()
  context.imageSmoothingEnabled = false
  context.drawImage(tile, x, y, wide, high)
  context.restore()
}
