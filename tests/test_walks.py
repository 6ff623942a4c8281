"""The way through the modules stays short enough to be followed in an editor."""

from __future__ import annotations

from walks import STAGES, declaration_walk, evidence_walk, frame_walk, stage_of


def test_a_frame_enters_at_most_81_modules_stage_by_stage() -> None:
    walk = frame_walk()
    assert len(walk.steps) <= 81, walk.steps
    assert {stage_of(step) for step in walk.steps} <= set(STAGES)
    assert {"game/service.py", "vision/pipeline.py"} <= {step.module for step in walk.steps}


def test_a_declaration_enters_at_most_25_modules_and_no_class_twice() -> None:
    walk = declaration_walk()
    assert len(walk.steps) <= 25, walk.steps
    looked_up = {"KnownClients", "SteadyClock"}  # asked for an address and for the time, on the way and not part of it
    queued = {"JournalWriter", "EntryQueue"}  # take the scenes before the declaration and the declaration
    read_later = {"BodyLimit"}  # lets a body through once the sender's role is known
    assert {
        owner: count
        for owner, count in walk.passes.items()
        if count > 1 and owner not in looked_up | queued | read_later
    } == {}
    modules = [step.module for step in walk.steps]
    expected = ["service", "receipts", "session", "published/publisher", "published/views", "published/hub"]
    assert [module for module in modules if module.startswith("game/")] == [f"game/{name}.py" for name in expected]


def test_a_call_leads_from_its_rule_to_its_evidence() -> None:
    modules = [step.module for step in evidence_walk().steps]
    path = (
        "officiating/rules/tackles.py",
        "store/writing/journal.py",
        "api/routes/evidence.py",
        "review/evidence/finder.py",
    )
    assert [module for module in modules if module in path] == list(path)
