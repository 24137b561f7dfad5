/* What the Training lens's pictures get of tfm_ui. */

interface LearnRow {
  name: string
  heads: number
  kind: string
  queries: string[]
  keys: string[]
  causal: boolean
  scores: { pattern: number, heads: number[] }[][] // of each snapshot
}

interface LearnHeader extends Header {
  figure: { data: any[]; layout: any }
  snapshots: number[]
  told: string[] // what was measured at each snapshot
  rows: LearnRow[]
  patterns: { name: string, why: string, kind: string, cells: Point[] }[]
  source: string[]
  asked: string[] // the right answer at each place, "" where nothing is asked
  said: string[][] // at each snapshot
  done: number
  steps: number
  live: boolean
  complete: boolean
}

interface LearnPlace {
  row: LearnRow
  head: number
  from: number // its first weight among those of a snapshot
  x: number
  y: number
  cell: number
}

interface LearnScene {
  context: Context
  header: LearnHeader
  weights: Float32Array // of the snapshot on screen
  skin: Skin
  table: string[]
  places: LearnPlace[]
  at: number
}
