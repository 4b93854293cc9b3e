// The drivers that were built in, and the process's list of open devices.
#include "kiln/Runtime/Device/Device.h"
#include "kiln/Runtime/Error.h"
#include <atomic>
#include <mutex>

using namespace kiln;
using namespace llvm;

//===- Drivers ------------------------------------------------------------------------------===//

namespace kiln {
#define KILN_DRIVER(Name) std::unique_ptr<Driver> create##Name##Driver();
#include "kiln/Runtime/Device/Drivers.def"
} // namespace kiln

ArrayRef<std::unique_ptr<Driver>> kiln::drivers() {
  static const auto *all = [] {
    auto *list = new std::vector<std::unique_ptr<Driver>>;
#define KILN_DRIVER(Name) list->push_back(create##Name##Driver());
#include "kiln/Runtime/Device/Drivers.def"
    return list;
  }();
  return *all;
}

static Driver *findDriver(StringRef prefix) {
  for (const std::unique_ptr<Driver> &driver : drivers())
    if (driver->prefix() == prefix)
      return driver.get();
  return nullptr;
}

static std::atomic<WhyNoTarget> whyNoTarget{nullptr};

void kiln::setKnownTargets(WhyNoTarget why) { whyNoTarget = why; }

std::string kiln::whyUnknownTarget(StringRef target) {
  WhyNoTarget why = whyNoTarget;
  return why ? why(target) : "";
}

//===- Devices ------------------------------------------------------------------------------===//

namespace {
/// Devices are never closed: kernels and tensors may refer to them until the process ends.
struct Registry {
  static constexpr uint32_t capacity = 256;
  static constexpr int32_t spaceTypes = 32, spaceIds = 16;
  std::mutex mutex;
  std::atomic<Device *> byNumber[capacity] = {};
  std::atomic<uint32_t> count{0};
  /// Answers deviceOfMemory without the mutex once a device is open.
  std::atomic<Device *> bySpace[spaceTypes][spaceIds] = {};

  static Registry &get() {
    static Registry *registry = new Registry;
    return *registry;
  }
};
} // namespace

Expected<Device *> kiln::openDevice(StringRef name) {
  Registry &registry = Registry::get();
  auto [prefix, rest] = name.split(':');
  Driver *driver = findDriver(prefix);
  if (!driver) {
    std::string known;
    for (const std::unique_ptr<Driver> &each : drivers())
      known += (known.empty() ? "'" : ", '") + each->prefix().str() + "'";
    return makeError(KILN_ERROR_NOT_FOUND,
                     "no device '" + name + "': expected a name that starts with one of " + known);
  }
  std::lock_guard<std::mutex> lock(registry.mutex);
  uint32_t count = registry.count.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < count; ++i)
    if (Device *device = registry.byNumber[i].load(); device->name == name)
      return device;
  if (count == Registry::capacity)
    return makeError(KILN_ERROR_DEVICE, "too many devices are open");
  Expected<std::unique_ptr<Device>> opened = driver->open(rest);
  if (!opened) {
    KilnErrorCode code = KILN_ERROR_DEVICE;
    std::string why;
    llvm::handleAllErrors(
        opened.takeError(),
        [&](const RuntimeError &error) {
          code = error.code;
          why = error.text;
        },
        [&](const llvm::ErrorInfoBase &error) { why = error.message(); });
    return makeError(code, "cannot open device '" + name + "': " + why);
  }
  // A name may be short for another ("x" for "x:0"): there is still one device.
  for (uint32_t i = 0; i < count; ++i)
    if (Device *device = registry.byNumber[i].load(); device->name == (*opened)->name)
      return device;
  Device *device = opened->release();
  device->number = count;
  registry.byNumber[count].store(device, std::memory_order_release);
  registry.count.store(count + 1, std::memory_order_release);
  MemorySpace space = device->memory;
  if (space.type >= 0 && space.type < Registry::spaceTypes && space.id >= 0 &&
      space.id < Registry::spaceIds)
    registry.bySpace[space.type][space.id].store(device, std::memory_order_release);
  return device;
}

Expected<Device *> kiln::deviceOfMemory(MemorySpace memory) {
  Registry &registry = Registry::get();
  if (memory.type == 0)
    memory = {1, 0};
  if (memory.type > 0 && memory.type < Registry::spaceTypes && memory.id >= 0 &&
      memory.id < Registry::spaceIds)
    if (Device *device = registry.bySpace[memory.type][memory.id].load(std::memory_order_acquire))
      return device;
  for (const std::unique_ptr<Driver> &driver : drivers())
    if (std::string name = driver->nameOfMemory(memory); !name.empty())
      return openDevice(name);
  return makeError(KILN_ERROR_NOT_FOUND, "no driver knows memory of DLPack device type " +
                                             Twine(memory.type) + " and id " + Twine(memory.id));
}

std::string kiln::spellMemory(MemorySpace memory) {
  for (const std::unique_ptr<Driver> &driver : drivers())
    if (std::string name = driver->nameOfMemory(memory); !name.empty())
      return "on '" + name + "'";
  return ("in memory of DLPack device type " + Twine(memory.type) + " and id " + Twine(memory.id))
      .str();
}

Device *kiln::deviceByNumber(uint32_t number) {
  Registry &registry = Registry::get();
  return number < registry.count.load(std::memory_order_acquire)
             ? registry.byNumber[number].load(std::memory_order_acquire)
             : nullptr;
}

//===- Describing ---------------------------------------------------------------------------===//

json::Array kiln::describeDevices() {
  json::Array all;
  auto unavailable = [&](StringRef name, Error error) {
    all.push_back(
        json::Object{{"name", name}, {"available", false}, {"reason", toString(std::move(error))}});
  };
  for (const std::unique_ptr<Driver> &driver : drivers()) {
    Expected<std::vector<std::string>> names = driver->names();
    if (!names) {
      unavailable(driver->prefix(), names.takeError());
      continue;
    }
    for (const std::string &name : *names) {
      Expected<Device *> device = openDevice(name);
      if (device)
        all.push_back(describeDevice(**device));
      else
        unavailable(name, device.takeError());
    }
  }
  return all;
}
