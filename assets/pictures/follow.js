/* A picture is a function of the link, so it need not wait for the page around it.

   What Streamlit sends is an address: {name, query, early, slow}, and of which commit it has heard. The bytes come
   from `pictures/<name>` for that query. If `early`, the query in the address bar is asked for as soon as it changes,
   which is when a control is moved: the picture is there in the time of one request, and the page with its words follows
   when it has been run. If `slow`, it is marked as being renewed instead, and is asked for at rest. Where nothing has moved but
   what is `ignored`, the picture that is there is the answer, and at most words are asked for. Where there is no answer,
   the picture's place says so. follow_states.js decides which question is asked when. */

import { picture, wordsAlone } from "./ask.js"
import { inWords } from "./faults.js"
import { isSame } from "./follow_queries.js"
import { awaited, initial, isAtRest, next } from "./follow_states.js"
import { isRunning } from "../streamlit_private/dom.js"
import { isByPage, isTidied, pageHasSpoken } from "./page.js"
import { decode } from "./paint.js"
import { sayInPanel, sayOnPage, wanted } from "./words.js"

/** @type {Set<Follower>} */
const followers = new Set() // all pictures of this window
const SOON = 150 // ms that a picture may wait for numbers before it is marked as being renewed
let commits = 0 // the number of this window's last commit

/** What a slider beside the page does to all pictures: it is being dragged; it was let go; or it was let go where it began. */
export const everywhere = {
  /** @param {Values} changes */
  preview: changes => connected().forEach(follower => follower.preview(changes)),
  /** @param {Values} changes
   * @returns {number} of the commit, which the page is to hear of */
  commit(changes) {
    const number = ++commits
    for (const follower of connected()) follower.dispatch({ type: "join", changes, number })
    return number
  },
  /** What somebody else's link says, while that moves. @param {string} query */
  follow: query => connected().forEach(follower => follower.dispatch({ type: "wish", query })),
  /** The same, and the page is told. @param {string} query @returns {number} of the commit */
  followed(query) {
    const number = ++commits
    for (const follower of connected()) follower.dispatch({ type: "join", changes: {}, query, number })
    return number
  },
  retract: () => connected().forEach(follower => follower.retract()),
}

/** The parameters of the link that pictures show and the page does not know of yet, for who copies the link. */
function carried() {
  /** @type {Record<string, string>} */
  const moved = {}
  for (const { state } of followers) {
    const then = new URLSearchParams(state.page.query ?? "")
    for (const [name, value] of new URLSearchParams(state.latest ?? state.ahead ?? state.committed ?? "")) {
      if (then.get(name) !== value && !(name in state.page.local)) moved[name] = value
    }
  }
  return moved
}
window.attentionLabCarried = carried

/** The pictures that are still on the page. */
function connected() {
  for (const follower of followers) if (!follower.root.isConnected) followers.delete(follower)
  return [...followers]
}

/** What a picture gets beside its numbers, if it can be worked with, is described at `PictureActs` in types.d.ts.
 * @param {Component} component
 * @param {Draw} draw */
export function follow(component, draw) {
  const root = /** @type {PictureRoot} */ (component.parentElement.querySelector("[data-picture]"))
  const follower = root._follow ??= new Follower(root, component)
  followers.add(Object.assign(follower, { component, draw }))
  const { query, heard, local = {}, slow } = component.data
  root.toggleAttribute("data-slow", slow)
  commits = Math.max(commits, heard)
  pageHasSpoken()
  follower.dispatch({ type: "page", query, heard, local, slow })
}

/** A picture's place on the page: it tells the state machine what happens, and carries out what follows. */
class Follower {
  /** @type {Draw} */
  draw = () => {}
  /** @type {Drawn | undefined} */
  last // what was drawn last
  /** @type {(() => void) | void} */
  leave = undefined // takes back what the last drawing has set up
  /** @type {FollowEffect[]} */
  effects = [] // still to be carried out
  waits = 0 // how many of the scripts that draw it have not arrived
  isBroken = false // whether the last drawing ended in an error
  /** @type {HTMLElement | undefined} */
  note // says why there is no picture
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  waiting // runs while numbers, or a script, are on their way

  /** @param {PictureRoot} root
   * @param {Component} component */
  constructor(root, component) {
    this.root = root
    this.component = component
    this.state = initial(component.data.heard)
    const path = location.pathname
    let { search } = location
    const moved = () => {
      if (!root.isConnected) return navigation.removeEventListener("currententrychange", moved)
      if (location.pathname !== path || location.search === search) return
      const [query, before] = [location.search, search].map(text => text.slice(1))
      search = location.search
      const event = { type: /** @type {const} */ ("address"), query, isTidied: isTidied() }
      if (this.component.data.early) this.dispatch(isByPage() ? event : { ...event, before })
    }
    globalThis.navigation?.addEventListener("currententrychange", moved) // where a browser has no `navigation`, the picture follows with the page
  }

  get shown() { return this.state.shown } // for tests

  /** @param {FollowEvent} event */
  dispatch(event) {
    const [state, effects] = next(this.state, event)
    this.state = state
    const isBusy = this.effects.length > 0 // an effect has caused this event
    this.effects.push(...effects)
    if (!isBusy) this.work()
    this.mark()
  }

  /* Carry out all effects, whatever goes wrong with one of them. */
  work() {
    while (this.effects.length) {
      try {
        this.carryOut(this.effects[0])
      } catch (error) {
        this.explain(inWords(error), true)
      }
      this.effects.shift()
    }
  }

