/// reproduce.h - what a report of a fault in newtc needs: inputs, command, versions, generated
/// texts, logs.
#ifndef NEWT_DRIVER_REPRODUCE_H
#define NEWT_DRIVER_REPRODUCE_H
#include "driver/job.h"

/// Writes the tar file of --reproduce: the first `count` jobs, as far as they got, and the texts of
/// the other inputs. False after saying why it cannot.
bool reproduce_write_tar(const Options *opt, const Nvrtc *nvrtc, Job *jobs, uint32_t count);
/// After an internal error: writes the folder STEM.reproduce beside the outputs and adds a note
/// that names it to the last report.
void reproduce_write_folder(const Nvrtc *nvrtc, Job *job);

#endif
