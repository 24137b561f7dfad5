/* What chart.js, knobs.js and slider.js get, and what Plotly gives. */

interface ChartHeader extends Header {
  figure: { data: any[]; layout: any } // as Plotly's JSON, with typed arrays
}

/** Plotly's script, which is fetched when a chart wants it. */
declare const Plotly: any

/** The element in which Plotly draws. */
interface PlotElement extends HTMLElement {
  data: any[]
  layout: any
  _fullData: any[]
  _fullLayout: any
  on(event: string, act: (what: any) => void): void
}

interface Knob {
  label: string
  parameter: string
  value: number
  low: number
  high: number
  stops: number[]
  digits: number
}

/** What a row of sliders is drawn with, in a picture or beside the page. */
type Sliders = PictureActs & Pick<Picture<Header & { knobs: Knob[] }>, "header" | "root" | "late">

/** What a slider keeps from one update of its picture to the next. */
interface SliderMemory {
  dragging?: boolean
  began?: string
  isHeld?: boolean // by a finger or a mouse, which lets it go
  row?: ReturnType<typeof setTimeout> // until a row of key presses has ended
  letGo?: () => void
}
