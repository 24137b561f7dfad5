/* A chart as a file, PNG or SVG; and the buttons that stand above a chart. */

import { wide } from "./chart_look.js"
import { packed } from "./paint.js"

/** Plotly's settings. Nothing is sent anywhere: by default, Plotly has a button that uploads the chart. They are made once:
 * with other settings, be it another function for a button, Plotly would begin anew and forget what is zoomed. */
export const config = () => settings ??= {
  displaylogo: false,
  displayModeBar: isTouched ? true : "hover",
  showSendToCloud: false,
  plotlyServerURL: "",
  showTips: false,
  doubleClick: "autosize",
  modeBarButtonsToRemove: ["toImage", "select2d", "lasso2d", "resetScale2d"], // Autoscale shows the whole
  modeBarButtonsToAdd: [button("png", Plotly.Icons.camera), button("svg", Plotly.Icons.disk)],
}

/** @type {object | undefined} */
let settings

/** Whether the reader has fingers and no mouse: then dragging scrolls the page, until a tool is chosen, and the tools are
 * always there. */
export const isTouched = matchMedia("(pointer: coarse)").matches

/** @param {"png" | "svg"} format @param {object} icon */
const button = (format, icon) => ({
  name: `save_${format}`, title: `Save as ${format.toUpperCase()}`, icon,
  /** @param {PlotElement} plot */
  click: plot => /** @type {PictureRoot} */ (plot.closest("[data-picture]")).savePicture?.(`attention-lab.${format}`),
})

/** Save the chart as it stands here, with its foot below it, which says where the numbers come from.
 * @param {PlotElement} plot @param {string} name its ending says which kind of file @param {ChartHeader} header
 * @param {Skin} skin */
export async function saveChart({ data, layout }, name, { foot = "" }, skin) {
  const format = name.split(".").at(-1), after = foot ? withFoot(layout, foot, skin) : layout
  const options = { format, width: after.width, height: after.height, scale: format === "png" ? 2 : 1 }
  const href = await Plotly.toImage({ data, layout: after }, options)
  Object.assign(document.createElement("a"), { download: name, href }).click()
}

/** The layout with a foot, in as many lines as it needs.
 * @param {any} layout @param {string} foot @param {Skin} skin */
function withFoot({ margin, legend, ...layout }, foot, skin) {
  const { rem, muted } = skin, size = 13 * rem
  const lines = packed(foot.split(" · "), " · ", line => wide(line, size, skin) <= layout.width)
  const room = (17 * lines.length + 10) * rem, height = layout.height + room
  return {
    ...layout, height,
    margin: { ...margin, b: margin.b + room },
    legend: { ...legend, y: legend.y === 0 ? room / height : legend.y },
    title: {
      text: lines.join("<br>"), font: { size, color: muted }, automargin: false,
      x: 0, xref: "container", xanchor: "left", y: 4 / height, yref: "container", yanchor: "bottom",
    },
  }
}
