/* What the pictures of the Generate lens get of tfm_ui. */

interface WrittenText {
  tokens: string[]
  ids: number[]
  forced: boolean[]
  begins: number[] // where the context began at each step
}

interface WriteHeader extends Header {
  prompt: string[]
  texts: WrittenText[] // what was written; and without the last token that was put there
  pieces: Record<string, string>
  rows: number
  sampling: { greedy: boolean, temperature: number, top_k: number, top_p: number, min_p: number }
  vocab: number
  put: Point[] // steps, from 1, and the ids that were put there
  parts: number // the step at which both texts part, from 0; -1 where there is a single one
}

interface BeamsHeader extends Header {
  prompt: string[]
  steps: { piece: string, parent: number, score: number }[][] // what each step kept, the best first
}

interface LookHeader extends Header {
  prompt: string[]
  tokens: string[]
  forced: boolean[]
  begins: number[] // where the context of each step began
  layers: number
  heads: number
  picked: Point // layer and head, from 0
  largest: number
  likeliest: [string, number][][] // of each step
  chances: number[] // of the token that was written
}

/** The weights of the step on screen. */
interface LookScene {
  context: Context
  header: LookHeader
  skin: Skin
  table: string[]
  weights: Float32Array // (layer, head, key)
  keys: number
  begin: number
  at: number
}

/** What a text is shown from, see text_flow.js. */
interface Flow {
  title?: string
  prompt: string[]
  tokens: string[]
  forced?: boolean[]
  begins?: number[]
  parts?: number
  pick: (place: number) => void
}

interface Candidate {
  id: number
  piece: string
  logit: number
  share: number
  final: number
  cut: string // which filter cut it, "" if none
  rank: number
}

interface WriteStep {
  number: number // the random number
  begin: number // of the token on the cumulative bar
  end: number
  rank: number
  left: number[] // by top-k, top-p, min-p
  share: number
  final: number
  candidates: Candidate[]
  token: number
  forced: boolean
}

interface WriteScene {
  context: Context
  header: WriteHeader
  skin: Skin
  step: WriteStep
  width: number
  lit: number // the row under the hand, -1 for none
}
