/* What was chosen last, which this browser keeps: the newest first. */

const KEY = "attention-lab-search"
export const MOST = 8

/** The ids of what was chosen last. @returns {string[]} */
export function recent() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "[]")
    return Array.isArray(kept) ? kept.filter(id => typeof id === "string").slice(0, MOST) : []
  } catch {
    return [] // no storage here, or not ours
  }
}

/** Keep a choice as the newest. @param {string} id */
export function keep(id) {
  try {
    localStorage.setItem(KEY, JSON.stringify([id, ...recent().filter(other => other !== id)].slice(0, MOST)))
  } catch {
    // A browser without storage: nothing is kept.
  }
}
