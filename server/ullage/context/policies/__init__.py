"""The policies that come with Ullage, one file each: its data, its prompts and where they come from."""
