/* When a picture asks for numbers, whose answer it draws, and what it does while the page is behind: a state machine.

   `next(state, event)` returns the state that follows and what is to be done, as data; nothing else happens in this file,
   so that tests need no browser. follow.js turns what happens in the browser into events, and carries out the effects.

   A state's name says what the picture shows:
   following    what the page says: its last query is drawn, or asked for
   ahead        what the address says, since a control of Streamlit's was moved; the page has not been run yet
   previewing   what is being dragged; neither the page nor its link know of it
   committed    what the page was told to hold, by this picture, another one, or a slider beside the page; the page has not
                answered yet

   A slow picture asks for nothing but words while it is ahead or previewing: its numbers are asked for when the hand rests,
   which is when the page has been told, or has been run. Until then it is `awaited`.

   Every state but "following" ends when the page has caught up, or when the timer has run out: from then on, what the page
   says counts.

   Commits are numbered through all pictures of a window. What the page says to a picture comes with the number of the last
   commit that the page had heard of, so each picture knows by itself whether that was said before a commit or after it. */

import { asOnPage, changed, isPartOf, isSame, stillKept, together, without } from "./follow_queries.js"

export const PATIENCE = 1500 // ms that a page may take to say the rest, once it has said something
export const LONG = 30000 // ms that a page may take to answer: it is sure to hear of an act, but is run once the visitor rests
const AGAIN = [1000, 30000] // ms until a question that had no answer is asked again: after the first failure, and at most

/** The state before the page has said anything.
 * @param {number} heard how many commits the page knows of
 * @returns {FollowState} */
export const initial = heard => ({
  name: "following", page: { query: null, heard, local: {}, slow: false }, commits: heard, shown: null, refused: null,
  question: null, asked: 0, preview: null, latest: null, ahead: null, kept: "", committed: null, pending: {}, failures: 0,
})

/** Whether the picture is at rest: it shows what the page's last data ask for, or says why it cannot, and nothing that
 * would change it is on its way.
 * @param {FollowState} state */
export function isAtRest({ name, page, shown, refused, question, preview, pending, ...state }) {
  const idle = name === "following" && !question && !preview && !isBehind({ page, ...state }) && !Object.keys(pending).length
  return idle && (shown === page.query || refused === page.query)
}

/** The query that is to be drawn instead of what is: it was asked for, or, for a slow picture, wished for. null if there is none.
 * @param {FollowState} state */
export function awaited({ page, question, shown, latest, ahead, committed }) {
  const wish = latest ?? ahead ?? committed
  const isLater = page.slow && wish !== null && !isSame(wish, shown, page.local)
  return isLater ? wish : question?.query ?? null
}

/** The state after an event, and what is to be done.
 * @param {FollowState} state
 * @param {FollowEvent} event
 * @returns {[FollowState, FollowEffect[]]} */
export function next(state, event) {
  const after = { ...state }
  /** @type {FollowEffect[]} */
  const effects = []
  HANDLERS[event.type](after, /** @type {any} */ (event), effects)
  return [after, effects]
}

/** What each event does to a copy of the state, and which effects it adds.
 * @type {{ [Type in FollowEvent["type"]]:
 *   (state: FollowState, event: Extract<FollowEvent, { type: Type }>, effects: FollowEffect[]) => void }} */
