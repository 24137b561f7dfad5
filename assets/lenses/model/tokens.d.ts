/* What the pictures "tokens" and "tokens_batch" get of tfm_ui. */

interface TokenPiece {
  text: string
  id: number
  at: number // its place in the row, from 0
  span: [number, number] // which letters of the text
}

interface TokensRow {
  name: string
  facts: string
  count: number
  chosen: boolean
  before: number // how many pieces stand before those on screen
  after: number
  pieces: TokenPiece[]
}

interface TokensStep {
  parts: string[]
  made: number // which part was made in this step; -1 for none
  note: string
}

interface TokensHeader extends Header {
  rows: TokensRow[]
  text: string
  at: number // the piece of the chosen row whose history is told; -1 for none
  span: [number, number]
  parameters: { scheme: string, piece: string }
  history: { title: string, about: string, steps: TokensStep[] }
}

interface TokensBatchHeader extends Header {
  grids: string[]
  length: number
  rows: { pieces: string[], special: boolean[], cut: string[][], more: number[] }[]
}
