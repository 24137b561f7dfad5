/* What widget.js gets of attention_lab/picture.py, and of anywidget. */

/** A canvas: its elements, its style, its script's default export, and whether that needs Plotly. */
interface Kind {
  name: string
  html: string
  css: string
  draw: Draw
  needsPlotly: boolean
}

/** What Python says of one of the widget's pictures. */
interface WidgetPart {
  title: string
  sentence: string
  shape: string
  header: Record<string, unknown> // takes the place of these entries of the header that came with the numbers
  // What the picture calls a choice -> the traitlet that holds it, and the number of the first where that is not 0 as in Python.
  sets: Record<string, string | [string, number] | undefined>
  local: Values
}

/** The traits that Python reads and sets. In a file of its own nobody reads them. */
interface WidgetModel {
  get(name: "parts"): WidgetPart[]
  get(name: "notes"): string[]
  get(name: "mode"): "auto" | "light" | "dark"
  get(name: string): any
  set(name: string, value: unknown): void
  save_changes(): void
  on(event: string, act: (...told: any[]) => void): void
  off(event: string, act: (...told: any[]) => void): void
  send(message: unknown): void
}

/** The colours around pictures, as variables of style sheets, by mode. */
type Dresses = Record<"light" | "dark", Record<string, string>>
