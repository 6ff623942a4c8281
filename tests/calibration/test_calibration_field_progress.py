from __future__ import annotations

from downfield.calibration.field.progress import ProgressReporter, SolveProgress


def test_progress_never_falls_back_and_estimates_the_rest_by_what_it_took() -> None:
    reports: list[SolveProgress] = []
    seconds = iter([0.0, 0.0, 2.0, 3.0, 4.0])
    reporter = ProgressReporter(reports.append, lambda: next(seconds))
    reporter.enter("finding lines")
    reporter.enter("measuring the print")
    reporter.enter("finding lines", 0.5)
    reporter.finish()
    assert [report.remaining_s for report in reports] == [None, 2.0, 3.0, 0.0]
    assert [report.fraction for report in reports] == [0.0, 0.5, 0.5, 1.0]


def test_nobody_has_to_listen() -> None:
    ProgressReporter(None).enter("checking")
