"""What onnxruntime's own profiler recorded."""
import json
import os
from typing import Any, Dict, List, NamedTuple

SUFFIX = "_kernel_time"


class Node(NamedTuple):
    name: str
    operator: str
    microseconds: List[int]  # of each run, rounded down


def durations(opened: Any) -> List[Node]:
    """Of a session made with `trace`; ends its recording and removes the file."""
    path = opened.end_profiling()
    try:
        with open(path, encoding="utf-8") as file:
            events = json.load(file)
    finally:
        os.unlink(path)
    nodes: Dict[str, Node] = {}
    for event in events:
        if event.get("cat") == "Node" and event["name"].endswith(SUFFIX):
            name = event["name"][:-len(SUFFIX)]
            # Two nodes may bear one name; their place in the graph tells them apart.
            key = f"{event['args'].get('node_index')} {name}"
            node = nodes.setdefault(key, Node(name, event["args"].get("op_name", ""), []))
            node.microseconds.append(event["dur"])
    return list(nodes.values())
