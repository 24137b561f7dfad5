/* Layers x heads as thumbnails: one transfer of bytes, one canvas, a real button per head.

   payload: u32 length of the header | header, JSON | uint8 [layer][head][query][key]
   A byte of 0 to 254 is a weight on the scale from 0 to header.top; 255 is masked.
   Everything but the click stays in the browser. User text reaches the page through textContent alone. */

const MASKED = 255

const rgb = hex => [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16))

function decode(bytes) {
  const own = bytes.slice() // bytes arrive as a view with an offset
  const length = new DataView(own.buffer).getUint32(0, true)
  return [JSON.parse(new TextDecoder().decode(own.subarray(4, 4 + length))), own.subarray(4 + length)]
}

/* byte -> colour, as 256 words of RGBA */
function palette(stops, masked) {
  const table = new Uint8ClampedArray(256 * 4)
  const colours = stops.map(rgb), last = colours.length - 1
  for (let byte = 0; byte < 256; byte++) {
    const x = Math.min(byte / 254, 1) * last, low = Math.min(Math.floor(x), last - 1)
    const colour = byte === MASKED ? rgb(masked) : colours[low].map((c, k) => c + (colours[low + 1][k] - c) * (x - low))
    table.set([...colour, 255], byte * 4)
  }
  return new Uint32Array(table.buffer)
}

/* one head as an image: a pixel per cell, or, where cells are smaller than pixels, the largest weight of each block,
   so that no weight is lost; rows of padding are veiled */
