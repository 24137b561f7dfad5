/* What clocks.js and entry.js get of tfm_ui, and what their parts say to each other. */

interface ClocksHeader extends Header {
  pairs: number[]
  count: number
  dimensions?: Point[] // of each pair that is drawn; without them, the pair and as many on as there are pairs
  wavelengths: number[]
  at: { query: number; key: number }
  parameters: { query: string; key: string }
  last: number
}

interface Clock {
  pair: number
  dimensions: Point
  isNamed: boolean // below the clock, too
  wavelength: number
  hands: Float32Array // cosine and sine of the query, of the key, and the angle between them
}

/** A box of the diagram. */
interface EntryStep {
  text: string
  note: string
  layer: boolean
  place: boolean
  marks: ["A" | "B", string][]
}

interface EntryBox extends EntryStep {
  x: number
  y: number
  w: number
}

interface EntryRow {
  title: string
  lines: EntryBox[][]
  top: number
}

interface EntryHeader extends Header {
  rows: { title: string; steps: EntryStep[] }[]
  layers: number
}

type EntrySizes = Record<"box" | "arrow" | "title" | "pad" | "chip" | "band", number>
