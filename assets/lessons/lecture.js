/* The lecture that a visitor puts together, as the text of its file, which this browser keeps with the time of its last change.
   Each page says what it knows by now, and hears what was changed later: before, or in another tab. */

const KEY = "attention-lab-lecture"

/** @returns {Lecture} */
function read() {
  try {
    const { text, changed } = JSON.parse(localStorage.getItem(KEY) ?? "{}")
    return { text: String(text ?? ""), changed: Number(changed) || 0 }
  } catch {
    return { text: "", changed: 0 } // no storage here, or not ours
  }
}

/** @param {Lecture} lecture */
function write(lecture) {
  try {
    localStorage.setItem(KEY, JSON.stringify(lecture))
  } catch {
    // A browser without storage: the session still knows, until its tab is closed.
  }
}

/** @param {{ data: Lecture, setTriggerValue: (name: "told", value: Lecture) => void }} component */
export default function ({ data, setTriggerValue }) {
  const tell = () => {
    const kept = read()
    if (kept.changed > data.changed && kept.changed !== window.attentionLabLecture) {
      window.attentionLabLecture = kept.changed // once: the server leaves out what is no lecture
      setTriggerValue("told", kept)
    }
  }
  if (data.changed > read().changed) write({ text: data.text, changed: data.changed })
  tell()
  /** @param {StorageEvent} event */
  const inAnotherTab = event => { if (event.key === KEY) tell() }
  addEventListener("storage", inAnotherTab)
  return () => removeEventListener("storage", inAnotherTab)
}
