/* A picture is a function of the link, so it need not wait for the page around it.

   What Streamlit sends is an address: {name, query, early, slow}, and how many commits it has heard of. The bytes come
   from `pictures/<name>` for that query. If `early`, the query in the address bar is asked for as soon as it changes,
   which is when a control is moved: the picture is there in the time of one request, and the page with its words follows
   when it has been run. If `slow`, it is not even asked for while another picture is dragged. */

import { decode } from "./paint.js"

const asked = new Map() // query -> the names asked for in this moment, and the answer to come

/* One picture's bytes; null if the server was not reached, undefined if it refused. Pictures that are asked for at the
   same time travel together. */
function picture(name, query) {
  let together = asked.get(query)
  if (!together) {
    const names = []
    const answer = Promise.resolve().then(async () => { // when all have asked
      asked.delete(query)
      const address = new URL(`pictures/${names.join("+")}`, document.baseURI)
      const response = await fetch(address, { method: "POST", body: query }).catch(() => null)
      if (!response || response.status >= 500) return null
      if (!response.ok) return {}
      const bytes = await response.arrayBuffer().catch(() => null) // broken off on its way
      return bytes && apart(new Uint8Array(bytes), names)
    })
    asked.set(query, together = { names, answer })
  }
  together.names.push(name)
  return together.answer.then(pictures => pictures && pictures[name])
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
  const memory = root._follow ??= { asked: 0, commits: data.heard, shown: null, wanted: null, latest: null, ahead: false }
  const told = JSON.stringify(data.local ?? {}), moved = memory.told !== undefined && memory.told !== told
  Object.assign(memory, { component, data, told })

  async function ask(query) {
    const number = ++memory.asked
    memory.wanted = query
    const bytes = await picture(memory.data.name, query)
    if (number !== memory.asked || !root.isConnected) return // a later one was asked for
    memory.wanted = null
    if (!bytes) {
      if (bytes === null) later(1000)
      return
    }
    const [header, numbers] = decode(bytes)
    memory.shown = header.query
    memory.last = { header, numbers, late: memory.latest !== null && memory.latest !== query }
    drawn()
    if (memory.shown === memory.data.query && !behind() && (memory.latest ?? query) === query) caughtUp()
  }

  function drawn() {
    memory.leave?.()
    memory.leave = draw({ ...memory.component, ...memory.last, root, local: memory.data.local ?? {}, preview, commit, retract })
  }

  /* Show what the page says, unless it is there, or on its way. */
  function settle() {
    clearTimeout(memory.timer)
    caughtUp()
    const { query } = memory.data
    if (query === memory.shown) forget()
    else if (query !== memory.wanted) ask(query)
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
    clearTimeout(memory.timer)
    if (memory.busy) return
    memory.busy = true
    try {
      for (let last = null; memory.latest && last !== memory.latest;) await ask(last = memory.latest)
    } finally {
      memory.busy = false
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
}