  /** @param {FollowEffect} effect */
  carryOut(effect) {
    if (effect.type === "ask") this.ask(effect.number, effect.query)
    else if (effect.type === "askWords") this.askWords(effect.number, effect.query)
    else if (effect.type === "say") this.say(effect.content)
    else if (effect.type === "draw") {
      const content = /** @type {Content} */ (effect.content)
      this.drawn({ ...content, late: effect.late })
      if (content.words) this.say({ words: content.words, question: content.question ?? 0 })
    }
    else if (effect.type === "redraw") this.drawn(this.last)
    else if (effect.type === "explain") this.explain(effect.words, effect.instead)
    else if (effect.type === "tell") this.component.setTriggerValue("changed", { changes: effect.changes, number: effect.number })
    else {
      clearTimeout(this.timer)
      if (effect.type === "timer") this.timer = setTimeout(() => this.dispatch({ type: "timeout", isRunning: isRunning() }), effect.wait)
    }
  }

  /** @param {number} number
   * @param {string} query */
  async ask(number, query) {
    const { name, slow } = this.component.data, known = this.known(query)
    const words = wanted(query, slow)
    const answer = await (known ? wordsAlone(query, words) : picture(name, query, words))
    if (!this.root.isConnected) return this.dispatch({ type: "answer", number }) // nobody sees it
    if ("problem" in answer) return this.dispatch({ type: "answer", number, ...answer, jitter: Math.random() })
    const { question, bytes } = answer
    const [header, numbers] = bytes ? decode(bytes) : [{ ...known?.header, query }, known?.numbers]
    const same = bytes ? [query, header.query] : known?.same
    this.dispatch(header.problem
      ? { type: "answer", number, problem: header.problem }
      : { type: "answer", number, drawn: header.query, content: { header, numbers, words: answer.words, question, same } })
  }

  /** @param {number} number
   * @param {string} query */
  async askWords(number, query) {
    const answer = await wordsAlone(query, wanted(query))
    const content = "words" in answer && answer.words ? { words: answer.words, question: answer.question ?? 0 } : undefined
    this.dispatch({ type: "words", number, query, content })
  }

  /** @param {WordsAlone} content */
  say({ words, question }) {
    sayInPanel(words, this.root)
    sayOnPage(words, question, () => connected().map(({ root }) => root))
  }

  /** What is drawn, if the picture of this query is the same.
   * @param {string} query */
  known(query) {
    const { ignored = [] } = this.component.data
    const without = { ...this.state.page.local, ...Object.fromEntries(ignored.map(name => [name, null])) }
    return ignored.length && !this.isBroken && this.last?.same?.some(other => isSame(query, other, without)) ? this.last : undefined
  }

  /** @param {Drawn | undefined} drawn */
  drawn(drawn) {
    if (!drawn) return
    this.last = drawn
    this.isBroken = true
    this.leave?.()
    this.root.removeAttribute("data-settled")
    const { root, state: { page: { local } }, preview, commit, retract, settling } = this
    this.leave = this.draw({ ...this.component, ...drawn, root, local, preview, commit, retract, settling })
    this.isBroken = false
    this.markRenewed()
  }

  /** Show words instead of the picture, or above it where there is a picture that may still be right.
   * @param {string} words
   * @param {boolean} [instead] */
  explain(words, instead = false) {
    this.note ??= Object.assign(document.createElement("p"), { className: "problem", role: "status" })
    if (!this.note.isConnected) this.root.before(this.note)
    this.note.textContent = words
    this.note.hidden = !words
    this.root.toggleAttribute("data-failed", Boolean(words) && (instead || !this.last))
  }

  /* What is drawn stays while something newer is on its way; aria-busy says so once that takes a while, and at once of a slow
     picture. */
  markWaiting() {
    const query = awaited(this.state)
    if ((query === null || this.known(query)) && !this.waits) return this.markRenewed()
    if (this.component.data.slow) this.root.setAttribute("aria-busy", "true")
    else this.waiting ??= setTimeout(() => this.root.setAttribute("aria-busy", "true"), SOON)
  }
  markRenewed() {
    clearTimeout(this.waiting)
    this.waiting = undefined
    this.root.removeAttribute("aria-busy")
  }

  /* The attribute data-settled holds the query of a picture that is at rest. It is set after the frame in which it is painted. */
  mark() {
    this.markWaiting()
    const { root } = this, rests = () => isAtRest(this.state) && !this.isBroken && !this.waits
    if (!rests()) return root.removeAttribute("data-settled")
    if (root.dataset.settled !== this.state.page.query) requestAnimationFrame(() => setTimeout(() => {
      if (rests()) root.dataset.settled = this.state.page.query ?? ""
    }))
  }

  /** @type {Picture["settling"]} */
  settling = promise => {
    this.waits++
    this.mark()
    promise.catch(error => this.explain(inWords(error), true)).finally(() => {
      this.waits--
      this.mark()
    })
  }

  /** @param {(other: Follower) => void} act */
  others(act) {
    for (const other of connected()) if (other !== this) act(other)
  }

  /** @type {PictureActs["preview"]} */
  preview = (changes, everywhere) => {
    if (everywhere) this.others(other => other.preview(changes))
    this.dispatch({ type: "preview", changes })
  }

  /** @type {PictureActs["commit"]} */
  commit = (changes, everywhere) => {
    const number = ++commits
    if (everywhere) this.others(other => other.dispatch({ type: "join", changes, number }))
    this.dispatch({ type: "commit", changes, number })
  }

  /** @type {PictureActs["retract"]} */
  retract = everywhere => {
    if (everywhere) this.others(other => other.retract())
    this.dispatch({ type: "retract" })
  }
}
