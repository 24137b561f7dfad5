/* Where the owner is, for those who follow: the page and its link, and what a picture is being dragged to. It is said when it rests,
   and while it moves once a second. What is typed is in neither before it is applied. */

import { isToRun } from "../streamlit_private/dom.js"
import { send } from "./line.js"

export const RESTS = 100 // ms after which nothing moves any more
const LOOK = 50, SECOND = 1000, WAITS = 5000 // ms; the last after a place that was refused
const SETTLES = 1500 // ms for which an address may change on its way to another: a run of the page may write several
const MOST = 2 // places in a second; while something moves, one
const OF_TAB = ["present", "talk", "after", "code"] // parameters that concern this tab alone

/** The parameters of an address, without those of a tab, in the order of their names.
 * @param {string} search @param {Record<string, string>} [moved] what pictures show and the address does not know of yet */
export function asParameters(search, moved = {}) {
  const query = new URLSearchParams(search)
  for (const [name, value] of Object.entries(moved)) query.set(name, value)
  for (const name of OF_TAB) query.delete(name)
  query.sort()
  return query.toString()
}

/** What moves, without what is being typed. @param {Record<string, string>} moved @param {string[]} typed */
export const without = (moved, typed) => Object.fromEntries(Object.entries(moved).filter(([name]) => !typed.includes(name)))

/** Whether a place is to be said now: at once where it rests, and while it moves once a second.
 * @param {number[]} sent when places were said within the last second @param {number} rested ms since it moved last */
export const isDue = (sent, rested) => sent.length < (rested < RESTS ? 1 : MOST)

/** Say where this tab is, for as long as the room follows it; returns what ends that.
 * @param {() => RoomHere | null} now where it is; null while the room does not follow it */
export function lead(now) {
  let said = "", last = "", since = 0, isSending = false
  /** @type {number[]} */
  let sent = [] // when, within the last second
  const timer = setInterval(async () => {
    const here = now()
    if (!here || isSending) return
    const moved = without(window.attentionLabCarried?.() ?? {}, here.typed), query = asParameters(location.search, moved)
    const place = `${here.page}?${query}`, time = performance.now()
    if (place !== last) [last, since] = [place, time]
    if (place === said || isToRun() && !Object.keys(moved).length && time - since < SETTLES) return
    sent = sent.filter(when => time - when < SECOND)
    if (!isDue(sent, time - since)) return
    isSending = true
    sent.push(time)
    const problem = await send(here.role, "place", { page: here.page, query, number: Math.max(Date.now(), here.after + 1) })
    isSending = false
    if (!problem) said = place
    else sent = [time + WAITS, time + WAITS] // not again and again
  }, LOOK)
  return () => clearInterval(timer)
}
