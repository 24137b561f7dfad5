/* What diagram.js gets of tfm_ui, and what its parts say to each other. */

interface DiagramRow {
  kind: string // as in tfm_core/study/blocks.py; or "tokens", "fold", "layer"
  text: string
  mark: string // what enters the box from outside
  cells: [string, string][] // of each column the long and the short text
  sets: Values // what a click sets
  picked: boolean
  inside: boolean // in the layers
  begins: number // of a sum: before which row the residual connection leaves the stream; -1 of all others
  looks: boolean // whether the encoder's output flows in
}

interface DiagramStack {
  title: string
  rows: DiagramRow[]
}

interface DiagramHeader extends Header {
  stacks: DiagramStack[]
  columns: string[]
}

interface DiagramBox extends DiagramRow, Box {}

/** A column of numbers: where its right edge is, and which of the two texts it shows. */
interface DiagramColumn {
  name: string
  index: number
  long: 0 | 1
  right: number
}

interface DiagramSide {
  title: string
  left: number
  boxes: DiagramBox[]
  columns: DiagramColumn[]
  right: number
}
