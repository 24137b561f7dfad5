/* Asking the server for the bytes of pictures. */

/** @type {Map<string, { names: string[], answer: Promise<AnswerForAll> }>} */
const asked = new Map() // query -> the names asked for in this moment, and the answer to come

/** One picture: its bytes, or why there are none. Pictures that are asked for at the same time travel together.
 * @param {string} name
 * @param {string} query
 * @returns {Promise<{ bytes: Uint8Array } | Problem>} */
export function picture(name, query) {
  let together = asked.get(query)
  if (!together) {
    /** @type {string[]} */
    const names = []
    const answer = Promise.resolve().then(() => { // when all have asked
      asked.delete(query)
      return question(names, query)
    })
    asked.set(query, together = { names, answer })
  }
  if (!together.names.includes(name)) together.names.push(name)
  return together.answer.then(answer => "pictures" in answer ? { bytes: answer.pictures[name] } : answer)
}

/** @type {Problem} */
const UNREACHED = { problem: "The server was not reached.", again: 0 }

/** @param {string[]} names
 * @param {string} query
 * @returns {Promise<AnswerForAll>} */
async function question(names, query) {
  const address = new URL(`pictures/${names.join("+")}`, document.baseURI)
  const response = await fetch(address, { method: "POST", body: query }).catch(() => null)
  if (!response) return UNREACHED
  if (!response.ok) {
    const problem = await response.text().catch(() => "") || `The server answered ${response.status}.`
    const wait = Number(response.headers.get("Retry-After"))
    return [502, 503, 504].includes(response.status) ? { problem, again: 1000 * wait } : { problem }
  }
  const bytes = await response.arrayBuffer().catch(() => null) // broken off on its way
  return bytes ? { pictures: split(new Uint8Array(bytes), names) } : UNREACHED
}

/** The answer holds, for each picture, u32 length | bytes.
 * @param {Uint8Array} bytes
 * @param {string[]} names */
export function split(bytes, names) {
  const lengths = new DataView(bytes.buffer)
  /** @type {Record<string, Uint8Array>} */
  const pictures = {}
  let at = 0
  for (const name of names) {
    const length = lengths.getUint32(at, true)
    pictures[name] = bytes.subarray(at + 4, at + 4 + length)
    at += 4 + length
  }
  return pictures
}
