/// artifact_impl.h - between the writers: the parts of the texts that autotuned kernels have.
///
/// Each of them writes nothing for a kernel without configurations.
#ifndef NEWT_ARTIFACT_ARTIFACT_IMPL_H
#define NEWT_ARTIFACT_ARTIFACT_IMPL_H
#include "artifact/artifact.h"

void tuned_header_types(const Artifact *art, const ArtifactKernel *k, Buf *out);
/// `mark`: the export macro with a space, or nothing.
void tuned_header_functions(const ArtifactKernel *k, const char *mark, Buf *out);
void tuned_module_tables(const ArtifactKernel *k, uint32_t index, Buf *out);
void tuned_module_functions(const ArtifactKernel *k, uint32_t index, Buf *out);
void tuned_manifest(const ArtifactKernel *k, Buf *out);

#endif
