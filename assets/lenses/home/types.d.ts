/* What sentence.js gets of tfm_ui/lenses/home/sentence.py, and what it keeps. */

interface SentenceData {
  text: string // what the model reads of the text box
  isLocked: boolean // whether the weights read something else than the reader's text
  needsText: boolean // whether nothing can be shown of an empty text
  heard: number // the last act that the page has heard of
}

interface SentenceMemory {
  number: number // of the last act that was told
  told: string // the text that the page was told last, or has said
  isTyped: boolean // whether the page has still to be told of what is in the box
  rest?: ReturnType<typeof setTimeout> // until what was typed counts as an act
}
