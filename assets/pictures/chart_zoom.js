/* What the reader has zoomed stays as numbers change, until a double click or "Autoscale" brings all back. Plotly itself
   keeps a zoom only as long as the range of the whole stays the same. */

/** @typedef {{ zoomed: Record<string, { range: [number, number], of: string }>, sent: any, resets: number }} ZoomMemory what is
 * zoomed: an axis's key -> its range, and the axis's name; the last layout that Plotly was given; how often all was brought back */

/** @returns {ZoomMemory} */
export const whole = () => ({ zoomed: {}, sent: {}, resets: 0 })

/** The same layout, zoomed as the reader left it. An axis of another name or scale is another axis: it shows all.
 * @param {any} layout @param {PlotElement} plot @param {ZoomMemory} memory */
export function withZoom(layout, { _fullLayout: now }, memory) {
  const { zoomed, sent, resets } = memory, after = { ...layout }
  for (const key of Object.keys(layout).filter(name => /^[xy]axis/.test(name))) {
    const of = layout[key].uirevision ?? ""
    const shown = /** @type {[number, number] | undefined} */ (now?.[key]?.range) // none until Plotly has drawn the axis
    if (shown && sent[key] && String(shown) !== String(sent[key].range)) zoomed[key] = { range: [...shown], of: sent[key].of }
    const range = zoomed[key]?.of === of ? zoomed[key].range : layout[key].range
    after[key] = { ...layout[key], range: [...range], uirevision: `${of} ${resets}` }
  }
  memory.sent = Object.fromEntries(Object.keys(after).filter(name => /^[xy]axis/.test(name))
    .map(key => [key, { range: [...after[key].range], of: layout[key].uirevision ?? "" }]))
  return after
}

/** All is to be shown from now on, whatever Plotly has made of it.
 * @param {ZoomMemory} memory */
export const bringAllBack = memory => Object.assign(memory, { ...whole(), resets: memory.resets + 1 })
