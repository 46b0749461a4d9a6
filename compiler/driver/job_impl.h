/// job_impl.h - between the files of a job.
#ifndef NEWT_DRIVER_JOB_IMPL_H
#define NEWT_DRIVER_JOB_IMPL_H
#include "driver/job.h"

/// What C passes to a kernel, and the record that it becomes (job_inputs.c).
void job_inputs(Job *job, JobKernel *k);
/// Fills what a kernel is to C, and its texts. False after a report.
bool job_kernel(Job *job, JobKernel *k);

#endif
