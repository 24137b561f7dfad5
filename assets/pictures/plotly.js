/* Plotly's script: fetched once, and only when a chart wants it. */

const SCRIPT = "plotly-basic-4.1.1.min.js"

/** @type {Promise<void> | undefined} */
let loading

/** Whether Plotly can be called. */
export const isHere = () => "Plotly" in globalThis

/** Load Plotly as soon as this element comes into view, or as the page is idle. Who waits for it goes on in a task of its
 * own: several charts in one task would block the page.
 * @param {HTMLElement} element
 * @returns {Promise<void>} */
export async function plotlyFor(element) {
  if (!loading) await Promise.race([inView(element), idle()])
  await (loading ??= load())
  await new Promise(resolve => setTimeout(resolve))
}

/** @param {HTMLElement} element */
const inView = element => new Promise(resolve => {
  const observer = new IntersectionObserver(entries => {
    if (!entries.some(entry => entry.isIntersecting)) return
    observer.disconnect()
    resolve(undefined)
  })
  observer.observe(element)
})

/** When nothing else is to be done. */
export const idle = () => new Promise(resolve => {
  if ("requestIdleCallback" in globalThis) requestIdleCallback(resolve, { timeout: 2000 })
  else setTimeout(resolve, 500) // Safari
})

/* To run the script is the one long task of a page with charts; the measure "plotly.js" names it for the browser's profiler. */
const load = () => new Promise((resolve, reject) => {
  const script = document.createElement("script"), start = performance.now()
  script.src = new URL(`../plotly/${SCRIPT}`, import.meta.url).href
  script.onload = () => {
    performance.measure("plotly.js", { start })
    resolve(undefined)
  }
  script.onerror = () => {
    loading = undefined // the next chart asks again
    reject(new Error("The script that draws charts was not reached.", { cause: "network" }))
  }
  document.head.append(script)
})

/** Let an element's tree have the styles that Plotly writes into the document.
 * @param {HTMLElement} element */
export function styled(element) {
  const tree = /** @type {Document | ShadowRoot} */ (element.getRootNode())
  if (!(tree instanceof ShadowRoot)) return
  for (const sheet of document.styleSheets) {
    const { ownerNode } = sheet
    if (!(ownerNode instanceof Element) || !ownerNode.id.startsWith("plotly.js-style")) continue
    if (adopted.has(tree)) continue
    const copy = new CSSStyleSheet()
    copy.replaceSync([...sheet.cssRules].map(rule => rule.cssText).join("\n"))
    tree.adoptedStyleSheets.push(copy)
    adopted.add(tree)
  }
}

/** @type {WeakSet<ShadowRoot>} */
const adopted = new WeakSet()
