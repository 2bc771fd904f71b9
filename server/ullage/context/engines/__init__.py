"""How policies are carried out."""
