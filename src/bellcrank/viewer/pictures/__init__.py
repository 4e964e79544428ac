"""Pictures and animations by matplotlib, without a display."""
