/* What the picture of the view "surprise" gets of tfm_ui. */

interface SurpriseSide {
  title: string
  name: string // "A" or "B"
  tokens: string[]
  labels: string[] // with visible white space
  first: number // the place of the first token that has a probability, from 0
}

interface SurpriseHeader extends Header {
  sides: SurpriseSide[]
  names: string[] // of the tokens that are listed as the likeliest
  top: number // the largest surprise, bits
  topText: string
  count: number // how many are listed
  vocab: number
  linked: boolean // both sides have the same tokens
  hint: string
}

/** What is known of a token in its place. */
interface Rated {
  bits: number // NaN where it has no probability
  share: number
  rank: number
  entropy: number // bits
  likeliest: { name: string, share: number }[]
}

/** A token on screen: the number of its side, and its place, from 0. */
interface SurprisePlace {
  side: number
  place: number
}

interface SurpriseFlow {
  element: HTMLElement
  text: HTMLElement
  spans: HTMLElement[]
}
