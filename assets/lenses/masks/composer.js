/* Masks combined by and / or: a chip for each, with its numbers, what combines it with all before it, and how to take it
   away. What the reader has changed is kept until the server's answer contains it; the server reads the text and limits
   the numbers. */

import { keepDressed } from "../../pictures/canvas.js"
import { make, partsOf } from "../../pictures/elements.js"
import { slide } from "../../pictures/slider.js"

/** @param {Picture<ComposerHeader>} picture */
export default function ({ header, root, late, preview, commit, retract }) {
  const $ = partsOf(root), chips = $(".chips"), about = $(".about span"), offer = $(".about button")
  /** @type {{ chips: Map<number, Chip>, added: number, terms: ChipTerm[], [more: string]: any }} */
  const memory = root._memory ??= { chips: new Map(), added: 0 }
  const known = Object.fromEntries(header.known.map(mask => [mask.name, mask]))
  const undress = keepDressed(root)
  Object.assign(memory, { header, tell })
  const dragged = [...memory.chips.values()].some(chip => chip.slider.dragging)
  if (!memory.terms || !late && !dragged) memory.terms = header.terms.map((term, i) => {
    const before = memory.terms?.[i]
    return { ...term, id: before?.name === term.name ? before.id : ++memory.added } // the id keeps a chip the same element
  })

  /** @param {ChipTerm[]} list @param {number} [at] @param {(number | string)[]} [numbers] */
  const textOf = (list, at, numbers) => list.map((term, i) =>
    `${i ? `${term.how} ` : ""}${term.name} ${(i === at && numbers || term.numbers).join(" ")}`.trim()).join(" ")
  /** @param {ChipTerm[]} list */
  function send(list) {
    memory.terms = list
    commit({ [header.parameter]: textOf(list) }, true)
    draw()
  }
  /** @param {ChipTerm} term @param {Partial<Term>} more */
  const changed = (term, more) => memory.terms.map(other => other.id === term.id ? { ...other, ...more } : other)

  /** What a mask does, while it is looked at.
   * @param {string} [name] */
  function tell(name) {
    const mask = name && known[name], told = $(".told")
    told.hidden = !mask
    told.textContent = mask ? `${mask.name}: ${mask.about} ${mask.source}.` : ""
  }

  /** @param {string} text @param {string} label @param {() => void} act */
  function button(text, label, act) {
    return make("button", { textContent: text, ariaLabel: label, type: "button", onclick: act })
  }

  /** @param {ChipTerm} term */
  function chipOf(term) {
    const before = memory.chips.get(term.id)
    if (before) return before
    /** @type {Chip} */
    const chip = {
      slider: {}, inputs: [], element: make("span", { className: "chip", role: "group" }), name: make("b", { textContent: term.name }),
      how: button("", "", () => {}), off: button("×", `Remove ${term.name}`, () => {}),
    }
    chip.how.className = "how"
    chip.element.append(chip.name)
    for (const event of ["mouseenter", "focusin"]) chip.element.addEventListener(event, () => memory.tell(term.name))
    for (const event of ["mouseleave", "focusout"]) chip.element.addEventListener(event, () => memory.tell())
    for (const argument of known[term.name].arguments) {
      const label = argument.name === term.name ? term.name : `${term.name}, ${argument.name}`
      const box = make("input", { type: argument.several ? "text" : "number", ariaLabel: `${label}, exactly` })
      if (argument.several) box.inputMode = "numeric"
      const range = argument.several ? null : make("input", { type: "range", ariaLabel: label })
      chip.inputs.push({ argument, box, range })
      chip.element.append(box, ...range ? [range] : [])
    }
    chip.element.append(chip.off)
    memory.chips.set(term.id, chip)
    return chip
  }

  /** @param {ChipTerm} term @param {number} i */
  function fill(term, i) {
    const chip = chipOf(term), now = () => memory.terms.find(other => other.id === term.id) ?? term
    const idle = !late && header.idle.includes(i) && header.terms[i]?.name === term.name
    chip.element.classList.toggle("idle", idle)
    chip.element.ariaLabel = `${term.name}${idle ? ", changes nothing" : ""}`
    const other = term.how === "and" ? "or" : "and"
    Object.assign(chip.how, { textContent: term.how, ariaLabel: `${term.how}, before ${term.name}: make it “${other}”` })
    chip.how.onclick = () => send(changed(term, { how: other }))
    chip.off.onclick = () => {
      const at = memory.terms.findIndex(candidate => candidate.id === term.id)
      send(memory.terms.filter(candidate => candidate.id !== term.id))
      tell()
      const next = memory.chips.get(memory.terms[Math.min(at, memory.terms.length - 1)]?.id)
      ;(next?.off ?? $(".add")).focus()
    }
    for (const { argument, box, range } of chip.inputs) {
      /** @param {(number | string)[]} numbers */
      const say = numbers => { if (box.getRootNode().activeElement !== box) box.value = numbers.join(" ") }
      if (!argument.several) Object.assign(box, { min: argument.low, step: 1 })
      say(now().numbers)
      box.onchange = () => {
        const numbers = box.value.split(/[\s,;]+/).filter(Boolean).map(number => Math.max(0, Math.round(+number)))
        if (!numbers.length || !numbers.every(Number.isSafeInteger)) return void (box.value = now().numbers.join(" "))
        if (!argument.several) numbers.length = 1
        send(changed(term, { numbers }))
      }
      box.onblur = () => { box.value = now().numbers.join(" ") }
      box.onkeydown = event => {
        event.stopPropagation() // the page has keys of its own
        if (event.key === "Enter") box.blur()
      }
      if (!range) continue
      Object.assign(range, { min: argument.low, max: argument.high, step: 1 })
      const wish = () => {
        const at = memory.terms.findIndex(candidate => candidate.id === term.id)
        return { [header.parameter]: textOf(memory.terms, at, [range.value]) }
      }
      slide(range, chip.slider, { value: Number(now().numbers[0]), late }, {
        move: () => { say([range.value]); preview(wish(), true) },
        rest: () => send(changed(term, { numbers: [range.value] })),
        back: () => { say(now().numbers); retract(true) },
      })
      range.ariaValueText = range.value
      range.onkeydown = event => event.stopPropagation()
    }
    return chip
  }

  /* What stands before all: a mask that is there whatever is composed. */
  function locked() {
    if (!header.locked) return []
    const { text, lift } = header.locked
    const chip = memory.locked ??= make("span", { className: "chip locked" }, make("b", {}))
    chip.firstChild.textContent = text
    chip.querySelector("button")?.remove()
    if (lift) chip.append(button("×", "Let all look ahead: switch the sidebar’s causal mask off", () => commit(lift, true)))
    return [chip]
  }

  /** @param {string} text @param {string} [className] */
  const sign = (text, className = "sign") => make("span", { textContent: text, className, ariaHidden: "true" })

  function draw() {
    const list = memory.terms, changes = list.map((term, i) => i > 1 && term.how !== list[i - 1].how)
    const around = Boolean(header.locked) && list.length > 1 && list[list.length - 1].how === "or"
    const row = [...locked(), ...header.locked && list.length ? [sign("and")] : []]
    row.push(...Array(changes.filter(Boolean).length + Number(around)).fill("(").map(text => sign(text, "bracket")))
    list.forEach((term, i) => {
      const chip = fill(term, i)
      if (changes[i]) row.push(sign(")", "bracket"))
      if (i) row.push(chip.how)
      row.push(chip.element)
    })
    if (around) row.push(sign(")", "bracket"))
    if (!list.length && !header.locked) row.push(sign("nothing is hidden"))
    row.push(adder(list))
    chips.ariaLabel = `Masks: ${header.title}`
    const now = [...chips.childNodes]
    /** @param {Element} element @param {Node} other */
    const like = (element, other) => element === other || /sign|bracket/.test(element.className) && element.isEqualNode(other)
    if (row.length !== now.length || !row.every((element, i) => like(element, now[i]))) rearrange(row)
    for (const id of [...memory.chips.keys()]) if (!list.some(term => term.id === id)) memory.chips.delete(id)
    about.textContent = header.notes
    offer.hidden = !header.offer
  }

  /** Show these elements in this order. An element that is moved loses the focus, and with it what is being typed: give it back.
   * @param {Element[]} row */
  function rearrange(row) {
    const had = chips.getRootNode().activeElement
    chips.replaceChildren(...row)
    if (had instanceof HTMLElement && had.isConnected && chips.contains(had)) had.focus()
  }

  /** @param {ChipTerm[]} list */
  function adder(list) {
    const select = memory.add ??= make("select", { className: "add", ariaLabel: "Add a mask" })
    if (!select.options.length) {
      const options = header.known.map(({ name, about }) => ({ value: name, textContent: `${name}: ${about}` }))
      select.append(make("option", { value: "", textContent: "+ add" }), ...options.map(option => make("option", option)))
    }
    select.disabled = list.length >= header.room + header.terms.length
    select.onchange = () => {
      const { value } = select
      select.value = ""
      if (value) send([...memory.terms, { how: "and", name: value, numbers: [], id: ++memory.added }])
    }
    select.onkeydown = (/** @type {KeyboardEvent} */ event) => event.stopPropagation()
    return select
  }

  offer.onclick = () => header.locked && commit(header.locked.lift, true)
  chips.onkeydown = event => event.stopPropagation()
  draw()
  return undress
}
