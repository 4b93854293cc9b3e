// The interface by which targets say what their warps wait by.
#include "kiln/Target/Common/Synchronisation.h"

#include "kiln/Target/Common/Synchronisation.cpp.inc"
