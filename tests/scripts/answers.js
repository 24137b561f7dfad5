/* What a server answers, without a server. */

/** A picture or words of such a header, as a part of an answer.
 * @param {object} header */
export function encoded(header) {
  const text = new TextEncoder().encode(JSON.stringify(header).padEnd(64))
  const bytes = new Uint8Array(8 + text.length)
  new DataView(bytes.buffer).setUint32(0, 4 + text.length, true)
  new DataView(bytes.buffer).setUint32(4, text.length, true)
  bytes.set(text, 8)
  return bytes
}
