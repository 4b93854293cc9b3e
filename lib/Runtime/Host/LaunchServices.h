// The services of one launch: the table that programs see, and where asserts are reported.
#ifndef KILN_LIB_RUNTIME_HOST_LAUNCHSERVICES_H
#define KILN_LIB_RUNTIME_HOST_LAUNCHSERVICES_H

#include "kiln/Runtime/Host/Services.h"
#include <mutex>
#include <string>

namespace kiln {

/// The first failed assert of a launch, in words; empty if none failed.
struct AssertReport {
  std::mutex mutex;
  std::string text;
};

struct LaunchServices : HostServices {
  explicit LaunchServices(AssertReport &report);
  AssertReport *report;
};

} // namespace kiln

#endif // KILN_LIB_RUNTIME_HOST_LAUNCHSERVICES_H
