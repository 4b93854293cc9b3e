// The device's mathematics as one module: what calls what is then visible to the optimiser.
#include "Erf.c"
#include "Exponentials.c"
#include "Inverse.c"
#include "Remainder.c"
#include "Single.c"
#include "Trigonometry.c"
