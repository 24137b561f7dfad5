/* The app's pictures in the output of a notebook's cell, or in a file of their own.

   anywidget gives a model, whose traitlets Python reads and sets, and an element. Python computes what the server computes
   for a page: numbers come as bytes, and what the reader chooses in a picture is a traitlet. Everything stands in a tree
   of its own (a shadow root): neither the notebook's style nor ours reaches the other. */

import { make } from "../pictures/elements.js"
import { contextOf, decode } from "../pictures/paint.js"

const NUMBERS = ["first", "second"] // the traitlets that hold the bytes of the widget's pictures
const THEMES = ["class", "style", "data-jp-theme-light", "data-jp-theme-name", "data-vscode-theme-kind", "data-theme", "theme"]
const WAITS = "The script that draws charts comes from Python, once the running cell has ended."
const DARK = 0.4 // the lightness below which a page is dark

/** What anywidget renders: a widget of these canvases.
 * @param {Kind[]} kinds in reading order @param {string} css what stands around them @param {Dresses} dresses
 * @param {boolean} [alone] whether nobody listens: in a file of its own */
export function widgetOf(kinds, css, dresses, alone = false) {
  /** @param {{ model: WidgetModel, el: HTMLElement }} place */
  function render({ model, el }) {
    const host = make("div"), tree = host.attachShadow({ mode: "open" }), whole = make("div", { className: "widget" })
    host.dataset.lmSuppressShortcuts = "true" // JupyterLab's keys are not for who works in a picture
    host.addEventListener("keydown", event => event.stopPropagation())
    const notes = make("div", { className: "notes" })
    const parts = kinds.map((kind, i) => partOf(kind, i, model, alone))
    whole.append(...parts.map(part => part.box), notes)
    whole.classList.toggle("several", parts.length > 1)
    tree.adoptedStyleSheets = [css, ...kinds.map(kind => kind.css)].map(sheetOf)
    tree.append(whole)
    el.append(host)

    /** Put on the page's colours; whether these are others than before. */
    function wear() {
      const chosen = model.get("mode"), mode = chosen === "auto" ? modeOf(host) : chosen
      if (whole.dataset.mode === mode) return false
      whole.dataset.mode = mode
      for (const [name, value] of Object.entries(dresses[mode])) whole.style.setProperty(name, value)
      return true
    }
    function draw() {
      wear()
      notes.replaceChildren(...model.get("notes").map(text => make("p", { textContent: text })))
      for (const part of parts) part.draw()
    }
    const dressed = () => { if (wear()) parts.forEach(part => part.draw()) }
    const numbers = NUMBERS.slice(0, kinds.length).map(name => `change:${name}`)
    const changes = [...numbers, "change:parts", "change:notes", "change:mode"]
    let isWaiting = false
    function later() { // what Python sets in one act comes in one message, and is drawn once
      if (isWaiting) return
      isWaiting = true
      queueMicrotask(() => { isWaiting = false; draw() })
    }
    for (const change of changes) model.on(change, later)
    const themes = new MutationObserver(dressed), scheme = matchMedia("(prefers-color-scheme: dark)")
    for (const element of [document.documentElement, document.body]) themes.observe(element, { attributeFilter: THEMES })
    scheme.addEventListener("change", dressed)
    const sizes = new ResizeObserver(dressed) // a notebook may render first, and put the element onto its page then
    sizes.observe(host)
    draw()
    const leavePlotly = kinds.some(kind => kind.needsPlotly) ? withPlotly(model, draw) : () => {}
    return () => {
      for (const change of changes) model.off(change, later)
      themes.disconnect()
      sizes.disconnect()
      scheme.removeEventListener("change", dressed)
      leavePlotly()
      for (const part of parts) part.leave()
    }
  }
  return { render }
}

/** One picture with its words.
 * @param {Kind} kind @param {number} i @param {WidgetModel} model @param {boolean} alone */
