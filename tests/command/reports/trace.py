"""The rules of the trace event format, and ours: trace.py FILE.trace.json. Exits 1 with what is broken."""
import json
import sys

broken = []


def demand(condition, *what):
    if not condition:
        broken.append(what)


def nanoseconds(us):
    """Whole ones: viewers keep no less, and two events that overlap by one are shown wrong."""
    ns = round(us * 1000)
    demand(abs(us * 1000 - ns) < 1e-3, "whole nanoseconds", us)
    return ns


def no_constant(word):
    raise ValueError(word + " is no JSON")


trace = json.load(open(sys.argv[1], encoding="utf-8"), parse_constant=no_constant)
events = trace["traceEvents"]
lanes, names, flows = {}, set(), {}
demand(trace["displayTimeUnit"] == "ns" and trace["metadata"]["highres-ticks"] is True, "nanoseconds, as viewers are told")
for e in events:
    demand(e["ph"] in "XMsf" and isinstance(e["pid"], int) and isinstance(e["tid"], int) and isinstance(e["name"], str), "members", e)
    if e["ph"] == "M":
        named = (e["pid"], e["tid"] if e["name"] == "thread_name" else None)
        demand(e["name"] in ("process_name", "thread_name") and e["args"]["name"] and named not in names, "one name", e)
        names.add(named)
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
    demand(len({(e["cat"], e["name"], e["pid"]) for e in pair}) == 1 and pair[-1].get("bp") == "e", "an arrow within a process", i, pair)
    for e in pair:
        spans = lanes.get((e["pid"], e["tid"]), [])
        at = nanoseconds(e["ts"])
        demand(any(a <= at <= b for a, b in spans), "an arrow's end is in an event", e)
for b in broken[:10]:
    print("broken:", *b)
print(len(events), "events")
sys.exit(1 if broken or not lanes else 0)
