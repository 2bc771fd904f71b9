"""What files of a project tell the agent: rules, commands and skills, in the formats that people have, and which rules are in force."""
