/* What lines.js, strips.js, bars.js, pairs.js, knobs.js and slider.js get, and what their parts say to each other. */

type ScaleName = "linear" | "log2" | "log10"

/** An axis: `to` gives 0 to 1, `ticks` are the values that are named. */
interface ChartAxis {
  to(value: number): number
  ticks: number[]
}

interface LineHeader {
  name: string
  colour: string // a role, or "head 3"
  style: "solid" | "dashed" | "thin" | "dots"
  count: number
  mark: string
}

interface Line extends LineHeader {
  x: Float32Array
  y: Float32Array
}

interface ChartHeader<L = LineHeader> {
  x: string
  y: string
  xScale: ScaleName
  yScale: ScaleName
  reach: number[]
  marks: { name: string; x: number }[]
  ranges: { name: string; from: number; to: number }[]
  lines: L[]
}

/** A chart with its place. */
interface Chart extends ChartHeader<Line> {
  x0: number
  y0: number
  each: number // its width, names included
  left: number // of the plot
  top: number
  width: number
  height: number
  horizontal: ChartAxis
  vertical: ChartAxis
  at(x: number, y: number): Point
  stops: Float32Array // every x that has a value
  known?: Float32Array
  called: Point[] // where the names of points stand
}

interface LinesHeader extends Header {
  charts: ChartHeader[]
  gap: string
}

interface Group {
  name: string
  colour: string
  hollow: boolean
}

interface StripHeader {
  name: string
  detail: string
  group: number
  rounds: number[]
  end: string
  said: string
}

interface Strip extends StripHeader {
  colour: string
  hollow: boolean
  low: number
  middle: number
  high: number
  dots: number[]
  rising: number[] // the places of the dots, the smallest first
}

/** Strips that share a name. */
interface StripRow {
  name: string
  detail: string
  strips: number[]
  top: number
}

interface StripPlace {
  top: number
  height: number
  middle: number
  spots: (Point | null)[]
  left: number
  right: number
  at(x: number): number
}

interface StripsHeader extends Header {
  axis: string
  unit: string
  scale: ScaleName
  line: { name: string; x: number } | null
  least: boolean
  groups: Group[]
  strips: StripHeader[]
}

type StripsLayout = ReturnType<typeof import("./strips_drawing.js").layOutStrips>

interface BarsHeader extends Header {
  names: string[]
  values: string[]
  gap: string
  reference?: number
}

interface PairsHeader extends Header {
  names: string[]
  series: [string, string]
  roles: [Role, Role]
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

/** What a slider keeps from one update of its picture to the next. */
interface SliderMemory {
  dragging?: boolean
  began?: string
}
