"""tfm_ui: what the pages are made of. Stands on tfm_core; the pages stand on it."""
