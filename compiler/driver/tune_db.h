/// tune_db.h - a tuning store at build time: which configurations become code, and for which
/// shapes.
#ifndef NEWT_DRIVER_TUNE_DB_H
#define NEWT_DRIVER_TUNE_DB_H
#include "driver/job.h"

/// Reads --tune-db for the job's source and architectures into job->tuned. True without one; false
/// after a report. Entries for another version of the source are warned of (stale-tuning).
bool tune_db_read(Job *job);

/// The winners, as lower_enumerate takes them.
const TunedConfig *tune_db_winners(Job *job, uint32_t *count);

/// The dispatch table of a kernel whose params are laid out.
const ArtifactTuned *tune_db_table(Job *job, const JobKernel *k, uint32_t *count);

#endif
