/* A text as its tokens, each of which can be picked: the prompt, and what was written. */

import { make } from "../../pictures/elements.js"

/** How a token is shown: white space is kept, a line break is a sign and breaks the line. @param {string} piece */
export const shown = piece => piece.replaceAll("\n", "↵\n").replaceAll("\t", "⇥")

/** A token as a label: short, with visible white space. @param {string} piece */
export const label = piece => {
  const visible = piece.replaceAll(" ", "·").replaceAll("\n", "↵").replaceAll("\t", "⇥")
  return visible.length > 14 ? `${visible.slice(0, 7)}…${visible.slice(-6)}` : visible
}

/** @param {Flow} flow */
export function tokenRow({ title, prompt, tokens, forced = [], begins = [], parts = -1, pick }) {
  const asked = prompt.map(piece => make("span", { className: "prompt", textContent: shown(piece) }))
  const buttons = tokens.map((piece, i) => {
    const isWhole = !/^(<0x[0-9A-F]{2}>)+$/.test(piece)
    const className = ["token", forced[i] ? "forced" : "", isWhole ? "" : "part", i === parts ? "parts" : ""].filter(Boolean).join(" ")
    const button = make("span", { className, textContent: shown(piece) })
    button.dataset.place = String(i)
    if (i && begins[i] !== begins[i - 1]) button.title = "Here the context was full: the model went on with its newer half."
    if (!isWhole) button.title = "A part of a character"
    return button
  })
  const text = make("p", {}, ...asked, ...buttons)
  text.onclick = event => {
    const place = /** @type {HTMLElement} */ (event.target).dataset.place
    if (place !== undefined) pick(Number(place))
  }
  const element = make("div", { className: "text" }, ...title ? [make("b", { textContent: title })] : [], text)
  let now = -1
  /** @type {HTMLElement[]} */
  const all = [...asked, ...buttons]
  return {
    element,
    /** Mark the token on screen, or none; what comes after this step is faded. @param {number} place @param {number} until */
    stand(place, until) {
      buttons[now]?.classList.remove("now")
      buttons[now = place]?.classList.add("now")
      const shown = buttons[until]
      if (shown) { // a long text is scrolled to where it stands
        const low = shown.offsetTop - text.offsetTop, high = low + shown.offsetHeight - text.clientHeight
        if (low < text.scrollTop || high > text.scrollTop) text.scrollTop = high > text.scrollTop ? high : low
      }
      buttons.forEach((button, i) => button.classList.toggle("later", i > until))
    },
    /** Colour each token of the whole text; without a colour it is as it was.
     * @param {(place: number) => { paper: string, ink: string } | undefined} colour */
    paint(colour) {
      all.forEach((token, place) => {
        const { paper = "", ink = "" } = colour(place) ?? {}
        token.style.background = paper
        token.style.color = ink
      })
    },
  }
}
