/// A C user's translation unit: must compile without a warning at the strictest settings.
#include <newt/module.h>

#include "consumer.inc"
