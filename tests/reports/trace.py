"""The rules of the trace event format, and ours: trace.py FILE.trace.json. Exits 1 with what is broken."""
import json
import sys

trace = json.load(open(sys.argv[1]))
events = trace["traceEvents"]
broken = []


def demand(condition, *what):
    if not condition:
        broken.append(what)


def nanoseconds(us):
    """Whole ones: viewers keep no less, and two events that overlap by one are shown wrong."""
    ns = round(us * 1000)
    demand(abs(us * 1000 - ns) < 1e-3, "whole nanoseconds", us)
    return ns


lanes, names, flows = {}, set(), {}
for e in events:
    demand(e["ph"] in "XMsf" and isinstance(e["pid"], int) and isinstance(e["tid"], int) and isinstance(e["name"], str), "members", e)
    if e["ph"] == "M":
        names.add((e["pid"], e["tid"] if e["name"] == "thread_name" else None))
        continue
    demand(e["ts"] >= 0 and "cat" in e, "a time and a category", e)
    if e["ph"] == "X":
        demand(e["dur"] >= 0, "a duration", e)
        lanes.setdefault((e["pid"], e["tid"]), []).append((nanoseconds(e["ts"]), nanoseconds(e["ts"]) + nanoseconds(e["dur"])))
        demand(e["pid"] != e["tid"], "no lane that is taken for its process's main thread", e)
    else:
        flows.setdefault(e["id"], []).append(e)
for lane, spans in lanes.items():
    demand(lane in names and (lane[0], None) in names, "named lanes", lane)
    spans.sort()
    for a, b in zip(spans, spans[1:]):
        demand(b[0] >= a[1], "no overlap in a lane", lane, a, b)
for i, pair in flows.items():
    demand([e["ph"] for e in pair] == ["s", "f"] and pair[0]["ts"] <= pair[1]["ts"], "an arrow goes forward", i, pair)
    for e in pair:
        spans = lanes.get((e["pid"], e["tid"]), [])
        at = nanoseconds(e["ts"])
        demand(any(a <= at <= b for a, b in spans), "an arrow's end is in an event", e)
for b in broken[:10]:
    print("broken:", *b)
print(len(events), "events")
sys.exit(1 if broken or not lanes else 0)
