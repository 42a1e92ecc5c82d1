"""The pages of compaction settings: the draft and its form, the state beside it, the drawings, history and export."""
