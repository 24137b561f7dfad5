/* What this browser keeps of rooms: in this tab, which room it is in and whether it follows or leads; in all tabs, the secret of a room
   that was opened here, and which tab leads. */

const TAB = "attention-lab-room", OWNED = "attention-lab-owned-room"

/* Where a browser keeps nothing, to name its storage is an error already. */
const ofTab = () => sessionStorage, ofBrowser = () => localStorage

/** @param {() => Storage} storage @param {string} key @returns {any} */
function read(storage, key) {
  try {
    return JSON.parse(storage().getItem(key) ?? "null") ?? {}
  } catch {
    return {} // no storage here, or not ours
  }
}

/** @param {() => Storage} storage @param {string} key @param {unknown} value null to forget */
function write(storage, key, value) {
  try {
    if (value === null) storage().removeItem(key)
    else storage().setItem(key, JSON.stringify(value))
  } catch {
    // A browser without storage: this window still knows.
  }
}

const name = Math.random().toString(36).slice(2) // of this window

/** The room of this tab, or the one that this browser owns. @returns {RoomRole | null} */
export function recall() {
  const tab = read(ofTab, TAB), owned = read(ofBrowser, OWNED)
  const code = String(tab.code || owned.code || "")
  if (!code) return null
  const secret = owned.code === code ? String(owned.secret ?? "") : ""
  return { code, secret, leads: Boolean(secret && tab.leads), follows: !secret && tab.follows !== false }
}

/** @param {RoomRole} role */
export function keep({ code, secret, leads, follows }) {
  write(ofTab, TAB, { code, leads, follows })
  if (secret) write(ofBrowser, OWNED, { code, secret, leader: leads ? name : read(ofBrowser, OWNED).leader })
}

/** @param {string} code of a room that is over, or that this tab has left */
export function forget(code) {
  write(ofTab, TAB, null)
  if (read(ofBrowser, OWNED).code === code) write(ofBrowser, OWNED, null)
}

/** Call this when another tab of this browser leads, opens a room or closes it. @param {() => void} then */
export const whenElsewhere = then => addEventListener("storage", event => { if (event.key === OWNED) then() })

/** Whether another window of this browser has taken the lead since. */
export const isLedElsewhere = () => (read(ofBrowser, OWNED).leader ?? name) !== name
