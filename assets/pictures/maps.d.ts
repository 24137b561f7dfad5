/* What maps.js gets of tfm_ui, and what its parts say to each other; and what cells.js asks of a picture. */

interface MapAxis {
  names: string[]
  title: string
  noun: string
  role: Role
  counted: boolean // the names are numbers one after the other
}

/** The scale of one map, and how its values are written. */
interface MapScale {
  name: string
  unit: string
  low: number
  high: number
  lowText: string
  highText: string
  whole: boolean
  powers: boolean // the scale is logarithmic
  ticks: boolean // it has no colours: a value is there, or not
  words: string[] | null // what values are called
}

interface MapsHeader extends Header {
  maps: MapScale[]
  rows: MapAxis
  columns: MapAxis
  picked: Point | null
  asks: [string, string] | null
  places: [unknown[], unknown[]]
  wholeRow: boolean
  crosses: [number, number, number][]
  crossed: string
  slider: { label: string; value: number; parameter: string; before: string; after: string } | null
  absent: string
  blank: string
  read: number
  square: boolean
  part: (Part & { height: number; width: number; block: Point; parameter: string; first: number }) | null
  marks: { column: number; colour: number }[]
  why: string[] | null
  painting: { parameter: string; text: string } | null
}

/** The numbers, and what they are of. */
interface MapsTable {
  header: MapsHeader
  values: Float32Array
}

type MapsLayout = ReturnType<typeof import("./maps_layout.js").layOut>

interface MapsScene extends MapsTable {
  context: Context
  kinds: { masked: boolean; absent: boolean }
  view: Part
  skin: Skin
  tables: string[][]
  layout: MapsLayout
}

/** A cell of a table, and of maps beside each other which one. */
interface CellAt {
  q: number
  k: number
  i?: number
}

/** How the cells that are there lie in the table that they stand for. */
interface Grid {
  part: Part
  within: Part // what can be reached
  down: number // rows of the table in a cell
  over: number // and columns
  first: number // the number of the first row and column
  height: number
  width: number
  keep: boolean // whether the window stays where it is
  seek?(window: Part, rests: boolean): void
}

interface Brush {
  readonly on: boolean
  readonly busy: boolean
  takes(at: CellAt | null): boolean
  begin(at: CellAt | null): boolean
  pass(at: CellAt | null): void
  end(): void
  dab(at: CellAt): void
  hover(at: CellAt | null): void
}

/** What cells.js asks of a picture; its first comment says what each is for. */
interface Cells {
  Q: number
  K: number
  many: boolean
  called: string[]
  grid?: Grid
  brush?: Brush | null
  paint(room: Room): void
  under(event: MouseEvent | Touch): CellAt | null
  box(at: CellAt): Box
  light(at: CellAt): { x: number; y: number; h: number }
  read(at: CellAt): string
  exact(part: string, how: string): string
  lock?(at: CellAt): void
}
