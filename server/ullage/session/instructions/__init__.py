"""What files of a project tell the agent: rules, in the formats that people have, and which of them are in force."""
