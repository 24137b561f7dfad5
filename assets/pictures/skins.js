/* The colours of pictures in both modes: those of tfm_ui/text/colours.py, by the names that scripts use. A test compares them. */

/** @type {{ light: Colours, dark: Colours }} */
export const SKINS = {
  light: {
    weights: [
      "#F4F8FA", "#E0EEF6", "#C9E4F3", "#B1D8ED", "#97CCE6", "#7CC0DF", "#61B2D7", "#4BA4CE", "#3C95C5",
      "#3386BC", "#2D76B1", "#2A67A3", "#275995", "#254A86", "#233B77", "#202D68", "#1D1E58"
    ],
    signed: [
      "#0A4F57", "#0C666D", "#207D83", "#3B9599", "#5EABAE", "#85C0C1", "#ADD5D4", "#D4E7E4", "#F7F6F2",
      "#F1E0C9", "#E9C69D", "#DEAB73", "#D0904C", "#B97830", "#9F621D", "#854D0D", "#6B3A06"
    ],
    heads: ["#1A6755", "#EE3E8B", "#7C22B8", "#928242", "#9B1818", "#329AA0", "#4E2246", "#B168FD"],
    masked: "#CFC8BE",
    hatch: "#B3AA9D",
    rule: "#D3DAE3",
    muted: "#55616F",
    ink: "#141C27",
    query: "#0670BE",
    key: "#C8350A",
    value: "#0A5D45",
    result: "#6A1B6A",
    leak: "#B3123A",
    ring: "#FFB000",
    ringInk: "#10161F"
  },
  dark: {
    weights: [
      "#141C27", "#19253D", "#1D2F57", "#203C72", "#274C85", "#295D91", "#286E9C", "#2B7FA5", "#3990AC",
      "#4A9EAD", "#5AABAD", "#68B9AD", "#78CAB1", "#94D9BA", "#B5E5C3", "#D3EFCC", "#F1F8D6"
    ],
    signed: [
      "#8FE5E4", "#70C9CA", "#53AFB1", "#379699", "#277D80", "#226468", "#1E4C51", "#1F363C", "#1B2129",
      "#302B26", "#4B371F", "#6B471D", "#8C5C22", "#AE732E", "#CD8F47", "#E7AF6D", "#FBD29C"
    ],
    heads: ["#85EBE6", "#D93170", "#D1A82D", "#939BD7", "#308E86", "#D7F0AD", "#8E4CCB", "#657A06"],
    masked: "#403C38",
    hatch: "#5C564F",
    rule: "#33404E",
    muted: "#A3B0BE",
    ink: "#EBF0F5",
    query: "#4AA6F5",
    key: "#FF6B3D",
    value: "#66E3B0",
    result: "#F4BDEE",
    leak: "#FF8098",
    ring: "#FFB000",
    ringInk: "#10161F"
  }
}
