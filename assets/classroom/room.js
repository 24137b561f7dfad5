/* The bar of a room, and what a tab does there: it listens, follows or leads. It lives as long as the window: Streamlit mounts the
   component anew on each page. */

import { make } from "../pictures/elements.js"
import { isToRun, watchRuns } from "../streamlit_private/dom.js"
import { Card, pressShow } from "./card.js"
import { arrive, cancel, follow, hurry, isAstray, stay } from "./follow.js"
import { lead } from "./lead.js"
import { listen } from "./line.js"
import { forget, isLedElsewhere, keep, recall, whenElsewhere } from "./memory.js"

const SAID_FOR = 12000 // ms for which the bar says that a room is over
const AGAIN = 15000 // ms after which a page that knows nothing of its room is told again
const page = document.documentElement

/** @type {RoomMemory} */
const memory = window.attentionLabRoom ??= {
  role: null, view: null, line: null, trouble: "", gone: "", opened: "", data: null, root: null, tell: null,
}
const NOTHING = {
  open: true, problem: "", here: { members: 0, owner: false }, ends: 0, place: null, asked: null, result: null, mine: null, late: false, over: [],
}

/** @type {Card | undefined} */
let card
let saidToPage = "", sayAgain = 0 // what the page was told last, and when it may be told the same again
/** @type {(() => void) | undefined} */
let endLead
let hasBegun = false

/** Be in a room, in a role.
 * @param {RoomRole} role */
function enter(role) {
  const isOther = memory.role?.code !== role.code || memory.role.secret !== role.secret
  memory.role = role
  memory.gone = ""
  if (!isOther) keep(role)
  endLead?.()
  if (role.leads) endLead = lead(() => {
    const { data, view } = memory
    if (!data || !view || data.isPrivate || !memory.role) return null
    const isOnItsWay = (location.pathname.split("/").at(-1) || "home") !== data.page // the address is another page's already
    return isOnItsWay ? null : { role: memory.role, page: data.page, typed: data.typed, after: view.place?.number ?? 0 }
  })
  if (isOther) {
    cancel()
    memory.line?.end()
    memory.view = null
    memory.line = listen(role, {
      news(news) {
        const isFirst = !memory.view
        memory.view = { ...NOTHING, ...memory.view, ...news }
        if (isFirst) keep(role) // it is there, and the secret is right
        try {
          if (news.place) goAlong()
          draw()
        } catch (error) {
          console.error(error) // the line itself is whole
        }
      },
      trouble(words) {
        if (memory.trouble === words) return
        memory.trouble = words
        draw()
      },
      over: words => leave(words || `Room ${role.code} is closed. All that it kept is erased.`),
    })
  }
  tellPage()
  draw()
}

/** Be in no room any more. @param {string} words why, "" if the visitor wants it so */
function leave(words) {
  const { role } = memory
  memory.line?.end()
  endLead?.()
  if (role) forget(role.code)
  if (role?.follows) stay()
  Object.assign(memory, { role: null, view: null, line: null, trouble: "", gone: words })
  tellPage()
  draw()
  const goOn = () => {
    const owned = memory.role ? null : recall() // an owner was a guest in another room
    if (memory.gone === words) memory.gone = ""
    if (owned) enter(owned)
    else draw()
  }
  if (words) setTimeout(goOn, SAID_FOR)
  else goOn()
}

/** Follow the room again, or explore alone. @param {boolean} follows */
function setFollows(follows) {
  if (!memory.role) return
  memory.role = { ...memory.role, follows }
  keep(memory.role)
  if (follows) goBack()
  else stay()
  tellPage()
  draw()
}

/** Go where the room is, and do not wait for that. */
function goBack() {
  cancel()
  goAlong()
  hurry()
}

/** Let the room follow this tab. */
const takeLead = () => { if (memory.role) enter({ ...memory.role, leads: true, follows: false }) }

function goAlong() {
  const { role, view, data, tell } = memory
  if (role?.follows && view?.place && data && tell) follow(view.place, data, view.here.members, wish => tell("follow", wish))
}

