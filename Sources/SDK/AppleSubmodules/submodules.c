/* This target has no code: its module map names the submodules that sources for Apple's systems import. */
#include "AppleSubmodules.h"
