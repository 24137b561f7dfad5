/* What composer.js and batch.js get of tfm_ui. */

interface BatchHeader extends Header {
  rows: { tokens: string[]; more: string; pads: number; morePads: string; name: string }[]
  chosen: number
  parameter: string
  left: boolean
}

interface Term {
  how: string
  name: string
  numbers: (number | string)[]
}

/** A term that has a chip. */
interface ChipTerm extends Term {
  id: number
}

interface MaskArgument {
  name: string
  low: number
  high: number
  several: boolean
}

interface KnownMask {
  name: string
  about: string
  source: string
  arguments: MaskArgument[]
}

interface ComposerHeader extends Header {
  parameter: string
  terms: Term[]
  known: KnownMask[]
  room: number
  locked: { text: string; lift: Values } | null
  idle: number[]
  notes: string
  offer: boolean
  title: string
}

/** The elements of a term. */
interface Chip {
  slider: SliderMemory
  element: HTMLElement
  name: HTMLElement
  how: HTMLButtonElement
  off: HTMLButtonElement
  inputs: { argument: MaskArgument; box: HTMLInputElement; range: HTMLInputElement | null }[]
}
