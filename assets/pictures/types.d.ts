/* What the scripts of all pictures share. These types are global: no script has to import them, and the browser never
   loads this file. */

/** What a key of the keyboard stands for, if anything. */
type ByKey<Meaning> = Record<string, Meaning | undefined>

/** Parameters of the link and their values. */
type Values = Record<string, unknown>

/** What a colour scheme has, in the modes light and dark (skins.js). */
interface Colours {
  weights: string[]
  signed: string[]
  heads: string[]
  masked: string
  hatch: string
  rule: string
  muted: string
  ink: string
  query: string
  key: string
  value: string
  result: string
  leak: string
  ring: string
  ringInk: string
}

/** What `dress` makes of them: the colours of the page's mode, and what the page's font and paper are. */
interface Skin extends Colours {
  paper: string
  rem: number // how many pixels there are to one of a root font of 16
  family: string
}

/** What every header has; each picture's own stands in the types.d.ts beside its script. */
interface Header {
  query: string
  problem?: string // why there is no picture
  about?: any // the picture in words
  foot?: string // where the numbers come from, for the foot of a file
}

/** A place that is measured in CSS pixels. */
interface Box {
  x: number
  y: number
  w: number
  h: number
}

/** Across and down, or what a pair of coordinates is called where it is used. */
type Point = [number, number]

/** How high a picture may be, and whether it shall be as high as that, and as wide as its place. */
interface Room {
  high: number
  fill: boolean
}

/** What a file says beside its picture. */
interface FileWords {
  title?: string
  caption?: string
  derived?: string[] // how the number in focus came about, line by line
  weights?: string // which weights it shows
  legend?: { name: string, colour: string }[] // of colours that stand for names, where the picture itself has none
  foot?: string // what else its numbers come from
  link?: string
}

type Context = CanvasRenderingContext2D

type Align = "left" | "center" | "right"

/** Names of colours that a header may ask for. */
type Role = "query" | "key" | "value" | "result" | "ink" | "muted" | "leak"

/** A rectangle of the rows and columns of a table. */
interface Part {
  left: number
  top: number
  columns: number
  rows: number
}

/** What a picture that can be worked with gets beside its numbers. With `everywhere`, all pictures of the page follow. */
interface PictureActs {
  /** Draw the picture for other values, without telling the page: for what is dragged. */
  preview(changes: Values, everywhere?: boolean): void
  /** The same; the page and its link hold these values from now on. */
  commit(changes: Values, everywhere?: boolean): void
  /** What has been previewed is not wanted: draw again what the page says, or was told last. */
  retract(everywhere?: boolean): void
}

/** The element that holds a picture, with what its script keeps from one update to the next. */
interface PictureRoot extends HTMLElement {
  _follow?: any
  _memory?: any
  _sliders?: any
  savePicture?(fileName: string, words?: FileWords): void
}

/** What a picture is drawn from, and what the page says with it. */
interface Content<H = any> {
  header: H
  numbers: Uint8Array
  words?: Words
  question?: number // which brought them
  same?: string[] // queries of this picture: as it was asked for, where an address may say defaults, and as states are written
}

/** A piece of text, or a word of the glossary with its explanation. */
type Piece = string | [string, string] | { mouse: string, touch: string }

/** What stands in a row of tokens: words between them, or a token by its label, with its weight as text if it has one. */
type TokenItem = string | [string] | [string, string, string]

/** What stands in one place of the page: a text, laws and whether they hold, facts with their values, or tokens. */
interface Spoken {
  text?: Piece[]
  title?: string
  laws?: [boolean, Piece[]][]
  facts?: [string, string][]
  tokens?: TokenItem[]
  later?: boolean // it is being renewed, and what it will say is not known yet
}

/** What the page says of a link, by place. */
interface Words {
  query: string
  places: Record<string, Spoken>
}

/** What the page says of itself (tfm_ui/page/follow.py). */
interface PageSaid {
  names: string[] // by which words are asked for: the page's, and the open answer's; none where the page says all of them itself
  slow: string // the name of what slow panels say; "" where there are none
  query: string // of the link that the page shows
  said: string // the main sentence
}

interface Drawn<H = any> extends Content<H> {
  late: boolean // whether a newer wish is on its way: what the hand has done since is not in these numbers
}

/** What a picture's default export gets. */
interface Picture<H = any> extends Drawn<H>, PictureActs {
  root: PictureRoot
  local: Values // what the browser alone works with: a commit of them asks for no numbers
  settling(promise: Promise<void>): void // until then the picture is not at rest
  alone?: boolean // in a file of its own, where there is no server to ask
  setTriggerValue(name: string, value: unknown): void
}

/** A picture's default export; it returns how to stop, if anything goes on. */
type Draw<H = any> = (picture: Picture<H>) => (() => void) | void

/** What Streamlit gives a component. */
interface Component {
  data: { name: string; query: string; early: boolean; slow: boolean; heard: number; local?: Values; ignored?: string[] }
  parentElement: HTMLElement
  setTriggerValue(name: string, value: unknown): void
}
