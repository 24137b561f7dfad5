/* A picture is a function of the link, so it need not wait for the page around it.

   What Streamlit sends is an address: {name, query, early, slow}, and how many commits it has heard of. The bytes come
   from `pictures/<name>` for that query. If `early`, the query in the address bar is asked for as soon as it changes,
   which is when a control is moved: the picture is there in the time of one request, and the page with its words follows
   when it has been run. If `slow`, it is not even asked for while another picture is dragged. Where there is no answer,
   the picture's place says so. */

import { decode } from "./paint.js"

const asked = new Map() // query -> the names asked for in this moment, and the answer to come

/* One picture: {bytes}, or why there is none, {problem, again}: in words, and in how many ms it makes sense to ask again
   (undefined where it never does). Pictures that are asked for at the same time travel together. */
function picture(name, query) {
  let together = asked.get(query)
  if (!together) {
    const names = []
    const answer = Promise.resolve().then(() => { // when all have asked
      asked.delete(query)
      return question(names, query)
    })
    asked.set(query, together = { names, answer })
  }
  if (!together.names.includes(name)) together.names.push(name)
  return together.answer.then(({ pictures, ...problem }) => pictures ? { bytes: pictures[name] } : problem)
}

const UNREACHED = { problem: "The server was not reached.", again: 0 }

async function question(names, query) {
  const address = new URL(`pictures/${names.join("+")}`, document.baseURI)
  const response = await fetch(address, { method: "POST", body: query }).catch(() => null)
  if (!response) return UNREACHED
  if (!response.ok) {
    const problem = await response.text().catch(() => "") || `The server answered ${response.status}.`
    const wait = Number(response.headers.get("Retry-After"))
    return [502, 503, 504].includes(response.status) ? { problem, again: 1000 * wait } : { problem }
  }
  const bytes = await response.arrayBuffer().catch(() => null) // broken off on its way
  return bytes ? { pictures: apart(new Uint8Array(bytes), names) } : UNREACHED
}

/* answer: for each picture u32 length | bytes */
function apart(bytes, names) {
  const lengths = new DataView(bytes.buffer), found = {}
  let at = 0
  for (const name of names) {
    const length = lengths.getUint32(at, true)
    found[name] = bytes.subarray(at + 4, at + 4 + length)
    at += 4 + length
  }
  return found
}

const PATIENCE = 1500 // ms that a page may take to catch up with its address; then the page is right
const AGAIN = [1000, 30000] // ms until a question without an answer is asked again: at first, and at most
const LONG = 10000 // and with a commit, which it is sure to have heard of, but may hear of many in a row

/* Whether two queries say the same of what a picture depends on. */
function same(a, b, local) {
  const plain = query => JSON.stringify(
    [...new URLSearchParams(query)].filter(([name]) => name !== "present" && !(name in local)).sort())
  return a !== null && b !== null && plain(a) === plain(b)
}

const followers = new Set() // the memories of all pictures of this window

/* What a picture that can be worked with gets beside its numbers:
   preview(changes)  draw it for other values of these parameters, without telling the page: for what is dragged.
                     One request is on its way at a time; the last wish is always fulfilled.
   commit(changes)   the same, and the page and its link hold them from now on.
   retract()         what has been previewed is not wanted: draw again what the page says, or was told last.
                     With `true` behind their arguments, all pictures of the page do the same.
   late              whether a newer wish is on its way: what the reader's hand has done since is not in these numbers.
   local             parameter -> value, of what the browser alone works with: a commit of them asks for no bytes. */
