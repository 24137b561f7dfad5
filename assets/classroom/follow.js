/* A tab that follows a room: its pictures show what the owner's link says as soon as it is said; the page is run when the owner rests,
   at a time of its own, as a hundred pages that are run at once would keep each other waiting. A tab that nobody looks at waits. */

import { everywhere } from "../pictures/follow.js"
import { isToRun } from "../streamlit_private/dom.js"
import { placeHere } from "./lead.js"

const RESTS = 400 // ms after which the owner rests
const EACH = 40 // ms that the server needs for a page: so many times the members is the time over which their pages are run
const LOST = 6000, TRIES = 3 // ms after which a page that is elsewhere is told again, and how often

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer
let told = NaN // the number of the place that the page was told last: what it makes of that is its own matter

/** Go where the room is, unless this tab has done so.
 * @param {RoomPlace} place
 * @param {RoomData} data of this page
 * @param {number} members who follow
 * @param {(wish: RoomPlace) => void} tell the page */
export function follow(place, data, members, tell) {
  if (place.number === told || document.visibilityState === "hidden") return
  clearTimeout(timer)
  // Of an address that the page is about to leave, as it was told another place, nothing follows.
  if (Number.isNaN(told) && isThere(place, data)) return void (told = place.number)
  if (!isSamePage(place, data)) return goOn(place, data.heard, tell, 1)
  everywhere.follow(place.query)
  timer = setTimeout(() => goOn(place, everywhere.followed(place.query), tell, 1), RESTS + Math.random() * EACH * members)
}

/** Stay where this page is. */
export function stay() {
  clearTimeout(timer)
  told = NaN
  everywhere.retract()
}

/** @param {RoomPlace} place @param {number} number of the commit @param {(wish: RoomPlace) => void} tell @param {number} tries */
function goOn(place, number, tell, tries) {
  told = place.number
  tell({ ...place, number })
  timer = setTimeout(again, LOST, place, number, tell, tries)
}

/** An act in between may have ended the run that would have gone there.
 * @param {RoomPlace} place @param {number} number @param {(wish: RoomPlace) => void} tell @param {number} tries */
function again(place, number, tell, tries) {
  const data = window.attentionLabRoom?.data
  if (!data || isThere(place, data) || tries >= TRIES) return
  if (isToRun()) timer = setTimeout(again, LOST, place, number, tell, tries)
  else goOn(place, number, tell, tries + 1)
}

/** Whether this page shows the room's place. @param {RoomPlace} place @param {RoomData} data */
export const isThere = (place, data) => place.page === data.page && place.query === placeHere()

/** Whether the same pictures stand there. @param {RoomPlace} place @param {RoomData} data */
function isSamePage(place, { page, places }) {
  const [then, now] = [place.query, placeHere()].map(query => new URLSearchParams(query))
  return place.page === page && places.every(name => (then.get(name) ?? "") === (now.get(name) ?? ""))
}
