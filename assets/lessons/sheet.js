/* The buttons above a sheet: it is printed when all of its pictures are there, and saved as one file that needs no server. */

const PAUSE = 2500 // ms after which a picture that a busy server has refused is asked for again
const MOST = 8 // times

/** @param {string} id */
const element = id => /** @type {HTMLElement} */ (document.getElementById(id))
const state = element("state")
const pictures = [...document.images]

/** A picture that is there, or a sentence in its place; a busy server is asked again.
 * @param {HTMLImageElement} picture @param {number} [times] @returns {Promise<void>} */
async function there(picture, times = 1) {
  try {
    await picture.decode()
  } catch {
    if (times >= MOST) return picture.replaceWith(sentence(picture.alt))
    await new Promise(done => setTimeout(done, PAUSE))
    picture.src = String(picture.src)
    return there(picture, times + 1)
  }
}

/** @param {string} alt */
function sentence(alt) {
  const said = document.createElement("p")
  said.className = "problem"
  said.textContent = `The picture “${alt}” could not be computed now. Load the page again to ask once more.`
  return said
}

/** Tell how many pictures are there, and wait for all of them. */
async function allThere() {
  let left = pictures.length
  const tell = () => { state.textContent = left ? `${pictures.length - left} of ${pictures.length} pictures are there` : "" }
  tell()
  await Promise.all(pictures.map(async picture => {
    await there(picture)
    left -= 1
    tell()
  }))
  document.body.dataset.there = "true"
}

/** @param {string} address */
async function inlined(address) {
  const bytes = new Uint8Array(await (await fetch(address)).arrayBuffer())
  let text = ""
  for (const byte of bytes) text += String.fromCharCode(byte)
  return `data:image/svg+xml;base64,${btoa(text)}`
}

async function save() {
  await ready
  const copy = /** @type {HTMLElement} */ (document.documentElement.cloneNode(true))
  for (const part of copy.querySelectorAll("script, .bar")) part.remove()
  for (const picture of copy.getElementsByTagName("img")) {
    picture.src = await inlined(new URL(picture.getAttribute("src") ?? "", location.href).href)
  }
  const file = new Blob([`<!doctype html>\n<html lang="en">${copy.getHTML()}</html>\n`], { type: "text/html" })
  const link = document.createElement("a")
  link.href = URL.createObjectURL(file)
  link.download = `${document.title.replace(/[^\p{L}\p{N}]+/gu, "-")}.html`
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}

const ready = allThere()
element("print").addEventListener("click", async () => { await ready; print() })
element("save").addEventListener("click", save)
if (location.hash === "#print") ready.then(() => print())
