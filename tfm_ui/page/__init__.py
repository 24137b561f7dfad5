"""What surrounds every lens: controls, panels, presets, the sidebar, undo, presenting."""
