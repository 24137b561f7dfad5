/* What readers are told of a picture that cannot be drawn. */

/** Why, in a sentence. A fault of ours goes to the console, and readers hear no more than that there is one.
 * @param {any} error whose cause is "network" if a script was not reached: its message is for readers */
export function inWords(error) {
  if (error.cause === "network") return error.message
  reportError(error)
  return "This picture could not be drawn."
}
