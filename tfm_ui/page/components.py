"""Scripts of ours as Streamlit components: what a page mounts, and how a canvas gets onto it.

Streamlit sends a component's script with every update. So these scripts are short, and fetch the real ones.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import streamlit as st

from tfm_ui.pictures.canvas import Canvas, version

LOADER = """
const script = import(new URL("assets/%s/%s.js", document.baseURI))
export default function (component) {
  let cleanup, gone
  script.then(module => { if (!gone) cleanup = module.default(component) })
  return () => { gone = true; cleanup?.() }
}
"""
CANVAS_LOADER = """
let follow, draw, style
const file = name => new URL("assets/%s/" + name, document.baseURI)
const text = name => fetch(file(name)).then(answer => answer.text())
const all = Promise.all([
  import(file("pictures/follow.js")), import(file("%s.js")), text("pictures/canvas.css"), text("%s.css")
]).then(([first, second, ...css]) => {
  follow = first.follow
  draw = second.default
  style = new CSSStyleSheet()
  style.replaceSync(css.join(""))
})
function update(component) {
  const sheets = component.parentElement.getRootNode().adoptedStyleSheets
  if (!sheets.includes(style)) sheets.push(style)
  follow(component, draw)
}
export default function (component) {
  if (draw) update(component)
  else all.then(() => update(component))
}
"""


@cache
def mounted(canvas: Canvas) -> Callable[..., Any]:
    """What puts a canvas on the page: its Streamlit component, which is made when the first page wants it."""
    script = CANVAS_LOADER % (version(), canvas.path, canvas.path)
    component: Callable[..., Any] = st.components.v2.component(canvas.name, html=canvas.html, js=script)
    return component
