// Devices named "emu:<chip>". The emulator is no part of this build, so there are none; the name
// is kept so that asking for one says why.
#include "kiln/Runtime/Device/Device.h"
#include "kiln/Runtime/Error.h"

using namespace kiln;
using namespace llvm;

static Error absent() {
  return makeError(KILN_ERROR_UNSUPPORTED,
                   "emulated devices are not available: the emulator is not part of this build");
}

namespace {
class EmulatedDriver : public Driver {
public:
  StringRef prefix() const override { return "emu"; }
  Expected<std::unique_ptr<Device>> open(StringRef) override { return absent(); }
  Expected<std::vector<std::string>> names() override { return absent(); }
  std::string nameOfMemory(MemorySpace) const override { return ""; }
};
} // namespace

namespace kiln {
std::unique_ptr<Driver> createEmulatedDriver() { return std::make_unique<EmulatedDriver>(); }
} // namespace kiln
