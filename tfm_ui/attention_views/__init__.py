"""The views of the Attention lens, a file each: read controls, ask for what is shown, draw it in panels."""
