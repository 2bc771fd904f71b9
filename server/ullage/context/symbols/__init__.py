"""What a source text defines and what it refers to, by tree-sitter. No other folder knows that package or its grammars."""
