"""Recorded sessions, whoever wrote them: the values, their readers, and what their compactions lost. Nothing is written here."""
