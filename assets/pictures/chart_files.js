/* A chart as a file, PNG or SVG; and the buttons that stand above a chart. */

import { isTouched } from "./canvas.js"
import { asPng, densityFor, download, frameOf } from "./files.js"

/** Plotly's settings. Nothing is sent anywhere: by default, Plotly has a button that uploads the chart. They are made once:
 * with other settings, be it another function for a button, Plotly would begin anew and forget what is zoomed. */
export const config = () => settings ??= {
  displaylogo: false,
  displayModeBar: isTouched ? true : "hover", // under a finger a drag scrolls until a tool is chosen
  showSendToCloud: false,
  plotlyServerURL: "",
  showTips: false,
  doubleClick: "autosize",
  modeBarButtonsToRemove: ["toImage", "select2d", "lasso2d", "resetScale2d"], // Autoscale shows the whole
  modeBarButtonsToAdd: [button("png", Plotly.Icons.camera), button("svg", Plotly.Icons.disk)],
}

/** @type {object | undefined} */
let settings

/** @param {"png" | "svg"} format @param {object} icon */
const button = (format, icon) => ({
  name: `save_${format}`, title: `Save as ${format.toUpperCase()}`, icon,
  /** @param {PlotElement} plot */
  click: plot => /** @type {PictureRoot} */ (plot.closest("[data-picture]")).savePicture?.(`attention-lab.${format}`),
})

/** Save the chart as it stands here, with its words around it.
 * @param {PictureRoot} root @param {PlotElement} plot @param {string} name its ending says which kind of file
 * @param {FileWords} words */
export async function saveChart(root, plot, name, words) {
  // An image has none of the page's fonts: so all is measured, the entries of its legend, too, in the one that it is drawn in.
  const { data } = plot, layout = { ...plot.layout, font: { ...plot.layout.font, family: "sans-serif" } }
  const { width, height } = layout, format = name.split(".").at(-1)
  const frame = frameOf(root, { width, height }, words), scale = densityFor(width)
  const href = await Plotly.toImage({ data, layout }, { format, width, height, scale: format === "png" ? scale : 1 })
  if (format !== "png") return download(asSvg(href, frame), name)
  const image = new Image()
  image.src = href
  await image.decode()
  download(asPng(image, { width, height }, frame, scale), name)
}

/** Plotly's SVG within its frame.
 * @param {string} href @param {import("./files.js").Frame} frame */
function asSvg(href, { width, height, edge, top, lines, paper, family }) {
  const inner = decodeURIComponent(href.slice(href.indexOf(",") + 1)).replace("<svg", `<svg x="${edge}" y="${top}"`)
  const texts = lines.map(({ text, x = 0, y, size, weight, colour }) =>
    `<text x="${edge + x}" y="${y}" dominant-baseline="central" font-size="${size}" font-weight="${weight}" fill="${colour}">${escaped(text)}</text>`)
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">` +
    `<rect width="100%" height="100%" fill="${paper}"/><g font-family="${escaped(family)}">${texts.join("")}</g>${inner}</svg>`
  return `data:image/svg+xml,${encodeURIComponent(svg)}`
}

/** @param {string} text */
const escaped = text => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\"", "&quot;")
