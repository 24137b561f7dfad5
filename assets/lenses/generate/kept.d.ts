/* What the picture of the view "kept" gets of tfm_ui. */

interface KeptHeader extends Header {
  layer: number // from 1
  layers: number
  heads: number // that have keys and values of their own
  width: number // of a key of all these heads
  owner?: string // what such a head is called, if other heads share its keys
  number: number // bytes of a number
  prompt: number // tokens of the prompt
  context: number | null
  tokens: string[] // of the whole text
  parts: { begin: number, rows: number }[] // contexts: where each begins in the text, and how many tokens it stores at last
  steps: { part: number, rows: number, bytes: number, short: string }[]
  scales: { high: number, lowText: string, highText: string }[] // of keys and of values
}

/** A cell of the keys (side 0) or of the values (side 1); the row counts from the context's beginning. */
interface KeptCell {
  side: number
  row: number
  column: number
}

type KeptLayout = ReturnType<typeof import("./kept_drawing.js").layOut>

interface KeptScene {
  context: Context
  header: KeptHeader
  numbers: Float32Array
  skin: Skin
  layout: KeptLayout
  images: OffscreenCanvas[][] // of each context its keys and values, a pixel a number
  at: number // the step, from 0
}
