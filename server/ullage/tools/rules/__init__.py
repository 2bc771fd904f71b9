"""Rules that the user wrote: what each covers, and what is asked all the same."""
