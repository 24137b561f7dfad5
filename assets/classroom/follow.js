/* A tab that follows a room: its pictures show what the owner's link says as soon as it is said; the page is run when the owner rests,
   at a time of its own, as a hundred pages that are run at once would keep each other waiting. */

import { everywhere } from "../pictures/follow.js"
import { isRunning } from "../streamlit_private/dom.js"
import { placeHere } from "./lead.js"

const RESTS = 400 // ms after which the owner rests
const EACH = 40 // ms that the server needs for a page: so many times the members is the time over which their pages are run
const LOST = 6000, TRIES = 3 // ms after which a page that rests elsewhere is told again, and how often

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer

/** Go where the room is.
 * @param {RoomPlace} place
 * @param {RoomData} data of this page
 * @param {number} members who follow
 * @param {(wish: RoomPlace) => void} tell the page */
export function follow(place, data, members, tell) {
  clearTimeout(timer)
  if (isThere(place, data)) return
  if (!isSamePage(place, data)) return goOn(place, data, tell, 0)
  everywhere.follow(place.query)
  timer = setTimeout(() => {
    tell({ ...place, number: everywhere.followed(place.query) })
    timer = setTimeout(again, LOST, place, tell, 1)
  }, RESTS + Math.random() * EACH * members)
}

/** Stay where this page is. */
export function stay() {
  clearTimeout(timer)
  everywhere.retract()
}

/** @param {RoomPlace} place @param {RoomData} data @param {(wish: RoomPlace) => void} tell @param {number} tries */
function goOn(place, data, tell, tries) {
  tell({ ...place, number: data.heard })
  timer = setTimeout(again, LOST, place, tell, tries + 1)
}

/** An act in between may have ended the run that would have gone there.
 * @param {RoomPlace} place @param {(wish: RoomPlace) => void} tell @param {number} tries */
function again(place, tell, tries) {
  const data = window.attentionLabRoom?.data
  if (!data || data.page === place.page || tries >= TRIES) return
  if (isRunning()) timer = setTimeout(again, LOST, place, tell, tries)
  else goOn(place, data, tell, tries)
}

/** Whether this page shows the room's place. @param {RoomPlace} place @param {RoomData} data */
export const isThere = (place, data) => place.page === data.page && place.query === placeHere()

/** Whether the same pictures stand there. @param {RoomPlace} place @param {RoomData} data */
function isSamePage(place, { page, places }) {
  const [then, now] = [place.query, placeHere()].map(query => new URLSearchParams(query))
  return place.page === page && places.every(name => (then.get(name) ?? "") === (now.get(name) ?? ""))
}
