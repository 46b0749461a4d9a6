"""check_json.py <json|sarif> <file>: the file is one document of newtc's JSON or SARIF form."""
import json
import sys

KEYS = {"file", "line", "column", "endLine", "endColumn", "severity", "slug", "message", "notes", "help"}


def check_json(document):
    assert isinstance(document, list)
    for entry in document:
        assert set(entry) == KEYS, set(entry) ^ KEYS
        assert entry["severity"] in ("note", "warning", "error", "internal")
        assert (entry["line"] is None) == (entry["file"] is None)
        for note in entry["notes"]:
            assert set(note) == {"file", "line", "column", "endLine", "endColumn", "message"}


def check_sarif(document):
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    for result in run["results"]:
        assert result["ruleId"] in rules
        assert result["level"] in ("note", "warning", "error")
        assert result["message"]["text"]


with open(sys.argv[2], encoding="utf-8") as file:
    {"json": check_json, "sarif": check_sarif}[sys.argv[1]](json.load(file))
