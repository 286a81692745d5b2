"""The rules of the trace event format, and ours: trace.py FILE.trace.json. Exits 1 with what is broken."""
import json
import sys

trace = json.load(open(sys.argv[1]))
events = trace["traceEvents"]
broken = []


def demand(condition, *what):
    if not condition:
        broken.append(what)


lanes, names, flows = {}, set(), {}
for e in events:
    demand(e["ph"] in "XMsf" and isinstance(e["pid"], int) and isinstance(e["tid"], int) and isinstance(e["name"], str), "members", e)
    if e["ph"] == "M":
        names.add((e["pid"], e["tid"] if e["name"] == "thread_name" else None))
        continue
    demand(e["ts"] >= 0 and "cat" in e, "a time and a category", e)
    if e["ph"] == "X":
        demand(e["dur"] >= 0, "a duration", e)
        lanes.setdefault((e["pid"], e["tid"]), []).append((e["ts"], e["ts"] + e["dur"]))
    else:
        flows.setdefault(e["id"], []).append(e)
for lane, spans in lanes.items():
    demand(lane in names and (lane[0], None) in names, "named lanes", lane)
    spans.sort()
    for a, b in zip(spans, spans[1:]):
        demand(b[0] >= a[1] - 0.0015, "no overlap in a lane", lane, a, b)
for i, pair in flows.items():
    demand([e["ph"] for e in pair] == ["s", "f"] and pair[0]["ts"] <= pair[1]["ts"], "an arrow goes forward", i, pair)
for b in broken[:10]:
    print("broken:", *b)
print(len(events), "events")
sys.exit(1 if broken or not lanes else 0)
