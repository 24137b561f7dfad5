/* The button "PNG" of a panel: its picture saves itself. */
/** @param {{ data: { panel: string, file: string }, parentElement: HTMLElement }} component */
export default function ({ data, parentElement }) {
  parentElement.querySelector("button").onclick = () => {
    const panel = document.querySelector(`.st-key-panel_${data.panel}`)
    for (const host of panel.querySelectorAll("*")) {
      const picture = /** @type {PictureRoot | null | undefined} */ (host.shadowRoot?.querySelector("[data-picture]"))
      picture?.savePicture?.(data.file)
    }
  }
}
