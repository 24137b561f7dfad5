/* What follow.js, follow_states.js and ask.js say to each other. */

interface Question {
  number: number
  query: string
}

interface FollowState {
  name: "following" | "ahead" | "previewing" | "committed"
  page: { query: string | null; heard: number; local: Values; slow: boolean } // what the page said last
  commits: number // the number of the last commit that concerns this picture; the page is behind until it has heard of it
  shown: string | null // the query that is drawn
  refused: string | null // the query of which the server said that there will be no picture
  question: Question | null // what is on its way and will be drawn
  asked: number // the number of the newest question; older ones are not drawn
  preview: Question | null // the question of a wish that is on its way, wanted or not; of a slow picture, for words alone
  latest: string | null // the newest wish
  ahead: string | null // what the page is about to say, as the address says it, or a slider was let go there
  kept: string // what the page holds beside its address: values of controls that another view shows
  committed: string | null // what the page was told last
  pending: Values // all changes that the page was told and has not answered
  failures: number // questions in a row that had no answer
}

interface AnswerEvent {
  type: "answer"
  number: number
  drawn?: string // the query that the numbers are of; missing, without a problem, where nobody sees the picture
  content?: Content
  problem?: string // why there are no numbers
  again?: number // ms after which it makes sense to ask again; undefined where it never does
  jitter?: number // a random number from 0 to 1
}

type FollowEvent =
  | { type: "page"; query: string; heard: number; local: Values; slow?: boolean } // `slow`: it is asked for at rest alone
  | { type: "address"; query: string; before?: string; isTidied?: boolean } // `before`: what the address was
  | { type: "preview"; changes: Values }
  | { type: "wish"; query: string } // what somebody else's link says, while that moves
  | { type: "commit"; changes: Values; number: number }
  | { type: "retract" }
  | { type: "join"; changes: Values; query?: string; number: number } // a commit of another picture, or a whole query
  | { type: "timeout"; isRunning?: boolean } // whether the page is being run just now
  | { type: "words"; number: number; query: string; content?: WordsAlone } // missing where there was no answer
  | AnswerEvent

type FollowEffect =
  | { type: "ask"; number: number; query: string }
  | { type: "askWords"; number: number; query: string } // without a picture
  | { type: "say"; content: WordsAlone }
  | { type: "draw"; content: Content | undefined; late: boolean }
  | { type: "redraw" } // the same numbers, with other local values
  | { type: "explain"; words: string; instead?: boolean } // instead of the picture, or beside it
  | { type: "tell"; changes: Values; number: number } // the page
  | { type: "timer"; wait: number }
  | { type: "stopTimer" }

/** What the page says, without a picture. */
interface WordsAlone {
  words: Words
  question: number // which brought them
}

interface Problem {
  problem: string
  again?: number
}

type AnswerForAll = { pictures: Record<string, Uint8Array>; words?: Words; question: number } | Problem
