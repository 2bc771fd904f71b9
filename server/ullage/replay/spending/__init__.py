"""What recorded sessions cost whoever pays for them: call by call, summed up by week, model, project and policy, and as a page."""
