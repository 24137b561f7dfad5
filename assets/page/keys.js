/* Keys that press buttons, for presenting: data.keys maps a key to the Streamlit key of a button.

   A picture or a box that has the focus keeps its keys. PageUp and PageDown, which a presenter's remote control sends,
   always count. */

const ALWAYS = ["PageUp", "PageDown"]
const KEEPS = "input, textarea, select, summary, [role=slider], [role=combobox], [role=listbox], [role=dialog], [contenteditable]"

/** @param {{ data: { keys: Record<string, string> } }} component */
export default function ({ data: { keys } }) {
  /** @param {KeyboardEvent} event */
  function press(event) {
    const [inside] = event.composedPath() // behind the shadow root of a component
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || !keys[event.key]) return
    if (!ALWAYS.includes(event.key) && (inside !== event.target || inside instanceof Element && inside.closest(KEEPS))) return
    const button = document.querySelector(`.st-key-${keys[event.key]} button`)
    if (!button || button.disabled) return
    event.preventDefault()
    button.click()
  }
  document.addEventListener("keydown", press)
  return () => document.removeEventListener("keydown", press)
}
