/* A picture between a page and a server, without a browser: what happens is said, what is to be done is read. */

import { awaited, initial, isAtRest, next } from "../../assets/pictures/follow_states.js"

export class Simulation {
  /** @param {string} [query] what the page says at first; its picture is drawn
   * @param {boolean} [slow] whether it is asked for at rest alone */
  constructor(query = "", slow = false) {
    /** @type {boolean} written out, as the type of `tell` leads through the state back to it */
    this.slow = slow
    this.state = initial(0)
    /** @type {FollowEffect[]} what the last event has asked for */
    this.effects = []
    /** @type {string[]} the queries whose pictures were drawn */
    this.drawn = []
    /** @type {number | null} in how many ms the timer ends */
    this.timer = null
    this.page(query)
    this.answer()
  }

  /** @param {FollowEvent} event */
  tell(event) {
    const before = JSON.stringify(this.state)
    const [state, effects] = next(this.state, event)
    if (before !== JSON.stringify(this.state)) throw new Error(`${event.type} has changed the state that it was given`)
    this.state = state
    this.effects = effects
    for (const effect of effects) {
      if (effect.type === "draw") this.drawn.push(/** @type {Content} */ (effect.content).header.query)
      if (effect.type === "timer") this.timer = effect.wait
      if (effect.type === "stopTimer") this.timer = null
    }
    return this
  }

  /** What a picture of the window does is told to the page, as the window's next commit.
   * @param {Values} changes
   * @param {number} [number] */
  commit(changes, number = this.state.commits + 1) {
    return this.tell({ type: "commit", changes, number })
  }

  /** The page has been run.
   * @param {string} query
   * @param {number} [heard]
   * @param {Values} [local] */
  page(query, heard = 0, local = {}) {
    return this.tell({ type: "page", query, heard, local, slow: this.slow })
  }

  /** The server answers the newest question for words alone, or does not.
   * @param {{ query: string, number?: number, isAnswered?: boolean }} answer */
  answerWords({ query, number = this.state.asked, isAnswered = true }) {
    const content = isAnswered ? { words: { query, places: {} }, question: number } : undefined
    return this.tell({ type: "words", number, query, content })
  }

  /** The server answers a question, the newest if none is named.
   * @param {{ number?: number, query?: string, problem?: string, again?: number, jitter?: number }} [answer] */
  answer({ number = this.state.asked, query, ...problem } = {}) {
    if (problem.problem !== undefined) return this.tell({ type: "answer", number, ...problem })
    const drawn = query ?? this.state.question?.query ?? "nobody asked for this"
    return this.tell({ type: "answer", number, drawn, content: { header: { query: drawn }, numbers: new Uint8Array() } })
  }

  /** The questions of the last event. */
  get questions() {
    return this.effects.flatMap(effect => effect.type === "ask" ? [effect.query] : [])
  }

  /** The questions of the last event for words alone. */
  get wordsAsked() {
    return this.effects.flatMap(effect => effect.type === "askWords" ? [effect.query] : [])
  }

  /** The queries whose words the last event has put on the page. */
  get said() {
    return this.effects.flatMap(effect => effect.type === "say" ? [effect.content.words.query] : [])
  }

  /** What the page was told by the last event. */
  get told() {
    return this.effects.flatMap(effect => effect.type === "tell" ? [{ changes: effect.changes, number: effect.number }] : [])
  }

  /** What stands in the picture's place by the last event. */
  get words() {
    return this.effects.flatMap(effect => effect.type === "explain" ? [effect.words] : []).at(-1)
  }

  get awaited() {
    return awaited(this.state)
  }

  get isAtRest() {
    return isAtRest(this.state)
  }
}
