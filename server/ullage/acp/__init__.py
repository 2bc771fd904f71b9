"""The Agent Client Protocol: `ullage acp`, an adapter over the sessions for editors that speak it."""
