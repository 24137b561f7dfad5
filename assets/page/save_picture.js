/* A button of a panel that lets its picture save itself; the file's ending says as what. */
/** @param {{ data: { panel: string, file: string, label: string }, parentElement: HTMLElement }} component */
export default function ({ data, parentElement }) {
  const button = parentElement.querySelector("button")
  button.textContent = data.label
  button.onclick = () => {
    const panel = document.querySelector(`.st-key-panel_${data.panel}`)
    for (const host of panel.querySelectorAll("*")) {
      const picture = /** @type {PictureRoot | null | undefined} */ (host.shadowRoot?.querySelector("[data-picture]"))
      picture?.savePicture?.(data.file)
    }
  }
}
