/* A tab that follows a room: its pictures show what the owner's link says as soon as it is said, and so do the words that come with
   them. The page is run when the owner rests for long, at a time of its own, as a hundred pages that are run at once would keep each
   other waiting; or as soon as somebody touches it. A tab that nobody looks at waits. */

import { everywhere } from "../pictures/follow.js"
import { isToRun } from "../streamlit_private/dom.js"
import { asParameters } from "./lead.js"

const RESTS = 2500 // ms after which the owner rests: between two moves less time passes
const APART = 3 // ms between the pictures of two tabs: so many times the members is the time over which they are asked for
const EACH = 150 // ms that the server shall have for a page: so many times the members is the time over which their pages are run
const LOST = 6000, TRIES = 3 // ms after which a page that was not run is told again, and how often

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer
/** @type {ReturnType<typeof setTimeout> | undefined} */
let drawing // runs until the pictures are asked for
/** @type {(() => void) | undefined} tells the page, while that waits */
let pending
let arrived = NaN // the number of the place at which the page has been since it was told of it
let told = NaN // the number of the place that the page was told last: what it makes of that is its own matter

/** Go where the room is, unless this tab has done so.
 * @param {RoomPlace} place
 * @param {RoomData} data of this page
 * @param {number} members who follow
 * @param {(wish: RoomPlace) => void} tell the page */
export function follow(place, data, members, tell) {
  if (place.number === told || document.visibilityState === "hidden") return
  clearTimeout(timer)
  clearTimeout(drawing)
  pending = undefined
  // Of an address that the page is about to leave, as it was told another place, nothing follows.
  if (Number.isNaN(told) && isThere(place, data)) return void (told = place.number)
  if (!isSamePage(place, data)) return goOn(place, data.heard, tell, 1)
  drawing = setTimeout(() => everywhere.follow(place.query), Math.random() * APART * members)
  pending = () => goOn(place, everywhere.followed(place.query), tell, 1)
  timer = setTimeout(pending, RESTS + Math.random() * EACH * members)
}

/** Note whether this page has come where the room is. @param {RoomPlace} place @param {RoomData} data */
export function arrive(place, data) {
  if (place.number === told && isSamePage(place, data)) arrived = told
}

/** Whether this page, which was where the room is, is another one since, or has other pictures: who follows has gone elsewhere.
 * @param {RoomPlace} place @param {RoomData} data */
export const isAstray = (place, data) => arrived === place.number && !isSamePage(place, data) && !pending

/** The page is needed now: somebody is about to act on it, or leaves the room. */
export function hurry() {
  if (!pending) return
  clearTimeout(timer)
  pending()
}

/** Go nowhere any more, as this tab is in another room. */
export function cancel() {
  clearTimeout(timer)
  clearTimeout(drawing)
  pending = undefined
  told = arrived = NaN
}

/** Stay where the room was last. */
export function stay() {
  hurry()
  clearTimeout(timer)
  told = arrived = NaN
}

/** @param {RoomPlace} place @param {number} number of the commit @param {(wish: RoomPlace) => void} tell @param {number} tries */
function goOn(place, number, tell, tries) {
  clearTimeout(drawing)
  pending = undefined
  told = place.number
  tell({ ...place, number })
  timer = setTimeout(again, LOST, window.attentionLabRoom?.data, place, number, tell, tries)
}

/** An act in between may have ended the run that would have gone there.
 * @param {RoomData | null | undefined} before what the page said when it was told
 * @param {RoomPlace} place @param {number} number @param {(wish: RoomPlace) => void} tell @param {number} tries */
function again(before, place, number, tell, tries) {
  const data = window.attentionLabRoom?.data, hasRun = arrived === place.number || data !== before && data?.page === place.page
  if (!data || hasRun || tries >= TRIES) return
  if (isToRun()) timer = setTimeout(again, LOST, before, place, number, tell, tries)
  else goOn(place, number, tell, tries + 1)
}

/** Whether this page says what the room does. @param {RoomPlace} place @param {RoomData} data */
const isThere = (place, data) => place.page === data.page && place.query === asParameters(location.search)

/** Whether the same pictures stand there. @param {RoomPlace} place @param {RoomData} data */
function isSamePage(place, { page, places }) {
  const [then, now] = [place.query, location.search].map(query => new URLSearchParams(query))
  return place.page === page && places.every(name => (then.get(name) ?? "") === (now.get(name) ?? ""))
}
