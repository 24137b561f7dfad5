/* In the page before its own scripts: when does the first hover on a token answer, and how long does each take?

   A page is known by what is in it: our arcs, BertViz's head_view or its model_view. `hover(i)` moves onto the query i
   and returns whether the page now shows that token's lines and no others. */

const hosts = () => document.querySelectorAll(".st-key-picture_arcs *")
const mouse = { bubbles: true, view: window }

function ours(i) {
  const host = [...hosts()].find(element => element.shadowRoot?.querySelector(".arcs"))
  const root = host?.shadowRoot.querySelector(".arcs") ?? document.querySelector(".arcs"), memory = root?._memory
  if (!memory?.layout || !wanted(root._follow?.shown ?? "")) return false
  const canvas = root.querySelector("canvas"), box = canvas.getBoundingClientRect(), q = memory.window.tops[0] + i
  const at = { clientX: box.left + memory.layout.x[0] - 20, clientY: box.top + memory.height(0, q) }
  canvas.dispatchEvent(new PointerEvent("pointermove", { ...mouse, ...at, pointerType: "mouse" }))
  return memory.lines.drawn.length > 0 && memory.lines.drawn.every(line => line.q === q)
}

function headView(i) {
  const tokens = document.querySelectorAll("#vis #left > g:not(.attentionBoxes) > g")
  if (!tokens[i] || !document.querySelector("#attention line[stroke-opacity]")) return false
  tokens[i].dispatchEvent(new MouseEvent("mouseover", mouse))
  const lit = document.querySelector("#attention line[visibility=visible]")
  return lit?.getAttribute("left-token-index") === String(i)
}

function modelView(i) {
  const thumbnail = document.querySelector("#vis svg > g:not(.detail) > rect:last-child")
  if (!thumbnail) return false
  if (!document.querySelector(".attn-line-group")) thumbnail.dispatchEvent(new MouseEvent("click", mouse)) // one head, large
  const token = document.querySelectorAll("#vis g.detail > g:not(.attn-line-group)")[i]
  token?.dispatchEvent(new MouseEvent("mouseover", mouse))
  const lit = [...document.querySelectorAll(".attn-line-group")].filter(group => group.style.opacity !== "0")
  return lit.length === 1 && lit[0].getAttribute("source-index") === String(i)
}

let wanted = () => true // of the query that our picture stands for
const hover = i => ours(i) || headView(i) || modelView(i)
const painted = () => new Promise(done => {
  const channel = new MessageChannel()
  channel.port1.onmessage = done
  requestAnimationFrame(() => channel.port2.postMessage(0)) // comes after the frame's own work
})

/* Milliseconds since the visit began, or since `begin`, when the first hover has been painted. */
window.firstHover = async (begin = 0) => {
  while (!hover(3)) await new Promise(done => setTimeout(done, 5))
  await painted()
  return performance.now() - begin
}
window.first = null
window.firstHover().then(at => window.first = at)

/* Milliseconds of one hover each, from the start of a frame to the end of its work; as many as fit into 20 s. */
window.hovers = async count => {
  const times = [], end = performance.now() + 20000
  while (times.length < count && performance.now() < end) {
    await new Promise((done, failed) => requestAnimationFrame(() => {
      const begin = performance.now(), channel = new MessageChannel()
      channel.port1.onmessage = () => { times.push(performance.now() - begin); done() }
      if (hover(4 + times.length * 7 % 23)) channel.port2.postMessage(0)
      else failed(new Error("a hover did not answer"))
    }))
    await new Promise(done => setTimeout(done, 20))
  }
  window.times = times
}
window.times = null

/* From a press of Enter until a hover answers on the picture of that query. */
window.pressed = part => {
  wanted = query => query.includes(part)
  window.again = null
  addEventListener("keydown", () => firstHover(performance.now()).then(at => window.again = at), { once: true, capture: true })
}
