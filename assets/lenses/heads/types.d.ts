/* What head_map.js and heads_grid.js get of tfm_ui. */

interface HeadMapHeader extends Header {
  queries: string[]
  keys: string[]
  read: number
  top: number
  topText: string
  formula: string
}

interface HeadMapScene {
  context: Context
  header: HeadMapHeader
  weights: Float32Array
  view: Part
  skin: Skin
  table: string[]
  layout: ReturnType<typeof import("./head_map_drawing.js").layOut>
}

interface HeadsGridHeader extends Header {
  layers: number
  heads: number
  rows: number
  columns: number
  block: number
  read: number
  largest: number[] // each head's largest weight; the picture itself needs only its place on the scale
  ends: number[]
  picked: Point | null
  masked: boolean
  topText: string
  about: string[]
}

interface RoleKey {
  role: string
  letter: string
  title: string
  colour: number // of a head's colours, from 0; -1 is grey
}

interface RolesMapHeader extends Header {
  layers: number
  heads: number
  picked: Point
  single: boolean // whether it shows the scores of one role
  top: number
  topText: string
  roles: string[] // of each head; "" for none
  has: boolean[]
  told: string[]
  legend: RoleKey[]
}
