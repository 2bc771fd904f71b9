"""What recorded sessions cost: prices, requests as the prompt cache saw them, and the size of each block."""
