/* What history.js keeps for as long as the window lives. */

interface HistoryMemory {
  whole: Map<string, string> // what the address holds of a text -> the whole text
  pushed: boolean // whether this act has an entry already
  before: string | null // the address before this act, if so far only a slider has moved in it
  owes: boolean // whether an entry was not written, as its address was too long
  at: number // the place in the browser's history
  short: string | null // the address with cut texts, while Streamlit is shown them whole
  timer?: ReturnType<typeof setTimeout>
  told?: string // the address that the server said last
}

interface Window {
  attentionLabHistory?: HistoryMemory
  attentionLabCarried?: () => Record<string, string> // what follow.js knows and the page does not yet
  attentionLabWindow?: boolean // whether window.js is at work
}

interface PresentingData {
  steps: Record<string, ["lens" | "question", number]>
  buttons: Record<string, string>
  scrolls: Record<string, number>
  text: string
  questions: Record<string, number>
  taken: number
}

interface PresentingTarget {
  lens: string
  number: number // of the question, counted from 1
  sets_up: boolean // whether the question's model is wanted, too: whoever walks through lenses keeps theirs
  step: number
}