const HANDLERS = {
  /* The page has been run. It has caught up if it has heard of the last commit, and nothing newer is on its way; or if it
     says what is shown. A page that is behind may say what is shown, too: of a time before. */
  page(state, { query, heard, local, slow = false }, effects) {
    const moved = state.page.query !== null && JSON.stringify(state.page.local) !== JSON.stringify(local)
    state.page = { query, heard, local, slow }
    state.shown = asOnPage(state, state.shown)
    if (state.name === "previewing" && isSame(query, state.ahead, local)) state.ahead = null // it has caught up with that
    if (state.name === "ahead") Object.assign(state, stillKept(state)) // a question that was set up takes the rest back
    const agreed = state.name === "ahead" && isSame(query, state.ahead, local) && !isSame(query, state.question?.query ?? null, local)
    const answered = state.name === "committed" || agreed || state.question === null && query === state.shown
    if (state.name === "following" || !isBehind(state) && answered) showPage(state, effects)
    else if (state.name === "ahead") effects.push({ type: "timer", wait: PATIENCE }) // it is being run, and soon up to date
    if (moved && query === state.shown) effects.push({ type: "redraw" })
  },

  /* The address has changed. After a commit the picture is ahead of it, as it may get there in several steps. Where the page
     has only taken out what belonged to controls that are gone, it means what it has said: it still holds their values. */
  address(state, { query, before = state.page.query ?? "", isTidied = false }, effects) {
    if (state.latest !== null || isTidied && isPartOf(query, state.page.query)) return
    if (state.name === "following") state.kept = without(state.page.query ?? "", before)
    const whole = together(query, state.kept)
    const isElsewhere = state.page.slow && state.ahead !== null && !isSame(whole, state.ahead, state.page.local) // by its words
    if (state.name === "ahead") state.ahead = whole
    if (isElsewhere || !isSame(whole, state.question?.query ?? state.shown, state.page.local)) goAhead(state, whole, effects)
  },

  preview(state, { changes }, effects) {
    wish(state, changed(state, changes), effects)
  },

  /* The same, for a whole query. */
  wish(state, { query }, effects) {
    wish(state, query, effects)
  },

  /* Tell the page. What the browser alone works with (`local`) changes no numbers. */
  commit(state, { changes, number }, effects) {
    const inNumbers = Object.entries(changes).filter(([name]) => !(name in state.page.local))
    if (inNumbers.length) {
      state.commits = number
      promise(state, changed(state, Object.fromEntries(inNumbers)), effects)
    }
    state.pending = { ...state.pending, ...changes } // of two in a row, the page may hear of the second alone
    effects.push({ type: "tell", changes: state.pending, number })
  },

  /* What was previewed is not wanted: back to what the page was told last, or to what it says. */
  retract(state, _, effects) {
    if (state.committed !== null) promise(state, state.committed, effects)
    else if (state.ahead !== null) goAhead(state, state.ahead, effects)
    else showPage(state, effects)
  },

  /* Another picture, or a slider beside the page, has told the page. */
  join(state, { changes, query, number }, effects) {
    state.commits = number
    promise(state, query ?? changed(state, changes), effects)
  },

  answer(state, event, effects) {
    const isNewest = event.number === state.question?.number
    if (isNewest && state.question) answered(state, state.question.query, event, effects)
    previewed(state, event.number, query => isNewest && state.latest === query, effects)
  },

  /* The words of a query whose numbers a slow picture has not asked for. Who has gone back meanwhile does not want them. */
  words(state, { number, query, content }, effects) {
    if (content && (state.latest !== null || state.ahead === query)) effects.push({ type: "say", content })
    previewed(state, number, query => state.latest === query && isForRest(state, query), effects)
  },

  /* What the server could not answer is asked again, though the page may not know of it yet. While the page is being run, it is
     about to say more. */
  timeout(state, { isRunning = false }, effects) {
    const wanted = state.latest ?? state.ahead ?? state.committed
    if (state.failures && !state.question && wanted !== null) {
      ask(state, wanted, effects)
      return void effects.push({ type: "timer", wait: LONG })
    }
    if (isRunning && state.name !== "following") effects.push({ type: "timer", wait: PATIENCE })
    else showPage(state, effects)
  },
}

/** Whether the page has not heard of the last commit yet.
 * @param {Pick<FollowState, "page" | "commits">} state */
const isBehind = ({ page, commits }) => page.heard < commits

/** @param {FollowState} state
 * @param {string} query
 * @param {FollowEffect[]} effects */
function ask(state, query, effects) {
  state.question = { number: ++state.asked, query }
  effects.push({ type: "ask", ...state.question })
}

/** Draw this query, which the page is about to say, unless it is drawn or on its way.
 * @param {FollowState} state
 * @param {string} query
 * @param {FollowEffect[]} effects */
function goAhead(state, query, effects) {
  const said = state.ahead === null && !isBehind(state) && isSame(query, state.page.query, state.page.local)
  if (said) return showPage(state, effects)
  state.name = "ahead"
  state.ahead = query
  state.latest = null
  effects.push({ type: "timer", wait: LONG })
  if (isSame(query, state.question?.query ?? null, state.page.local)) return
  if (isSame(query, state.shown, state.page.local)) state.question = null
  if (state.page.slow) askForWords(state, query, effects)
  else if (!isSame(query, state.shown, state.page.local)) ask(state, query, effects)
}

/** Show what the page says, unless it is there, or on its way.
 * @param {FollowState} state
 * @param {FollowEffect[]} effects */