/** The page's script hears which room this tab is in; not with each of its runs, if it cannot know it. */
function tellPage() {
  const { role, data, tell } = memory
  if (!data || !tell) return
  const known = role ? [role.code, ...[role.leads, role.follows].map(is => is ? "True" : "False")].join(" ") : ""
  if (known === data.known || known === saidToPage && performance.now() < sayAgain) return
  saidToPage = known
  sayAgain = performance.now() + AGAIN
  tell("told", { code: role?.code ?? "", secret: role?.secret ?? "", leads: role?.leads ?? false, follows: role?.follows ?? false })
}

/** The page shows what it hides until an answer is given, once the room has shown that answer, and goes on doing so when the room is over;
 * it leaves the asking to the room. The page of an owner knows by itself what is over, but for what is shown just now. */
function unveil() {
  const { view, role } = memory, isAsked = view?.asked && view.result?.id !== view.asked.id, which = view?.asked?.which ?? ""
  const over = role?.secret ? isAsked ? [] : [which] : view?.over.filter(each => !isAsked || each !== which)
  if (over) page.dataset.shown = over.map(each => each.replaceAll(" ", "+")).join(" ")
  const asks = role?.follows && view?.asked?.which
  if (asks) page.dataset.asked = ""
  else delete page.dataset.asked
}

/** Where the desk has shown the answers of what this page asks, the page does, too, and tells the room what it has computed. */
function showToo() {
  const { view, role } = memory, asked = view?.asked
  if (!role?.leads || !asked?.which || view?.result?.id !== asked.id || isToRun()) return
  const veil = /** @type {HTMLElement | null} */ (document.querySelector(".veil"))
  if (veil?.dataset.which === asked.which) pressShow()
}

function draw() {
  const { root, data, role, view, trouble, gone } = memory
  unveil()
  showToo()
  if (!root || !data) return
  if (role?.follows && view?.place) arrive(view.place, data)
  root.hidden = !role && !gone
  page.toggleAttribute("data-room", !root.hidden)
  const bar = make("div", { className: "bar" }, ...role ? parts(role) : [make("p", { textContent: gone, role: "status" })])
  const before = root.querySelector(".bar")
  if (role) (card ??= new Card()).draw(view ?? NOTHING, role, data, isPresenting())
  const isPlaced = before && Boolean(role) === (card?.element.parentNode === root)
  if (!isPlaced) root.replaceChildren(bar, ...role && card ? [card.element] : [])
  else renew(before, bar)
  root.dataset.trouble = String(Boolean(trouble))
}

/** Make a part of the bar as it is now. What has not changed stays, so that a button keeps the focus and is pressed where a press began.
 * @param {Element} before @param {Element} now */
function renew(before, now) {
  if (before.isEqualNode(now)) return
  const [there, here] = [before, now].map(element => [...element.children])
  const isAlike = there.length === here.length && there.length > 0 && there.every((child, i) => child.className === here[i].className)
  if (isAlike && !before.matches(".name, .acts")) there.forEach((child, i) => renew(child, here[i]))
  else if (before.matches("p")) before.replaceChildren(...now.childNodes)
  else {
    const had = before.contains(/** @type {ShadowRoot | Document} */ (before.getRootNode()).activeElement)
    before.replaceWith(now)
    if (had) now.querySelector("button")?.focus()
  }
}

const isPresenting = () => new URLSearchParams(location.search).has("present")

/** What stands in the bar. @param {RoomRole} role @returns {HTMLElement[]} */
function parts(role) {
  const { view, data, trouble } = memory, members = view?.here.members ?? 0
  const code = make("b", { textContent: role.code }), name = make("p", { className: "name" }, "Room ", code)
  const here = make("p", { className: "here", textContent: `${members} here` })
  const says = make("p", { className: "says", role: "status", textContent: trouble || view?.problem || saysOf(role) })
  const right = role.secret ? ofOwner(role) : ofMember(role)
  const hasTask = role.secret && (view?.done || document.querySelector(".task"))
  const done = hasTask ? [make("p", { className: "here", textContent: `${view?.done ?? 0} of ${members} have done the task` })] : []
  const where = role.secret ? [make("p", { className: "address", textContent: data?.address ?? "" })] : []
  return [name, here, ...done, ...where, says, make("span", { className: "acts" }, ...right)]
}

