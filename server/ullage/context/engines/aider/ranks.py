"""PageRank over a small weighted graph.

Ours, since every package that is kept brings much more than these lines: NetworkX and fast-pagerank need NumPy and SciPy for it,
rustworkx NumPy, and igraph is under the GPL. The numbers are NetworkX's: a test holds some that it gave.
"""

from __future__ import annotations

from collections.abc import Mapping

DAMPING = 0.85
TOLERANCE = 1e-6
"""For each node: how little the ranks may still change in a round."""
MOST_ROUNDS = 100


def ranks(edges: Mapping[str, Mapping[str, float]], preferred: Mapping[str, float]) -> dict[str, float]:
    """The rank of every node; together they make 1.

    `edges` has for each node the nodes that it points to, with positive weights. `preferred` says where a reader who follows no edge
    goes on, by weight; anywhere where it is empty. It may name nodes without edges.
    """
    nodes = list(dict.fromkeys([*edges, *(to for out in edges.values() for to in out), *preferred]))
    if not nodes:
        return {}
    start = _shares(preferred) if preferred else dict.fromkeys(nodes, 1 / len(nodes))
    ways = {node: _shares(out) for node, out in edges.items() if out}
    dead_ends = [node for node in nodes if node not in ways]
    current = dict.fromkeys(nodes, 1 / len(nodes))
    for _ in range(MOST_ROUNDS):
        lost = 1 - DAMPING + DAMPING * sum(current[node] for node in dead_ends)
        following = {node: lost * start.get(node, 0.0) for node in nodes}
        for node, out in ways.items():
            passed = DAMPING * current[node]
            for to, share in out.items():
                following[to] += passed * share
        change = sum(abs(following[node] - current[node]) for node in nodes)
        current = following
        if change < len(nodes) * TOLERANCE:
            break
    return current


def _shares(weights: Mapping[str, float]) -> dict[str, float]:
    total = sum(weights.values())
    return {node: weight / total for node, weight in weights.items()}
