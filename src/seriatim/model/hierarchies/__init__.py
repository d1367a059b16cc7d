"""How values become coarser, level by level: paths, and builders for dates, numbers and texts."""
