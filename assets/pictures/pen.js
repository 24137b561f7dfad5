/* The strokes and marks that pictures are made of. Each sets the colours and widths that it needs, whatever was drawn before. */

/** Fill a rectangle; what lies there shows through where `alpha` is below 1.
 * @param {Context} context @param {string} colour @param {number} x @param {number} y @param {number} w @param {number} h
 * @param {number} [alpha] */
export function fillBox(context, colour, x, y, w, h, alpha = 1) {
  context.globalAlpha = alpha
  context.fillStyle = colour
  context.fillRect(x, y, w, h)
  context.globalAlpha = 1
}

/** @param {Context} context @param {string} colour @param {number} wide
 * @param {number} x @param {number} y @param {number} w @param {number} h */
export function outlineBox(context, colour, wide, x, y, w, h) {
  context.strokeStyle = colour
  context.lineWidth = wide
  context.strokeRect(x, y, w, h)
}

/** A plate with round corners and an edge.
 * @param {Context} context @param {string} paper @param {string} edge @param {number} wide
 * @param {number} x @param {number} y @param {number} w @param {number} h @param {number} radius */
export function plate(context, paper, edge, wide, x, y, w, h, radius) {
  context.beginPath()
  context.roundRect(x, y, w, h, radius)
  context.fillStyle = paper
  context.fill()
  stroke(context, edge, wide)
}

/** The band on which what is repeated in each layer lies.
 * @param {Context} context @param {Skin} skin @param {number} x @param {number} y @param {number} w @param {number} h */
export function layersBand(context, { rule, rem }, x, y, w, h) {
  context.globalAlpha = 0.4
  context.fillStyle = rule
  context.beginPath()
  context.roundRect(x, y, w, h, 8 * rem)
  context.fill()
  context.globalAlpha = 1
}

/** Stroke a path, or the one that was begun last.
 * @param {Context} context @param {string} colour @param {number} wide @param {Path2D} [path] */
export function stroke(context, colour, wide, path) {
  context.strokeStyle = colour
  context.lineWidth = wide
  if (path) context.stroke(path)
  else context.stroke()
}

/** A line through points.
 * @param {Context} context @param {string} colour @param {number} wide @param {...Point} points */
export function line(context, colour, wide, ...points) {
  through(context, points)
  stroke(context, colour, wide)
}

/** A surface with these corners.
 * @param {Context} context @param {string} colour @param {...Point} corners */
export function surface(context, colour, ...corners) {
  through(context, corners)
  context.fillStyle = colour
  context.fill()
}

/** Begin a path through points.
 * @param {Context} context @param {Point[]} points */
function through(context, points) {
  context.beginPath()
  for (const [x, y] of points) context.lineTo(x, y)
}

/** @param {Context} context @param {string} colour @param {Point} middle @param {number} radius */
export function disc(context, colour, [x, y], radius) {
  context.beginPath()
  context.arc(x, y, radius, 0, 7)
  context.fillStyle = colour
  context.fill()
}

/** Write a text at the middle of its line. Without a font it has the letters of what was written or measured before.
 * @param {Context} context @param {string} text @param {number} x @param {number} y @param {string} colour @param {Align} [align]
 * @param {{ font?: string, room?: number, baseline?: CanvasTextBaseline }} [more] `room` is the width that a longer text is pressed into */
export function write(context, text, x, y, colour, align = "left", { font, room, baseline = "middle" } = {}) {
  if (font) context.font = font
  context.fillStyle = colour
  context.textAlign = align
  context.textBaseline = baseline
  context.fillText(text, x, y, room)
}

/** Draw around a place that is the origin meanwhile, turned to the left by an angle.
 * @param {Context} context @param {number} x @param {number} y @param {number} angle @param {() => void} draw */
export function turned(context, x, y, angle, draw) {
  context.save()
  context.translate(x, y)
  context.rotate(-angle)
  draw()
  context.restore()
}

/** Write the name of a column above it: level, or turned so that it has room.
 * @param {Context} context @param {string} text @param {number} x @param {number} y @param {string} colour @param {number} angle */
export const writeAbove = (context, text, x, y, colour, angle) =>
  turned(context, x, y, angle, () => write(context, text, 0, 0, colour, angle ? "left" : "center"))

/** Add to a path what lies over a masked cell.
 * @param {Path2D} path @param {number} x @param {number} y @param {number} w @param {number} h */
export function hatch(path, x, y, w, h) {
  for (const [x0, y0, x1, y1] of [[0, .5, .5, 0], [0, 1, 1, 0], [.5, 1, 1, .5]]) {
    path.moveTo(x + x0 * w, y + y0 * h)
    path.lineTo(x + x1 * w, y + y1 * h)
  }
}

/** A masked cell alone.
 * @param {Context} context @param {Skin} skin @param {number} x @param {number} y @param {number} w @param {number} h */
export function maskedBox(context, skin, x, y, w, h) {
  const lines = new Path2D()
  fillBox(context, skin.masked, x, y, w, h)
  hatch(lines, x, y, w, h)
  stroke(context, skin.hatch, 1, lines)
}

/** Lay a veil over rows of padding: they are computed, but nobody reads them.
 * @param {Context} context @param {string} paper @param {number} x @param {number} y @param {number} w @param {number} h */
export const veil = (context, paper, x, y, w, h) => fillBox(context, paper, x, y, w, h, 0.65)

/** Ring what is locked with an amber line of this width, on a wider dark line.
 * @param {Context} context @param {Skin} skin @param {Box} box @param {number} dark @param {number} amber */
export function ringAround(context, skin, { x, y, w, h }, dark, amber) {
  outlineBox(context, skin.ringInk, dark, x, y, w, h)
  outlineBox(context, skin.ring, amber, x, y, w, h)
}

/** The colour bar of a scale, with the names of its ends.
 * @param {Context} context @param {Skin} skin @param {string[]} stops @param {Omit<Box, "h">} place
 * @param {string} low @param {string} high @param {number} [room] for the high end's name, which is pressed into it */
export function colourBar(context, skin, stops, { x, y, w }, low, high, room) {
  const { rem } = skin, gradient = context.createLinearGradient(x, 0, x + w, 0)
  stops.forEach((stop, i) => gradient.addColorStop(i / (stops.length - 1), stop))
  context.fillStyle = gradient
  context.fillRect(x, y, w, 10 * rem)
  outlineBox(context, skin.rule, 1, x, y, w, 10 * rem)
  write(context, low, x - 6, y + 5 * rem, skin.muted, "right")
  write(context, high, x + w + 6, y + 5 * rem, skin.muted, "left", { room })
}
