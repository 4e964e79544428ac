"""What the user wrote: items with their fields, shapes, copies, and the problems found in them."""
