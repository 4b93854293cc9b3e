// The exact solver of a compile, whose schedules lie beside compiled kernels.
#ifndef KILN_LIB_PIPELINE_SOLUTIONFILES_H
#define KILN_LIB_PIPELINE_SOLUTIONFILES_H

#include "kiln/Schedule/Passes.h"

namespace kiln {

/// An exact solver that asks the cache of compiled kernels first. Without such a cache it solves
/// each time.
SharedSolver createExactSolver();

} // namespace kiln

#endif // KILN_LIB_PIPELINE_SOLUTIONFILES_H
