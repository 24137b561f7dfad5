/* A clock inside the page: when did pixels change, counted from a key press or from the start of the visit?

   Times are taken after the paint that shows the change: each frame posts itself a message, which is handled once the
   frame is drawn. A picture has changed when its pixels have: a canvas that is drawn again with the same content does
   not count. Injected before the page's own scripts. */

(() => {
  const drawn = new Set() // canvases that were drawn on since the last look
  const known = new Set() // those that were ever drawn on
  for (const name of ["drawImage", "putImageData", "fillRect"]) {
    const original = CanvasRenderingContext2D.prototype[name]
    CanvasRenderingContext2D.prototype[name] = function (...all) {
      if (this.canvas instanceof HTMLCanvasElement) drawn.add(this.canvas) // no OffscreenCanvas: nobody sees it
      return original.apply(this, all)
    }
  }

  /* Components live in shadow roots; the canvas of Streamlit's own table does not. */
  const isPicture = canvas =>
    canvas.isConnected && canvas.getRootNode() instanceof ShadowRoot && canvas.width && canvas.offsetWidth
  const nameOf = canvas => {
    const root = canvas.getRootNode(), key = root.host.closest("[class*=st-key-]")?.className.match(/st-key-\S+/)[0]
    return `${key} ${[...root.querySelectorAll("canvas")].indexOf(canvas)}`
  }
  function hash(canvas) {
    const image = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height)
    let sum = 2166136261
    for (const word of new Uint32Array(image.data.buffer)) sum = Math.imul(sum ^ word, 16777619)
    return sum
  }

  /* what is on screen now: name -> something that changes when it does */
  function look() {
    const shown = {}
    for (const canvas of drawn) known.add(canvas)
    for (const canvas of known) {
      if (!canvas.isConnected) known.delete(canvas)
      else if (isPicture(canvas)) shown[nameOf(canvas)] = drawn.has(canvas) ? hash(canvas) : state.shown[nameOf(canvas)]
    }
    drawn.clear()
    const map = [...document.querySelectorAll(".js-plotly-plot .heatmaplayer image")].map(image => image.href.baseVal)
    if (map.length) shown.plotly = map.join()
    const text = document.querySelector(partOfStreamlit.text)
    if (text) shown.text = text.textContent
    return shown
  }

  const state = { begin: 0, shown: {}, marks: {}, latest: 0, watching: true }
  const first = window.firstSeen = {} // milliseconds from the start of the visit
  const channel = new MessageChannel()
  const frame = () => { if (state.watching) { channel.port2.postMessage(0); requestAnimationFrame(frame) } }
  channel.port1.onmessage = () => {
    const now = performance.now()
    if (document.querySelector(`h1, ${partOfStreamlit.text}`)?.textContent) first.text ??= now
    const shown = look()
    for (const name in shown) if (shown[name] !== state.shown[name]) {
      state.shown[name] = shown[name]
      if (name !== "text" && name !== "plotly") first.canvas ??= now
      const mark = state.marks[name] ??= { first: now - state.begin }
      mark.last = now - state.begin
      state.latest = now
    }
  }
  requestAnimationFrame(frame)

  addEventListener("keydown", event => { if (state.armed) { state.armed = false; state.begin = event.timeStamp } }, true)

  window.clock = {
    /* the next key press starts the clock */
    arm() { Object.assign(state, { armed: true, begin: performance.now(), marks: {}, latest: 0 }) },
    /* when all is quiet: name -> milliseconds from the key press to its first and its last change */
    async settled(quiet = 300, limit = 30000) {
      const until = performance.now() + limit
      for (;;) {
        await new Promise(done => setTimeout(done, 50))
        const running = document.querySelector(`[${partOfStreamlit.state}=notRunning]`) === null
        const now = performance.now()
        if (state.latest && !running && now - state.latest > quiet) return state.marks
        if (now > until) throw new Error("no picture has changed")
      }
    },
    /* no more frames of ours: they would be in the way of what else is measured */
    stop() { state.watching = false },
  }
})()
