"""Validates a report against the schema of the repository: schema.py SCHEMA REPORT."""
import json
import sys

import jsonschema

validator = jsonschema.Draft201909Validator(json.load(open(sys.argv[1])))
errors = sorted(validator.iter_errors(json.load(open(sys.argv[2]))), key=lambda e: list(map(str, e.path)))
for e in errors[:10]:
    print("/".join(map(str, e.path)) + ":", e.message[:200])
sys.exit(1 if errors else 0)
