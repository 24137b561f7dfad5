/* Finds entries of the index by what was typed: whole words and beginnings of words first, then in spite of typing mistakes.
   The index is that of tfm_ui/search/index.py. Nothing here knows the page. */

import MiniSearch from "../minisearch/minisearch-7.2.0.js"

/* Words that stand in most texts, and so tell nothing apart. */
const FILLERS = new Set(
  "a an and are as at be by can do does for from has have how i in is it its of on one or that the this to was what with".split(" "))
/* Signs that are looked for by a word. */
const SIGNS = new Map([["√", " square root "], ["∞", " infinity "], ["×", " times "], ["β", " beta "], ["ε", " epsilon "]])
const SIGN = new RegExp([...SIGNS.keys()].join("|"), "g")
const BOOST = { title: 5, also: 2.5, place: 1, words: 1 }
/** @type {Record<string, number>} */
const KINDS = { view: 1.3, word: 1.2, setting: 1.1, question: 1, step: 1 }
const FEW = 6 // entries with all of the words, below which others fill up
const RECENT = 1.6, SAME_TITLE = 3, BEGINS_TITLE = 1.4

/** A text without accents, small and raised letters, in small letters; signs as words. @param {string} text */
export const plain = text => text.replace(SIGN, sign => SIGNS.get(sign) ?? sign).normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase()

/** The words of a text, as the index has them. @param {string} text @returns {string[]} */
export const wordsOf = text => plain(text).split(/[^\p{L}\p{N}]+/u).filter(Boolean)

/** How many letters of a word may be wrong. @param {string} term @param {number} most */
const mistakes = (term, most) => Math.min(most, term.length < 4 ? 0 : term.length < 5 ? 1 : 2)

/** @param {IndexRow[]} rows @returns {Finding} */
export function findingOf(rows) {
  const entries = rows.map(([kind, name, title, place, words, also]) => ({ id: `${kind} ${name}`, kind, name, title, place, words, also }))
  const byId = new Map(entries.map(entry => [entry.id, entry]))
  const index = new MiniSearch({ idField: "id", fields: Object.keys(BOOST), tokenize: wordsOf, processTerm: term => FILLERS.has(term) ? null : term })
  index.addAll(entries)

  /** @param {string} text the words that tell something @param {string} asked all words @param {Set<string>} recent
   * @param {"AND" | "OR"} combineWith @param {number} most mistakes in a word */
  function search(text, asked, recent, combineWith, most) {
    /** @param {string} id */
    const boost = id => {
      const { kind, title } = /** @type {SearchEntry} */ (byId.get(id)), called = wordsOf(title).join(" ")
      const same = called === asked ? SAME_TITLE : called.startsWith(asked) ? BEGINS_TITLE : 1
      return KINDS[kind] * same * (recent.has(id) ? RECENT : 1)
    }
    return index.search(text, {
      boost: BOOST, boostDocument: boost, combineWith,
      fuzzy: term => mistakes(term, most) || false,
      prefix: true, weights: { fuzzy: 0.4, prefix: 0.6 }, processTerm: term => term,
    })
  }

  return {
    entry: id => byId.get(id),
    find(typed, recent = new Set()) {
      const words = wordsOf(typed), telling = words.filter(word => !FILLERS.has(word))
      const text = (telling.length ? telling : words.slice(-1)).join(" ") // "to" may become "token"
      if (!text) return { hits: [], isClosest: false }
      /** @type {Hit[]} */
      let all = []
      for (const most of [0, 1, 2]) {
        all = search(text, words.join(" "), recent, "AND", most).map(hit)
        if (all.length) break
      }
      const isClosest = !all.length
      if (all.length < FEW) { // what has some of the words stands below what has all of them
        const there = new Set(all.map(({ entry }) => entry.id))
        all.push(...search(text, words.join(" "), recent, "OR", 2).map(hit).filter(({ entry }) => !there.has(entry.id)).slice(0, FEW - all.length))
      }
      return { hits: all, isClosest }
    },
  }

  /** @param {{ id: string, terms: string[] }} result @returns {Hit} */
  function hit({ id, terms }) {
    return { entry: /** @type {SearchEntry} */ (byId.get(id)), terms: new Set(terms) }
  }
}

/** A text in pieces, of which those are marked whose words were found.
 * @param {string} text @param {Set<string>} terms @returns {[string, boolean][]} */
export function pieces(text, terms) {
  /** @type {[string, boolean][]} */
  const all = []
  for (const piece of text.match(/[\p{L}\p{N}\p{M}√∞×]+|[^\p{L}\p{N}\p{M}√∞×]+/gu) ?? []) {
    const isMarked = wordsOf(piece).some(word => terms.has(word))
    const last = all.at(-1)
    if (last && last[1] === isMarked) last[0] += piece
    else all.push([piece, isMarked])
  }
  return all
}