function showPage(state, effects) {
  effects.push({ type: "stopTimer" })
  caughtUp(state)
  const { query } = state.page
  // An answer on its way is no longer wanted: otherwise a control that was moved there and back would end there.
  if (query === state.shown) state.question = null
  else if (query !== null && !isSame(query, state.question?.query ?? null, state.page.local)) ask(state, query, effects)
}

/** @param {FollowState} state */
function caughtUp(state) {
  state.name = "following"
  state.commits = state.page.heard
  state.latest = state.ahead = state.committed = null
  state.pending = {}
}

/** Draw this query, whatever the page says.
 * @param {FollowState} state
 * @param {string} query
 * @param {FollowEffect[]} effects */
function wish(state, query, effects) {
  state.latest = query
  state.name = query === state.committed ? "committed" : "previewing"
  effects.push({ type: "stopTimer" })
  if (state.preview) return // one is on its way at a time; the last wish is always fulfilled
  const isThere = isSame(query, state.shown, state.page.local)
  if (isThere) state.question = null
  if (!isThere || isForRest(state, query)) askForPreview(state, query, effects)
}

/** @param {FollowState} state
 * @param {string} query
 * @param {FollowEffect[]} effects */
function askForPreview(state, query, effects) {
  if (isForRest(state, query)) state.preview = askForWords(state, query, effects)
  else {
    ask(state, query, effects)
    state.preview = state.question
  }
}

/** What a preview has asked for has come: ask for the newest wish, unless that was it.
 * @param {FollowState} state
 * @param {number} number of the question
 * @param {(query: string) => boolean} isAll
 * @param {FollowEffect[]} effects */
function previewed(state, number, isAll, effects) {
  if (number !== state.preview?.number) return
  const { query } = state.preview
  state.preview = null
  if (state.latest !== null && !isAll(query)) askForPreview(state, state.latest, effects)
}

/** Whether a wish is none that the page was told, so that a slow picture is not yet asked for.
 * @param {FollowState} state
 * @param {string} query */
const isForRest = ({ page, committed }, query) => page.slow && query !== committed

/** What the page says of this query, without a picture.
 * @param {FollowState} state
 * @param {string} query
 * @param {FollowEffect[]} effects */
function askForWords(state, query, effects) {
  const question = { number: ++state.asked, query }
  effects.push({ type: "askWords", ...question })
  return question
}

/** Draw what the page has been told, until it has answered.
 * @param {FollowState} state
 * @param {string} query
 * @param {FollowEffect[]} effects */
function promise(state, query, effects) {
  state.committed = query
  wish(state, query, effects)
  effects.push({ type: "timer", wait: LONG })
}

/** The answer to the newest question, which asked for `query`.
 * @param {FollowState} state
 * @param {string} query
 * @param {AnswerEvent} event
 * @param {FollowEffect[]} effects */
function answered(state, query, { drawn, problem, again, jitter = 0, content }, effects) {
  state.question = null
  if (drawn === undefined) return problem === undefined ? undefined : failed(state, query, problem, again, jitter, effects)
  state.failures = 0
  state.shown = asOnPage(state, drawn)
  if (state.ahead === query) state.ahead = drawn // as the page will write it
  effects.push({ type: "explain", words: "" })
  effects.push({ type: "draw", content, late: state.latest !== null && state.latest !== query })
  const dragged = state.name === "previewing" && state.ahead !== null // away from what the page is about to say
  if (state.shown === state.page.query && !isBehind(state) && (state.latest ?? query) === query && !dragged) caughtUp(state)
}

/** Say why there is no picture, and ask again where that makes sense: each time after twice the time, and not all windows
 * at once.
 * @param {FollowState} state
 * @param {string} query
 * @param {string} problem
 * @param {number | undefined} again
 * @param {number} jitter
 * @param {FollowEffect[]} effects */
function failed(state, query, problem, again, jitter, effects) {
  if (again === undefined) {
    state.refused = query
    return void effects.push({ type: "explain", words: problem, instead: true })
  }
  const [first, most] = AGAIN
  const wait = Math.max(again, Math.min(most, first * 2 ** state.failures++)) * (1 + jitter / 4)
  effects.push({ type: "explain", words: `${problem} Asking again in ${Math.ceil(wait / 1000)} s.` })
  effects.push({ type: "timer", wait })
}
