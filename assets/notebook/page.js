/* A widget in a page of its own, without Python: what Python would answer to a choice is in the page, as far as it has room. */

/** @typedef {Record<string, unknown>} Traits with numbers as {bytes}, in base64 */

/** @param {Traits} traits @returns {Record<string, any>} */
const read = traits => Object.fromEntries(Object.entries(traits).map(([name, value]) => [name, isBytes(value) ? bytesOf(value.bytes) : value]))

/** @param {unknown} value @returns {value is { bytes: string }} */
const isBytes = value => typeof value === "object" && value !== null && "bytes" in value

/** @param {string} text */
const bytesOf = text => Uint8Array.from(atob(text), sign => sign.charCodeAt(0))

/** The traits of a widget, in the place of anywidget's.
 * @param {Traits} traits @param {Record<string, Record<string, Traits | undefined> | undefined>} answers by trait and value, as JSON
 * @returns {WidgetModel} */
export function pageModel(traits, answers) {
  const state = read(traits)
  /** @type {Record<string, any>} */
  let wishes = {}
  /** @type {Record<string, ((...told: any[]) => void)[] | undefined>} */
  const listeners = {}
  return {
    get: (/** @type {string} */ name) => state[name],
    set(name, value) { Object.assign(wishes, read(answers[name]?.[JSON.stringify(value)] ?? {})) },
    save_changes() {
      const names = Object.keys(wishes)
      Object.assign(state, wishes)
      wishes = {}
      for (const name of names) for (const act of listeners[`change:${name}`] ?? []) act()
    },
    on(event, act) { (listeners[event] ??= []).push(act) },
    off(event, act) { listeners[event] = listeners[event]?.filter(other => other !== act) },
    send() {},
  }
}
