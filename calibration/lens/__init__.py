"""Measure the lens: from views of a printed sheet, or from what webcams are like."""
