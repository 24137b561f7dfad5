/* What the pictures of the Attention lens get of tfm_ui, and what their parts say to each other. */

/** Of a head's matrices: what it is, and where its numbers are. */
interface Matrix {
  symbol: string
  name: string
  what: string
  shape: string
  axes: [string, string]
  role: Role | ""
  weights: boolean
  begin: number
  rows: number
  columns: number
  top: number
  topText: string
}

/** A row, a column (null: all of them), and how many steps ago it fed the cell in focus. */
type Lit = [[number | null, number | null], number]

interface MatricesHeader extends Header {
  prefix: string
  steps: string[]
  step: string
  whole: boolean
  scene: string[]
  matrices: Record<string, Matrix>
  queries: string[]
  keys: string[]
  starts: Record<string, number>
  ends: Record<string, number>
  headDim: number
  lit: Record<string, Lit[]>
  temperature: number
  title: string
  lines: [string, string][][]
  code: string
}

interface MatrixCell {
  name: string
  row: number
  column: number
}

interface MatrixLayout {
  left: number
  top: number
  cell: { x: number; y: number }
  rem: number
  size: number // of the names' letters
  family: string
  fill: boolean
  longest: number // px that a name may be long
  angle: number // of the columns' names
  hasRows: boolean // whether rows, and columns, have room for their names
  hasColumns: boolean
  width: number
  height: number
}

interface ArcsHeader extends Header {
  queries: string[]
  keys: string[]
  read: Point
  seen: number[]
  maps: string[]
  heads: boolean
  kept: number
  at: Point
}

type ArcsData = ReturnType<typeof import("./arcs_lines.js").unpack>

/** What the reader has set. A side is 0 for queries, 1 for keys. */
interface ArcsSettings {
  maps: number[]
  side: number
  tokens: number[]
  mass: number
  hide: Record<string, boolean>
}

/** The tokens that are looked at. */
type ArcsFocus = Pick<ArcsSettings, "side" | "tokens">

/** The part of a long text that is shown: so many rows, from these tokens on. */
interface ArcsWindow {
  rows: number
  tops: Point
}

interface ArcsLine {
  m: number
  q: number
  k: number
  w: number
  many?: boolean // several lines that end at the same place outside the window
}

type ArcsLines = ReturnType<typeof import("./arcs_lines.js").gather>
type ArcsSums = ReturnType<typeof import("./arcs_lines.js").sums>
type ArcsLayout = ReturnType<typeof import("./arcs_drawing.js").layOut>

/** A sum of weights; null where all are masked, undefined where none is known. */
type Sum = number | null | undefined

interface ArcsScene {
  context: Context
  data: ArcsData
  settings: ArcsSettings
  window: ArcsWindow
  focus: ArcsFocus | null
  skin: Skin
  layout: ArcsLayout
}

interface DictionaryHeader extends Header {
  names: string[] // of the keys, the word that each was given or its letter; and the letters of keys that could be added
  given: string[] // the words alone, "" of a key that has none
  askedName: string
  keys: Point[]
  values: number[]
  asked: Point
  temperature: number
  answerText: string
  hardText: string
  plane: Point
  most: number
}

interface DictionaryScene {
  header: DictionaryHeader
  weights: number[]
  work: { names: string[]; keys: Point[]; values: number[]; query: Point; temperature: number }
  skin: Skin
  rem: number
  family: string
}

type ToPlane = (point: Point) => Point

/** A node of a graph: where it stands, -1 of the biases, and the letter in its circle, which is a head's number. */
interface GraphNode {
  code: string
  name: string
  letter: string
  stack: number
  row: number
  at: number
}

/** A stack of layers: the positions that are shown, and their tokens. */
interface GraphStack {
  name: string
  parts: string[]
  at: number[]
  tokens: string[]
}

interface GraphHeader extends Header {
  nodes: GraphNode[]
  from: number[]
  to: number[]
  stacks: GraphStack[]
  asked: { at: number; text: string }
  locked: string
  top: number
  topText: string
}

interface GraphEdge {
  from: number
  to: number // -1 is the logit
  weight: number
}

/** A graph as its script works with it. The logit is node -1. */
interface GraphData {
  header: GraphHeader
  nodes: GraphNode[]
  values: number[]
  edges: GraphEdge[] // the largest first
  total: number
}

/** How wide a text is, in letters of so many pixels. */
type Measure = (text: string, size: number) => number

type GraphLayout = ReturnType<typeof import("./graph_layout.js").layOutGraph>

interface GraphScene {
  context: Context
  data: GraphData
  skin: Skin
  layout: GraphLayout
  focus: number | null // the node that is looked at
  locked: number | null
  from: number // how far the picture is scrolled to the right
}
