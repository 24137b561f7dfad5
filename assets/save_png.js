/* Has the panel's picture saved: a canvas of ours saves itself, of a Plotly chart its own button is pressed. */
export default function ({ data, parentElement }) {
  parentElement.querySelector("button").onclick = () => {
    const panel = document.querySelector(`.st-key-panel_${data.panel}`)
    for (const host of panel.querySelectorAll("*")) host.shadowRoot?.querySelector("[data-picture]")?.savePicture(data.file)
    panel.querySelector(".modebar-btn[data-title^='Download']")?.click()
  }
}
