/* What the scripts of all pictures share. These types are global: no script has to import them, and the browser never
   loads this file. */

/** Parameters of the link and their values. */
type Values = Record<string, unknown>

/** What a colour scheme has; "skin" of every header, for the modes light and dark. */
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

/** What `dress` makes of the header's skin: the colours of the page's mode, and what the page's font and paper are. */
interface Skin extends Colours {
  paper: string
  rem: number // how many pixels there are to one of a root font of 16
  family: string
}

/** What every header has; each picture's own stands in the types.d.ts beside its script. */
interface Header {
  query: string
  skin: { light: Colours; dark: Colours }
  problem?: string // why there is no picture
  about?: any
  foot?: string // where the numbers come from, for the foot of a file
}

/** A place that is measured in CSS pixels. */
interface Spot {
  x: number
  y: number
}

interface Box extends Spot {
  w: number
  h: number
}

type Numbers = Float32Array | Uint8Array

/** Both have the methods that pictures draw with. */
type Context = CanvasRenderingContext2D

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
  savePicture?(fileName: string): void
}

/** What a picture is drawn from. */
interface Content<H = any> {
  header: H
  numbers: Uint8Array
}

interface Drawn<H = any> extends Content<H> {
  late: boolean // whether a newer wish is on its way: what the hand has done since is not in these numbers
}

/** What a picture's default export gets. */
interface Picture<H = any> extends Drawn<H>, PictureActs {
  root: PictureRoot
  local: Values // what the browser alone works with: a commit of them asks for no numbers
  alone?: boolean // in a file of its own, where there is no server to ask
  setTriggerValue(name: string, value: unknown): void
}

/** A picture's default export; it returns how to stop, if anything goes on. */
type Draw<H = any> = (picture: Picture<H>) => (() => void) | void

/** What Streamlit gives a component. */
interface Component {
  data: { name: string; query: string; early: boolean; slow: boolean; heard: number; local?: Values }
  parentElement: HTMLElement
  setTriggerValue(name: string, value: unknown): void
}

/* follow_states.js */

interface Question {
  number: number
  query: string
}

interface FollowState {
  name: "following" | "ahead" | "previewing" | "committed" | "joined"
  page: { query: string | null; heard: number; local: Values } // what the page said last
  commits: number // how many there were; the page is behind until it has heard of as many
  shown: string | null // the query that is drawn
  refused: string | null // the query of which the server said that there will be no picture
  question: Question | null // what is on its way and will be drawn
  asked: number // the number of the newest question; older ones are not drawn
  preview: Question | null // the question of a wish that is on its way, wanted or not
  latest: string | null // the newest wish
  committed: string | null // what the page was told last
  teller: object | null // the picture that has told it, if it was another
  pending: Values // all changes that the page was told and has not answered
  failures: number // questions in a row that had no answer
}

interface AnswerEvent {
  type: "answer"
  number: number
  drawn?: string // the query that the numbers are of; without it, and without a problem, nobody sees the picture
  content?: Content
  problem?: string // why there are no numbers
  again?: number // ms after which it makes sense to ask again; undefined where it never does
  jitter?: number // a random number from 0 to 1
}

type FollowEvent =
  | { type: "page"; query: string; heard: number; local: Values }
  | { type: "address"; query: string }
  | { type: "preview"; changes: Values }
  | { type: "commit"; changes: Values }
  | { type: "retract" }
  | { type: "join"; changes: Values; teller: object }
  | { type: "release"; teller: object }
  | { type: "timeout" }
  | AnswerEvent

type FollowEffect =
  | { type: "ask"; number: number; query: string }
  | { type: "draw"; content: Content | undefined; late: boolean }
  | { type: "redraw" } // the same numbers, with other local values
  | { type: "explain"; words: string; instead?: boolean } // instead of the picture, or beside it
  | { type: "tell"; changes: Values; number: number } // the page
  | { type: "release" } // the pictures that have joined a commit of this one
  | { type: "timer"; wait: number }
  | { type: "stopTimer" }

/* ask.js */

interface Problem {
  problem: string
  again?: number
}

type AnswerForAll = { pictures: Record<string, Uint8Array> } | Problem