function partOf(kind, i, model, alone) {
  const title = make("b"), shape = make("small"), said = make("p", { className: "said" }), place = make("div")
  const save = make("button", { type: "button", textContent: "PNG", title: "Save the picture as a file" })
  const waits = make("p", { className: "waits", textContent: WAITS })
  const box = make("section", {}, make("header", {}, make("span", {}, title, " ", shape), save), place, waits, said)
  const markup = new DOMParser().parseFromString(kind.html, "text/html").body
  place.append(...markup.children)
  const root = /** @type {PictureRoot} */ (place.querySelector("[data-picture]"))
  /** @type {unknown} */
  let read
  /** @type {{ header: Header, numbers: Uint8Array }} */
  let content
  /** @type {(() => void) | void} */
  let leave
  /** Set traitlets. What is dragged and what is let go are told alike, and nothing has to be taken back: all of it is in Python.
   * @param {Values} changes */
  function tell(changes) {
    const { sets } = model.get("parts")[i]
    for (const [name, value] of Object.entries(changes)) {
      const [trait, first = 0] = [sets[name] ?? ""].flat()
      if (trait) model.set(String(trait), first ? Number(value) - Number(first) : value)
    }
    model.save_changes()
  }
  const nothing = () => {}
  save.onclick = () => root.savePicture?.(`${title.textContent}.png`, { title: title.textContent ?? "", caption: said.textContent ?? "", link: "" })
  return {
    box,
    leave: () => leave?.(),
    draw() {
      const about = model.get("parts")[i], bytes = model.get(NUMBERS[i])
      if (bytes !== read) {
        const [header, numbers] = decode(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength))
        read = bytes
        content = { header, numbers }
      }
      title.textContent = about.title
      shape.textContent = about.shape
      said.textContent = about.sentence
      place.hidden = kind.needsPlotly && !("Plotly" in globalThis)
      waits.hidden = !place.hidden
      if (place.hidden) return
      leave?.()
      leave = kind.draw({
        header: { ...content.header, about: about.sentence, ...about.header }, numbers: content.numbers, root, local: about.local, alone,
        late: false, settling: nothing, preview: tell, commit: tell, retract: nothing,
        setTriggerValue: (name, value) => tell({ [name]: value }),
      })
    },
  }
}

/** @param {string} text */
function sheetOf(text) {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(text)
  return sheet
}

/** Whether the page around an element is dark, by the first background above it that is not transparent; where there is none,
 * by what the reader's system prefers. @param {Element} element @returns {"light" | "dark"} */
function modeOf(element) {
  const pen = contextOf(new OffscreenCanvas(1, 1)) // which knows all ways to write a colour
  for (let above = aboveOf(element); above; above = aboveOf(above)) {
    pen.clearRect(0, 0, 1, 1)
    pen.fillStyle = getComputedStyle(above).backgroundColor
    pen.fillRect(0, 0, 1, 1)
    const [r, g, b, opacity] = pen.getImageData(0, 0, 1, 1).data
    if (opacity > 127) return (0.299 * r + 0.587 * g + 0.114 * b) / 255 < DARK ? "dark" : "light"
  }
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"
}

/** The element around another, also that around a shadow root.
 * @param {Element} element @returns {Element | null} */
function aboveOf(element) {
  const root = element.getRootNode()
  return element.parentElement ?? (root instanceof ShadowRoot ? root.host : null)
}

/** Call `act` once Plotly's script is there, of the app's version and from Python, so that no other machine is asked; returns how
 * to stop waiting. The first widget of Python's that needs it carries it. Where that is not on the page, another asks for it, and
 * hears of it after the cells that Python still has to run. All widgets of a page wait for one script: as each has scripts of its
 * own, what they share is the window's.
 * @param {WidgetModel} model @param {() => void} act */
function withPlotly(model, act) {
  const page = /** @type {Window & { attentionLabPlotly?: { by?: WidgetModel, waiting: Set<() => void> } }} */ (window)
  if ("Plotly" in globalThis) return () => {}
  const asked = page.attentionLabPlotly ??= { waiting: new Set() }
  asked.waiting.add(act)

  /** @param {DataView} bytes */
  function load(bytes) {
    const script = make("script"), { define } = /** @type {any} */ (globalThis)
    Object.assign(globalThis, { define: undefined }) // where pages load by RequireJS, it would not become a global
    script.onload = () => {
      Object.assign(globalThis, { define })
      URL.revokeObjectURL(script.src)
      for (const act of asked.waiting) act()
    }
    script.src = URL.createObjectURL(new Blob([/** @type {any} */ (bytes)], { type: "text/javascript" }))
    document.head.append(script)
  }
  /** @param {{ library?: boolean }} message @param {DataView[]} buffers */
  function heard(message, [bytes]) {
    if (message.library && !("Plotly" in globalThis)) load(bytes)
  }
  if (!asked.by) {
    asked.by = model
    if (model.get("library")?.byteLength) load(model.get("library"))
    else {
      model.on("msg:custom", heard)
      model.send({ library: true })
    }
  }
  return () => {
    asked.waiting.delete(act)
    model.off("msg:custom", heard)
    if (asked.by === model) delete page.attentionLabPlotly // the next widget asks again
  }
}
