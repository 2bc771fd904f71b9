"""What a compaction does to the view: the cheap moves, the legal cuts, and the plan that puts the cheap before the dear."""
