/* Has the panel's picture save itself. */
export default function ({ data, parentElement }) {
  parentElement.querySelector("button").onclick = () => {
    const panel = document.querySelector(`.st-key-panel_${data.panel}`)
    for (const host of panel.querySelectorAll("*")) host.shadowRoot?.querySelector("[data-picture]")?.savePicture(data.file)
  }
}
