/* What the scripts of a room tell each other, and what the server tells of one (tfm_ui/classroom/views.py). */

interface RoomPlace {
  page: string
  query: string
  number: number // grows with each place
}

interface RoomQuestion {
  id: string
  ask: string
  kind: "choice" | "number" | "words" | "nothing" // the last is told with its answer at once
  options: string[]
  unit: string
  which: string // its name in the app; "" of a poll
  about: string // what the page asks beside it
  answered: number
}

interface RoomResult {
  id: string
  said: string // the computed answer
  text: string // an answer in words that the owner shows
  words: string // the answers in a sentence
  many: number
  measured: string | number | null
  chart: ChartHeader | null
}

/** A room as a tab knows it. */
interface RoomView {
  open: boolean
  line?: string // the name of this tab's line
  problem: string
  here: { members: number; owner: boolean }
  ends: number // in seconds since 1970
  place: RoomPlace | null
  asked: RoomQuestion | null
  result: RoomResult | null
  mine: string | number | null // this browser's answer
  late: boolean // whether that came too late
  over: string[] // the names of the questions whose answers were shown
  texts?: { member: string; text: string }[] // the rest is told to the owner alone
  lates?: number
  done?: number
}

/** What this tab is in which room. */
interface RoomRole {
  code: string
  secret: string // "" of a member
  leads: boolean // whether the room follows this tab
  follows: boolean // whether this tab follows the room
}

/** Where the tab is that leads. */
interface RoomHere {
  role: RoomRole
  page: string
  typed: string[] // parameters of what is typed there
  after: number // the number of the place that was said before
}

/** What the page tells the component. */
interface RoomData {
  known: string // the code of the room that the page's script knows this tab is in, and whether it leads there
  opened: { code: string; secret: string } | null // a room that this tab has opened
  closed: string // the code of a room that this tab has closed
  join: string // the code of a room that is to be entered
  page: string // the name of the page
  isPrivate: boolean // whether nobody follows to this page
  isDesk: boolean // whether the owner's answers in words may stand here
  places: string[] // parameters that decide what stands on the page
  typed: string[] // parameters of what is typed
  heard: number // as of pictures
  address: string // of the page on which a code is typed
  qr: string // an image of the link that leads into the owner's room
}

/** All that this window knows, for as long as it lives. */
interface RoomMemory {
  role: RoomRole | null
  view: RoomView | null
  line: { end: () => void } | null
  trouble: string // why the room is not reached now
  opened: string // the secret of the room that the page has said last to have opened
  gone: string // what is said of a room that was left or closed
  data: RoomData | null
  root: HTMLElement | null
  tell: ((name: string, value: unknown) => void) | null
}

interface Window {
  attentionLabRoom?: RoomMemory
}
