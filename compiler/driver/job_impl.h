/// job_impl.h - between the files of a job.
#ifndef NEWT_DRIVER_JOB_IMPL_H
#define NEWT_DRIVER_JOB_IMPL_H
#include "driver/job.h"

/// Fills what a kernel is to C, and its texts. False after a report.
bool job_kernel(Job *job, JobKernel *k);

#endif
