"""A recorded session carried through a policy: what each request would have held and cost, and when it would have been compacted."""
