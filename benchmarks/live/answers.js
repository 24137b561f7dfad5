/* In the page before its own scripts: when has a picture answered a hover, whoever drew it?

   It has when, after the pointer has moved, a canvas was drawn on or an element changed, and the frame with that has
   been painted. Where to move to differs by view: `places` says where its i-th place is, as soon as that is drawn. */

(() => {
  let changed = false
  const canvases = [
    [CanvasRenderingContext2D, ["drawImage", "putImageData", "fillRect", "strokeRect", "clearRect", "fill", "stroke", "fillText"]],
    [ImageBitmapRenderingContext, ["transferFromImageBitmap"]],
  ]
  for (const [{ prototype }, names] of canvases) for (const name of names) {
    const original = prototype[name]
    prototype[name] = function (...all) {
      changed = true
      return original.apply(this, all)
    }
  }

  const roots = [document], attach = Element.prototype.attachShadow
  Element.prototype.attachShadow = function (options) {
    const root = attach.call(this, options)
    roots.push(root)
    return root
  }
  const observer = new MutationObserver(() => changed = true)
  const everything = { subtree: true, childList: true, attributes: true, characterData: true }
  /* only when there is something to point at, as it would slow down whoever builds a million elements */
  const observe = () => { for (const root of roots.splice(0)) observer.observe(root, everything) }
  const hasChanged = () => {
    observe()
    return changed ||= observer.takeRecords().length > 0
  }

  const all = selector => {
    const within = root => [...root.querySelectorAll("*")].flatMap(element => [
      ...element.matches(selector) ? [element] : [], ...element.shadowRoot ? within(element.shadowRoot) : []])
    return within(document)
  }
  const middle = element => {
    const { left, top, width, height } = element.getBoundingClientRect()
    return width && height ? { x: left + width / 2, y: top + height / 2 } : null
  }
  /* The i-th of 20 places in the lower half of a map, which is as wide as it is high: always another cell. */
  const cell = (canvas, i) => {
    if (canvas.getBoundingClientRect().bottom > innerHeight) canvas.scrollIntoView({ block: "end" })
    const { left, top, width, height } = canvas.getBoundingClientRect(), side = Math.min(width, height)
    return side ? { x: left + width / 2 + side * (0.03 * (i % 20) - 0.3), y: top + height - side * 0.2 } : null
  }
  const token = i => 3 + i * 7 % 20 // in sight, and never twice the same in a row

  const places = {
    head_view(i) {
      const tokens = document.querySelectorAll("#vis #left > g:not(.attentionBoxes) > g")
      return tokens.length && document.querySelector("#attention line") ? middle(tokens[token(i)]) : null
    },
    model_view(i) {
      const thumbnail = document.querySelector("#vis svg > g:not(.detail) > rect:last-child")
      if (!thumbnail) return null
      if (!document.querySelector(".attn-line-group")) { // a head is shown large when it is clicked
        thumbnail.dispatchEvent(new MouseEvent("click", { bubbles: true, view: window }))
      }
      const tokens = document.querySelectorAll("#vis g.detail > g:not(.attn-line-group)")
      return tokens.length ? middle(tokens[token(i)]) : null
    },
    attention_heads(i) {
      const canvases = document.querySelectorAll("canvas"), large = canvases[canvases.length - 1]
      return large ? cell(large, i) : null
    },
    heads(i) {
      const [large] = all(".map > canvas")
      return large ? cell(large, i) : null
    },
    arcs(i) {
      const [canvas] = all(".arcs canvas"), memory = canvas?.closest(".arcs")._memory
      if (!memory?.layout) return null
      const { left, top } = canvas.getBoundingClientRect(), query = memory.window.tops[0] + token(i)
      return { x: left + memory.layout.x[0] - 20, y: top + memory.height(0, query) }
    },
  }

  let before = null // the element that the pointer was on
  function moveTo({ x, y }) {
    let element = document.elementFromPoint(x, y)
    for (let inner; (inner = element?.shadowRoot?.elementFromPoint(x, y)) && inner !== element;) element = inner
    const at = { clientX: x, clientY: y, view: window, composed: true, pointerType: "mouse", isPrimary: true }
    const say = (target, name, more) => {
      target.dispatchEvent(new PointerEvent(`pointer${name}`, { ...at, ...more }))
      target.dispatchEvent(new MouseEvent(`mouse${name}`, { ...at, ...more }))
    }
    const above = node => node ? [node, ...above(node.parentNode ?? node.host)] : []
    if (element !== before) {
      const [was, is] = [above(before), above(element)], bubbles = true
      if (before) say(before, "out", { bubbles, relatedTarget: element })
      for (const left of was.filter(node => !is.includes(node))) say(left, "leave", { relatedTarget: element })
      if (element) say(element, "over", { bubbles, relatedTarget: before })
      for (const entered of is.filter(node => !was.includes(node))) say(entered, "enter", { relatedTarget: before })
      before = element
    }
    if (element) say(element, "move", { bubbles: true })
  }

  /* Milliseconds from the beginning of the frame in which the pointer moves to the end of the first frame with a change;
     null if there is none within `limit`. A frame's message is posted before its work, and comes after its paint. */
  const hover = (place, limit) => new Promise(done => {
    const channel = new MessageChannel(), frame = () => channel.port2.postMessage(0)
    let begin
    channel.port1.onmessage = () => {
      const took = performance.now() - begin
      if (hasChanged() || took > limit) done(changed ? took : null)
      else requestAnimationFrame(frame)
    }
    requestAnimationFrame(() => {
      begin = performance.now()
      hasChanged()
      changed = false
      frame()
      moveTo(place)
    })
  })

  let next = 0 // of the places, so that the pointer is never moved to where it is
  window.answers = { first: null, times: null, all, places }

  /* Whether nothing changes for a frame: what is still being built would change under a pointer that does nothing. */
  const still = () => new Promise(done => {
    hasChanged()
    changed = false
    const channel = new MessageChannel()
    channel.port1.onmessage = () => done(!hasChanged())
    requestAnimationFrame(() => channel.port2.postMessage(0))
  })

  /* `first` becomes the milliseconds from the start of the visit until a hover is answered. */
  answers.start = async view => {
    for (;;) {
      const place = places[view](next++)
      if (place && await still() && await hover(place, 1000) !== null) break
      await new Promise(done => setTimeout(done, 5))
    }
    answers.first = performance.now()
  }

  /* `times` becomes the milliseconds of one hover each; infinity for one that is not answered. */
  answers.repeat = async (view, count, limit) => {
    const times = []
    while (times.length < count) {
      await new Promise(done => setTimeout(done, 20))
      times.push(await hover(places[view](next++), limit) ?? 1e9)
    }
    answers.times = times
  }
})()