function tileOf(map, header, block, table, paper) {
  const { queries, keys, read } = header
  const rows = Math.ceil(queries / block), columns = Math.ceil(keys / block)
  const tile = new OffscreenCanvas(columns, rows), context = tile.getContext("2d")
  const image = context.createImageData(columns, rows), words = new Uint32Array(image.data.buffer)
  const largest = new Int16Array(rows * columns).fill(-1)
  for (let q = 0; q < queries; q++) for (let k = 0; k < keys; k++) {
    const byte = map[q * keys + k], at = Math.floor(q / block) * columns + Math.floor(k / block)
    if (byte !== MASKED && byte > largest[at]) largest[at] = byte
  }
  for (let i = 0; i < words.length; i++) words[i] = table[largest[i] < 0 ? MASKED : largest[i]]
  context.putImageData(image, 0, 0)
  context.globalAlpha = 0.65
  context.fillStyle = paper
  context.fillRect(0, Math.ceil(read / block), columns, rows)
  return tile
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".heads")
  const memory = root._memory ??= { shape: "", isolated: null } // what outlives an update
  const [header, weights] = decode(data)
  const { layers, heads, queries, keys, picked } = header
  const $ = selector => root.querySelector(selector)
  const paper = getComputedStyle(root).getPropertyValue("--st-background-color").trim().slice(0, 7)
  const skin = header.skin[rgb(paper).reduce((a, b) => a + b) < 380 ? "dark" : "light"]
  for (const name in skin) if (typeof skin[name] === "string") root.style.setProperty("--" + name, skin[name])
  const table = palette(skin.weights, skin.masked)
  const size = queries * keys
  const tile = (i, side) => tileOf(weights.subarray(i * size, (i + 1) * size), header, blockFor(side), table, paper)
  const blockFor = side => Math.max(1, Math.ceil(Math.max(queries, keys) / side))
  const nameOf = i => `layer ${Math.floor(i / heads) + 1} · head ${i % heads + 1}`

  // the frame: labels, and a button per head, which brings focus, touch and screen readers
  const cells = $(".cells")
  if (memory.shape !== `${layers}x${heads}`) {
    memory.shape = `${layers}x${heads}`
    memory.isolated = null
    cells.style.setProperty("--columns", heads)
    cells.classList.toggle("dense", heads > 8)
    cells.replaceChildren(document.createElement("canvas"))
    const add = (kind, text, tag = "span") =>
      cells.appendChild(Object.assign(document.createElement(tag), { className: kind, textContent: text }))
    add("corner", "")
    for (let head = 1; head <= heads; head++) {
      const word = Object.assign(document.createElement("span"), { textContent: "head " }) // hidden where it has no room
      add("column", "").append(word, head)
    }
    for (let layer = 0; layer < layers; layer++) {
      add("row", `L${layer + 1}`).title = `layer ${layer + 1}`
      for (let head = 0; head < heads; head++) add("head", "", "button")
    }
  }
  const buttons = [...cells.querySelectorAll("button")]
  const canvas = cells.querySelector("canvas")

  function draw() {
    if (!cells.offsetWidth) return // on its way out of the page
    const ratio = devicePixelRatio || 1
    canvas.width = 0 // so that it does not hold the cells apart while they are measured
    const width = cells.scrollWidth, height = cells.scrollHeight, origin = cells.getBoundingClientRect()
    canvas.width = width * ratio
    canvas.height = height * ratio
    canvas.style.width = width + "px"
    canvas.style.height = height + "px"
    const context = canvas.getContext("2d")
    context.imageSmoothingEnabled = false
    const inset = parseInt(getComputedStyle(cells).getPropertyValue("--inset"))
    let side = 1
    buttons.forEach((button, i) => {
      const box = button.getBoundingClientRect(), edge = at => Math.round(at * ratio) // whole device pixels
      const left = edge(box.left - origin.left + inset), top = edge(box.top - origin.top + inset)
      side = Math.max(1, edge(box.width - 2 * inset))
      context.globalAlpha = memory.isolated !== null && memory.isolated !== i ? 0.25 : 1
      context.drawImage(tile(i, side), left, top, side, side)
    })
    $(".pooled").hidden = blockFor(side) === 1
    $(".pooled b").textContent = `${blockFor(side)} × ${blockFor(side)}`
  }

  // the magnifier: the head under the pointer, large enough to read, with its sentence
  const glass = $(".glass"), chosen = picked ? picked[0] * heads + picked[1] : null
  const act = picked ? "lock" : "open"
  const say = (i, how) => $(".say").replaceChildren(
    Object.assign(document.createElement("b"), { textContent: i === null ? "" : nameOf(i) }), ` ${how}`)
  function preview(i) {
    glass.hidden = i === null || i === chosen
    if (i === null) return say(chosen, picked ? "locked" : "hover to look, click to open")
    const button = buttons[i], lens = glass.querySelector("canvas"), side = 176 * (devicePixelRatio || 1)
    lens.width = lens.height = side
    const context = lens.getContext("2d")
    context.imageSmoothingEnabled = false
    context.drawImage(tile(i, side), 0, 0, side, side)
    glass.querySelector("b").textContent = nameOf(i)
    glass.querySelector("p").textContent = header.about[i]
    const middle = button.offsetLeft + button.offsetWidth / 2 - $(".scroll").scrollLeft
    glass.style.left = Math.max(0, Math.min(middle - 104, root.clientWidth - 208)) + "px"
    glass.style.top = button.offsetTop + button.offsetHeight + 14 + "px"
    say(i, i === chosen ? "locked" : `preview: click to ${act}`)
  }
  const lock = i => { glass.hidden = true; setTriggerValue("picked", [Math.floor(i / heads), i % heads]) }
  function isolate(i) {
    memory.isolated = memory.isolated === i ? null : i
    draw()
  }

  buttons.forEach((button, i) => {
    button.tabIndex = i === (chosen ?? 0) ? 0 : -1 // one stop for Tab, arrows inside
    button.setAttribute("aria-pressed", i === chosen)
    button.setAttribute("aria-label", `${nameOf(i)}. ${header.about[i]}`)
    button.onpointerenter = event => event.pointerType === "mouse" && preview(i)
    button.onfocus = () => button.matches(":focus-visible") && preview(i)
    button.onclick = () => lock(i)
    button.ondblclick = () => isolate(i)
  })
  cells.onpointerleave = () => preview(null)
  cells.onkeydown = event => {
    const i = buttons.indexOf(cells.getRootNode().activeElement)
    if (i < 0) return
    const at = { ArrowRight: i + 1, ArrowLeft: i - 1, ArrowDown: i + heads, ArrowUp: i - heads, Home: 0, End: buttons.length - 1 }[event.key]
    if (at !== undefined) { buttons[at]?.focus(); event.preventDefault() }
    if (event.key === "i") isolate(i)
    if (event.key === "Escape") { if (memory.isolated !== null) isolate(memory.isolated); preview(null) }
  }
  $(".bar i").style.background = `linear-gradient(90deg, ${skin.weights.join(",")})`
  $(".bar b").textContent = header.topText
  $(".chip").hidden = !header.masked
  preview(null)
  memory.watch?.disconnect()
  memory.watch = new ResizeObserver(draw) // it also draws now, before the next paint
  memory.watch.observe(cells)
  return () => memory.watch.disconnect()
}