export function follow(component, draw) {
  const { data, parentElement } = component
  const root = parentElement.querySelector("[data-picture]")
  const memory = root._follow ??= { asked: 0, commits: data.heard, shown: null, wanted: null, latest: null, ahead: false, failures: 0 }
  const told = JSON.stringify(data.local ?? {}), moved = memory.told !== undefined && memory.told !== told
  Object.assign(memory, { component, data, told })

  async function ask(query) {
    const number = ++memory.asked
    memory.wanted = query
    mark()
    const { bytes, problem, again } = await picture(memory.data.name, query)
    if (number !== memory.asked || !root.isConnected) return // a later one was asked for
    memory.wanted = null
    if (!bytes) return failed(problem, again, query)
    const [header, numbers] = decode(bytes)
    if (header.problem) return failed(header.problem, undefined, query)
    memory.failures = 0
    memory.refused = null
    explain("")
    memory.shown = header.query
    memory.last = { header, numbers, late: memory.latest !== null && memory.latest !== query }
    drawn()
    if (memory.shown === memory.data.query && !behind() && (memory.latest ?? query) === query) caughtUp()
    mark()
  }

  /* Say why there is no picture, in its place, and ask again where that makes sense: each time after twice the time, and
     not all windows at once. */
  function failed(problem, again, query) {
    if (again === undefined) {
      memory.refused = query
      explain(problem, true)
      return mark()
    }
    const [first, most] = AGAIN
    const wait = Math.max(again, Math.min(most, first * 2 ** memory.failures++)) * (1 + Math.random() / 4)
    explain(`${problem} Asking again in ${Math.ceil(wait / 1000)} s.`)
    later(wait)
  }

  /* Words in the place of the picture; beside it, where there is one that may still be right. */
  function explain(words, instead = false) {
    memory.note ??= Object.assign(document.createElement("p"), { className: "problem", role: "status" })
    if (!memory.note.isConnected) root.before(memory.note)
    memory.note.textContent = words
    memory.note.hidden = !words
    root.toggleAttribute("data-failed", Boolean(words) && (instead || !memory.last))
  }

  function drawn() {
    memory.leave?.()
    memory.leave = draw({ ...memory.component, ...memory.last, root, local: memory.data.local ?? {}, preview, commit, retract })
    root.removeAttribute("data-settled")
    mark()
  }

  /* The attribute data-settled says that the picture is at rest: it shows what the page's last data ask for, or says why
     it cannot, and nothing is on its way. It is set after the frame in which the picture is painted. */
  function mark() {
    if (!isSettled()) return root.removeAttribute("data-settled")
    if (root.dataset.settled === memory.data.query) return
    requestAnimationFrame(() => setTimeout(() => isSettled() ? root.dataset.settled = memory.data.query : undefined))
  }

  function isSettled() {
    const { query } = memory.data, idle = memory.wanted === null && !memory.ahead && !memory.busy && !behind()
    const told = Object.keys(memory.pending ?? {}).length > 0 // the page has not answered yet
    return idle && !told && (memory.last && memory.shown === query || memory.refused === query)
  }

  /* Show what the page says, unless it is there, or on its way. */
  function settle() {
    clearTimeout(memory.timer)
    caughtUp()
    const { query } = memory.data
    if (query === memory.shown) forget()
    else if (query !== memory.wanted) ask(query)
    mark()
  }

  /* What is on its way is no longer wanted: who goes there and back quickly would else end there. */
  function forget() {
    memory.asked++
    memory.wanted = null
  }

  /* Whether the page has not heard of the last commit yet: then it may say what is shown, of a time before. */
  function behind() {
    return memory.data.heard < memory.commits
  }

  function caughtUp() {
    memory.commits = memory.data.heard
    memory.ahead = false
    memory.joined = null
    memory.latest = memory.committed = null
    memory.pending = {}
  }

  function wait(patience) {
    memory.ahead = true
    mark()
    later(patience)
  }

  function later(patience) {
    clearTimeout(memory.timer)
    memory.timer = setTimeout(settle, patience)
  }

  function preview(changes, everywhere) {
    if (everywhere) others(other => other.data.slow || other.preview(changes))
    const query = new URLSearchParams(memory.latest ?? memory.data.query)
    for (const [name, value] of Object.entries(changes)) query.set(name, value)
    wish(query.toString())
  }

  async function wish(query) {
    memory.ahead = true
    memory.latest = query
    mark()
    clearTimeout(memory.timer)
    if (memory.busy) return
    memory.busy = true
    try {
      for (let last = null; memory.latest && last !== memory.latest;) await ask(last = memory.latest)
    } finally {
      memory.busy = false
      mark()
    }
  }

  function retract(everywhere) {
    if (everywhere) others(other => other.retract())
    if (memory.committed == null) return settle()
    wish(memory.committed)
    wait(LONG)
  }

  /* Another picture tells the page: until it knows that the page has heard, what the page says is of a time before. */
  function join(changes, teller) {
    preview(changes)
    memory.committed = memory.latest
    memory.joined = teller
    wait(LONG)
  }

  function release(teller) {
    if (memory.joined !== teller) return
    memory.joined = null
    later(PATIENCE) // what the page says now is on its way to this picture, too
  }

  function others(act) {
    for (const other of followers) {
      if (!other.root.isConnected) followers.delete(other)
      else if (other !== memory) act(other)
    }
  }

  function commit(changes, everywhere) {
    if (everywhere) others(other => other.join(changes, memory))
    const bytes = Object.fromEntries(Object.entries(changes).filter(([name]) => !(name in (memory.data.local ?? {}))))
    if (Object.keys(bytes).length) {
      memory.commits++
      preview(bytes)
      memory.committed = memory.latest
      wait(LONG)
    }
    memory.pending = { ...memory.pending, ...changes } // of two in a row, the page may hear of the second alone
    mark()
    memory.component.setTriggerValue("changed", { changes: memory.pending, number: memory.commits })
  }

  function early() {
    if (!root.isConnected) return navigation.removeEventListener("currententrychange", early)
    const { pathname, search } = location
    if (!memory.data.early || pathname !== memory.path || search === memory.search) return
    memory.search = search
    const local = memory.data.local ?? {}
    // After a commit the picture is ahead of the address, which may get there in several steps.
    if (memory.latest || same(search, memory.wanted ?? memory.shown, local)) return
    wait(PATIENCE)
    ask(search.slice(1))
  }

  followers.add(Object.assign(memory, { root, preview, retract, join, release }))
  if (!memory.path) {
    memory.path = location.pathname
    memory.search = location.search
    globalThis.navigation?.addEventListener("currententrychange", early) // not in every browser; then it comes later
  }
  // Caught up is a page that has heard of the last commit, with nothing newer on its way; or one that says what is shown.
  if (!behind()) others(other => other.release(memory))
  const heard = !memory.joined && memory.latest && memory.latest === memory.committed
  if (!memory.ahead || (!behind() && (heard || (memory.wanted === null && data.query === memory.shown)))) settle()
  if (moved && memory.last && data.query === memory.shown) drawn()
  mark()
}
