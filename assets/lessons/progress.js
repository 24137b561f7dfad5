/* A learner's progress, which this browser keeps: lesson -> step -> what is known of it. Each page says what it knows by now, and
   hears what it does not know. What two tabs know is put together. When the learner has it forgotten, the age that is kept beside
   it goes up by one, so that another tab, which still knows all, forgets it too. */

import { markEachOnce } from "../pictures/glossary.js"

const KEY = "attention-lab-progress"

/** @returns {{ age: number, lessons: Progress }} */
function read() {
  try {
    const { age, lessons } = JSON.parse(localStorage.getItem(KEY) ?? "{}")
    return { age: Number(age) || 0, lessons: lessons && typeof lessons === "object" ? lessons : {} }
  } catch {
    return { age: 0, lessons: {} } // no storage here, or not ours
  }
}

/** @param {number} age @param {Progress} lessons */
function write(age, lessons) {
  try {
    localStorage.setItem(KEY, JSON.stringify({ age, lessons }))
  } catch {
    // A browser without storage: the session still knows, until its tab is closed.
  }
}

/** @param {Progress} before @param {Progress} now */
function merged(before, now) {
  const all = structuredClone(before)
  for (const [lesson, steps] of Object.entries(now)) {
    all[lesson] = { ...all[lesson] }
    for (const [step, done] of Object.entries(steps)) all[lesson][step] = { ...all[lesson][step], ...done }
  }
  return all
}

/** What is known, as text; it is the same in whatever order it was heard.
 * @param {Progress} progress */
const inOrder = progress => JSON.stringify(progress, (_, value) =>
  value && typeof value === "object" ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1)) : value)

/** @param {{ data: { progress: Progress, forgotten: number },
 *   setTriggerValue: (name: "told", value: { progress: Progress, anew: boolean }) => void }} component */
export default function ({ data: { progress, forgotten }, setTriggerValue }) {
  markEachOnce() // also where there is no lens
  const kept = read(), memory = window.attentionLabProgress ??= { age: kept.age, forgotten: 0, told: "" }
  if (forgotten > memory.forgotten) { // in this tab, just now
    Object.assign(memory, { forgotten, age: kept.age + 1 })
    return write(memory.age, progress)
  }
  const anew = kept.age > memory.age, all = anew ? kept.lessons : merged(kept.lessons, progress)
  memory.age = Math.max(memory.age, kept.age)
  write(memory.age, all)
  const text = inOrder(all)
  if (text === inOrder(progress) || text === memory.told) return
  memory.told = text // once: the server leaves out what is no progress
  setTriggerValue("told", { progress: all, anew })
}
