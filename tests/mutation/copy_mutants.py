# SPDX-License-Identifier: Apache-2.0
"""Mutants of copies to shared memory; mutants.py says how a row reads."""
from diagnoses import COPIED_GROUPS, COPIED_HALVES, COPIED_STAGES, GROUPS_BY_THREADS, PARTS_BY_THREADS, STAGES_BY_THREADS, WRONG_ROWS

COPY_MUTANTS = {
    # A stage that is read before its rows have come; a stage that is filled before its readers begin; one that is
    # filled while they read it.
    "stage-filled": ("simt/copy_pipeline.cuh", "return true;", COPIED_STAGES, WRONG_ROWS),
    "stage-free": ("simt/copy_pipeline.cuh", "return true;", COPIED_STAGES, WRONG_ROWS),
    "stage-read": ("simt/copy_pipeline.cuh", "", COPIED_STAGES, WRONG_ROWS),
    # Barriers whose initialization copies need not see.
    "stage-fence": ("simt/copy_pipeline.cuh", "", COPIED_STAGES, "call fence_copies after init"),
    # Rows that overwrite what other lanes read; a lane without a row that waits for a phase long past.
    "row-met": ("simt/bulk_copy.cuh", "", COPIED_GROUPS, WRONG_ROWS),
    "rows-met": ("simt/bulk_copy.cuh", "", COPIED_STAGES, WRONG_ROWS),
    # Rows whose lanes have not all stored their parts.
    "rows-stored": ("simt/bulk_copy.cuh", "", STAGES_BY_THREADS, WRONG_ROWS),
    "parts-stored": ("simt/bulk_copy.cuh", "", PARTS_BY_THREADS, WRONG_ROWS),
    "row-stored": ("simt/bulk_copy.cuh", "", GROUPS_BY_THREADS, WRONG_ROWS),
    # Arrivals that do not release what the thread wrote; that do not pass on what other arrivals released. A wait that
    # acquires nothing.
    "phase-release": ("simt/counted_phases.cuh", "", COPIED_HALVES, WRONG_ROWS),
    "phase-passed-on": ("simt/counted_phases.cuh", "", COPIED_HALVES, WRONG_ROWS),
    "phase-acquire": ("simt/counted_phases.cuh", "", COPIED_HALVES, WRONG_ROWS),
}