/** @param {RoomRole} role */
function saysOf(role) {
  const { view, data } = memory
  if (!view) return "Entering…"
  const minutes = Math.ceil((view.ends - Date.now() / 1000) / 60)
  if (role.secret && minutes <= 15) return `The room closes in ${Math.max(minutes, 0)} min.`
  if (role.secret && role.leads) return data?.isPrivate ? "Nobody follows you to this page." : ""
  if (role.secret) return "The room does not follow this tab."
  if (!view.here.owner) return "The lecturer is away; the room stays open."
  return !role.follows ? "You explore alone." : isStray() ? "You have gone elsewhere, until the lecturer moves." : "You follow."
}

/** @param {RoomRole} role */
function ofOwner(role) {
  const buttons = []
  if (!role.leads && !memory.data?.isPrivate) buttons.push(button("Lead from this tab", takeLead, true))
  if (memory.data?.qr) buttons.push(button("QR", showCode))
  return buttons
}

/** Whether this tab shows other pictures than the room, though it follows. */
const isStray = () => Boolean(memory.data && memory.view?.place && isAstray(memory.view.place, memory.data))

/** @param {RoomRole} role */
const ofMember = role => [
  ...role.follows ? [button("Explore alone", () => setFollows(false))] : [],
  ...!role.follows || isStray() ? [button("Back to the room", () => setFollows(true), true)] : [],
  button("Leave", () => leave("")),
]

/** @param {string} textContent @param {() => void} onclick @param {boolean} [calls] */
const button = (textContent, onclick, calls = false) => make("button", { type: "button", textContent, onclick, className: calls ? "calls" : "" })

/** The code and its QR code as large as the window, for a hall. */
function showCode() {
  const { root, role, data } = memory
  if (!root || !role || !data) return
  const dialog = make("dialog", { className: "code", ariaLabel: "How to enter the room" })
  const image = make("div", { innerHTML: data.qr }) // made by the server, of the room's link
  dialog.append(make("p", { className: "large", textContent: role.code }), make("p", { textContent: data.address }), image,
    button("Close", () => dialog.close()))
  dialog.onclose = () => dialog.remove()
  dialog.onkeydown = event => event.stopPropagation() // the page has keys of its own
  root.append(dialog)
  dialog.showModal()
}

/** A desk's link carries the owner's secret after #: that part is sent to no server. @returns {RoomRole | null} */
function ofLink() {
  const [, code, secret] = /^#([A-Z]{4})\.([\w-]{16,64})$/.exec(location.hash) ?? []
  if (!code) return null
  history.replaceState(history.state, "", location.pathname + location.search)
  return { code, secret, leads: false, follows: false }
}

function begin() {
  if (hasBegun) return
  hasBegun = true
  const role = ofLink() ?? recall()
  if (role) enter(role)
  addEventListener("hashchange", () => {
    const desk = ofLink()
    if (desk) enter(desk)
  })
  document.addEventListener("visibilitychange", goAlong)
  for (const type of ["pointerdown", "keydown"]) document.addEventListener(type, event => {
    if (memory.root && !event.composedPath().includes(memory.root)) hurry()
  }, { capture: true, passive: true })
  watchRuns(() => { if (memory.role) draw() }) // what the page says by then, the bar leaves out
  whenElsewhere(() => {
    const now = recall()
    if (memory.role?.leads && isLedElsewhere()) enter({ ...memory.role, leads: false })
    else if (!memory.role && now) enter(now)
  })
}

/** @param {{ data: RoomData, parentElement: HTMLElement | ShadowRoot, setTriggerValue: (name: string, value: unknown) => void }} component */
export default function ({ data, parentElement, setTriggerValue }) {
  const root = /** @type {HTMLElement} */ (parentElement.querySelector(".room"))
  Object.assign(memory, { data, root, tell: setTriggerValue })
  begin()
  const { opened, closed, join } = data
  if (opened && opened.secret !== memory.opened) { // the page goes on saying so, whatever has become of the room since
    memory.opened = opened.secret
    if (opened.code !== closed) enter({ ...opened, leads: true, follows: false })
  }
  if (closed && memory.role?.code === closed) leave(`Room ${closed} is closed. All that it kept is erased.`)
  if (join && memory.role?.code !== join) enter({ code: join, secret: "", leads: false, follows: true })
  tellPage()
  goAlong()
  draw()
  const bars = new ResizeObserver(() => page.style.setProperty("--classroom", `${root.offsetHeight}px`))
  bars.observe(root)
  return () => {
    bars.disconnect()
    if (memory.root === root) memory.root = null
  }
}
