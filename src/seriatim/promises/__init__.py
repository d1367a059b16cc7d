"""Laws that a draft keeps or breaks. Checked by code that shares nothing with the defences."""
