/* A picture is a function of the link, so it need not wait for the page around it.

   What Streamlit sends is an address: {name, query, early}. The bytes come from `pictures/<name>` for that query. If
   `early`, the query in the address bar is asked for as soon as it changes, which is when a control is moved: the
   picture is there in the time of one request, and the page with its words follows when it has been run. */

import { decode } from "./paint.js"

const PATIENCE = 5000 // ms that a page may take to catch up with its address; then the page is right

export function follow(component, draw) {
  const { data, parentElement } = component
  const root = parentElement.querySelector("[data-picture]")
  const memory = root._follow ??= { asked: 0, shown: null, ahead: false }
  Object.assign(memory, { component, data })

  async function ask(query) {
    const number = ++memory.asked
    memory.wanted = query
    const bytes = await fetch(new URL(`pictures/${data.name}`, document.baseURI), { method: "POST", body: query })
      .then(answer => answer.ok ? answer.arrayBuffer() : null, () => null)
    if (number !== memory.asked || !root.isConnected) return // a later one was asked for
    if (!bytes) return query === memory.data.query && setTimeout(settle, 1000)
    const [header, numbers] = decode(new Uint8Array(bytes))
    memory.shown = header.query
    memory.leave?.()
    memory.leave = draw({ ...memory.component, header, numbers, root })
    if (memory.shown === memory.data.query) memory.ahead = false
  }

  /* Show what the page says, unless it is there, or on its way. */
  function settle() {
    clearTimeout(memory.timer)
    memory.ahead = false
    const { query } = memory.data
    if (query !== memory.shown && query !== memory.wanted) ask(query)
  }

  function early() {
    if (!root.isConnected) return navigation.removeEventListener("currententrychange", early)
    const { pathname, search } = location
    if (!memory.data.early || pathname !== memory.path || search === memory.search) return
    memory.search = search
    memory.ahead = true
    clearTimeout(memory.timer)
    memory.timer = setTimeout(settle, PATIENCE)
    ask(search.slice(1))
  }

  if (!memory.path) {
    memory.path = location.pathname
    memory.search = location.search
    globalThis.navigation?.addEventListener("currententrychange", early) // not in every browser; then it comes later
  }
  if (!memory.ahead || data.query === memory.shown) settle()
}
