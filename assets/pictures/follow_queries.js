/* Queries of links, as follow_states.js changes and compares them. */

/* Parameters of the page alone: whether it is presented, and the step of a lesson. No picture depends on them. */
const OF_PAGE = new Set(["lesson", "present"])

/** The newest wish with other values, as a query.
 * @param {FollowState} state
 * @param {Values} changes */
export function changed({ latest, ahead, page }, changes) {
  const query = new URLSearchParams(latest ?? ahead ?? page.query ?? "")
  for (const [name, value] of Object.entries(changes)) query.set(name, String(value))
  return query.toString()
}

/** Whether two queries say the same of what a picture depends on.
 * @param {string} query
 * @param {string | null} other
 * @param {Values} local parameters on which no numbers depend */
export function isSame(query, other, local) {
  /** @param {string} text */
  const plain = text => JSON.stringify(
    [...new URLSearchParams(text)].filter(([name]) => !OF_PAGE.has(name) && !(name in local)).sort())
  return other !== null && plain(query) === plain(other)
}

/** Whether a query says nothing that another one does not say, too.
 * @param {string} query
 * @param {string | null} other */
export function isPartOf(query, other) {
  const all = new URLSearchParams(other ?? "")
  return other !== null && [...new URLSearchParams(query)].every(([name, value]) => OF_PAGE.has(name) || all.get(name) === value)
}

/** The parameters of a query that another one does not name.
 * @param {string} query
 * @param {string} other */
export function without(query, other) {
  const named = new URLSearchParams(other)
  return new URLSearchParams([...new URLSearchParams(query)].filter(([name]) => !named.has(name))).toString()
}

/** A query, with the parameters of another one that it does not name itself.
 * @param {string} query
 * @param {string} other */
export const together = (query, other) => [query, without(other, query)].filter(Boolean).join("&")

/** A query in the order in which the page writes it, if it says the same: a picture that has asked for nothing, as it depends
 * on nothing that was moved, shows the query of the address, whose order is another one.
 * @param {Pick<FollowState, "page">} state
 * @param {string | null} query */
export const asOnPage = ({ page }, query) => page.query !== null && isSame(page.query, query, page.local) ? page.query : query

/** What is expected of the page, without what it held beside its address and does not hold any more.
 * @param {FollowState} state */
export function stillKept({ kept, ahead, page }) {
  const gone = without(kept, page.query ?? "")
  return { kept: without(kept, gone), ahead: without(ahead ?? "", gone) }
}
