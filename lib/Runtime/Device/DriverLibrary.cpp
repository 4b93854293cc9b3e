// Opening a vendor's library, and the devices that its functions make.
#include "kiln/Runtime/Device/DriverLibrary.h"
#include <cstdlib>
#include <dlfcn.h>

using namespace kiln;
using namespace llvm;

//===- The library --------------------------------------------------------------------------===//

Error DriverLibrary::open(ArrayRef<const char *> names, const char *override) {
  const char *chosen = std::getenv(override);
  if (chosen && *chosen)
    names = chosen;
  std::string tried;
  for (const char *name : names) {
    handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle) {
      opened = name;
      return Error::success();
    }
    const char *why = ::dlerror();
    tried += std::string(tried.empty() ? "" : "; ") + "looked for '" + name +
             "': " + (why ? why : "not found");
  }
  return makeError(KILN_ERROR_NOT_FOUND, "no driver library: " + tried);
}

void *DriverLibrary::address(const char *name) const { return ::dlsym(handle, name); }

Error DriverLibrary::start(int oldest) {
  functions.forEach([&](auto &entry) { find(entry); });
  functions.forEachOptional([&](auto &entry) { findIfAny(entry); });
  if (!missing.empty())
    return makeError(KILN_ERROR_UNSUPPORTED,
                     "the driver library '" + opened + "' is too old: it lacks " + missing);
  int result = functions.init(0);
  if (result == driver::noDevice || result == driver::invalidDevice)
    return makeError(KILN_ERROR_NOT_FOUND, "the driver in '" + opened + "' has no device: " +
                                               toString(fail(result, functions.init.name())));
  if (Error error = check(result, functions.init.name()))
    return makeError(KILN_ERROR_DEVICE, "the driver in '" + opened +
                                            "' does not start: " + toString(std::move(error)));
  if (Error error = call(functions.getVersion, &version))
    return error;
  if (version < oldest)
    return makeError(KILN_ERROR_UNSUPPORTED,
                     "the driver in '" + opened + "' is too old: expected version " +
                         spellVersion(oldest) + " or later, got " + spellVersion(version));
  return Error::success();
}

Error DriverLibrary::fail(int result, const Twine &doing) const {
  auto [name, text] = explain(result);
  // Some drivers describe an error by its name.
  StringRef called = name ? name : "unknown error", described = text ? text : "no description";
  std::string words = (doing + " failed: " + called).str();
  if (described != called)
    words += (" (" + described + ")").str();
  KilnErrorCode code = result == driver::outOfMemory ? KILN_ERROR_OUT_OF_MEMORY : KILN_ERROR_DEVICE;
  return llvm::make_error<DriverFailure>(code, std::move(words), result, driver::isFatal(result));
}

//===- A device -----------------------------------------------------------------------------===//

json::Object LibraryApi::describe(const Code &code) {
  auto ask = [&](int attribute) -> int64_t {
    int value = 0;
    return functions.functionGetAttribute(&value, attribute, code.function) == 0 ? value : -1;
  };
  return json::Object{{"registers", ask(driver::numRegisters)},
                      {"local_bytes", ask(driver::localBytes)},
                      {"static_shared_bytes", ask(driver::sharedBytes)}};
}

Error LibraryApi::launch(const Launch &launch) {
  const unsigned *grid = launch.grid;
  return library.call(functions.launchKernel, launch.function, grid[0], grid[1], grid[2],
                      launch.block, 1u, 1u, launch.dynamicShared, launch.stream, launch.parameters,
                      static_cast<void **>(nullptr));
}

Error LibraryApi::explainResidency(Error error, const Launch &launch) const {
  return handleErrors(std::move(error), [&](const DriverFailure &failure) -> Error {
    int perMultiprocessor = 0;
    if (failure.result != driver::tooManyAtOnce ||
        functions.getResidentBlocks(&perMultiprocessor, launch.function, launch.block,
                                    launch.dynamicShared) != 0)
      return llvm::make_error<DriverFailure>(failure);
    uint64_t programs = uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2];
    return makeError(KILN_ERROR_DEVICE,
                     "expected a cooperative launch of programs that run all at once, " +
                         Twine(perMultiprocessor) + " on each multiprocessor, got " +
                         Twine(programs) + ": " + failure.text);
  });
}

Expected<void *> LibraryApi::allocate(uint64_t size) {
  OutsideCapture outside(functions);
  void *memory = nullptr;
  const auto &entry = functions.memoryAllocate;
  if (Error error =
          library.check(entry(&memory, size), entry.name() + " of " + Twine(size) + " bytes"))
    return error;
  return memory;
}

Error LibraryApi::free(void *memory) { return library.call(functions.memoryFree, memory); }

Error LibraryApi::clear(void *memory, uint64_t size, KilnStream stream) {
  return library.call(functions.memorySet, memory, 0, size, stream);
}

Expected<KilnStream> LibraryApi::createStream() {
  void *stream = nullptr;
  if (Error error = library.call(functions.streamCreate, &stream, driver::streamOfItsOwn))
    return error;
  return stream;
}

Error LibraryApi::destroyStream(KilnStream stream) {
  return library.call(functions.streamDestroy, stream);
}

Error LibraryApi::synchronize(KilnStream stream) {
  return library.call(functions.streamSynchronize, stream);
}

Error LibraryApi::synchronizeAll() {
  if (!functions.synchronizeAll.function)
    return makeError(KILN_ERROR_UNSUPPORTED,
                     "expected a driver library with '" + functions.synchronizeAll.name() + "'");
  OutsideCapture outside(functions);
  return library.call(functions.synchronizeAll);
}

Expected<bool> LibraryApi::isIdle(KilnStream stream) {
  int result = functions.streamQuery(stream);
  if (result == driver::notReady)
    return false;
  if (Error error = library.check(result, functions.streamQuery.name()))
    return error;
  return true;
}

Expected<void *> LibraryApi::allocateOnHost(uint64_t size) {
  if (!functions.hostAllocate.function || !functions.hostFree.function ||
      !functions.launchHostFunction.function)
    return makeError(KILN_ERROR_UNSUPPORTED, "expected a driver library with '" +
                                                 functions.hostAllocate.name() + "', '" +
                                                 functions.hostFree.name() + "' and '" +
                                                 functions.launchHostFunction.name() +
                                                 "', since the kernel prints or asserts");
  OutsideCapture outside(functions);
  void *memory = nullptr;
  if (Error error = library.call(functions.hostAllocate, &memory, size,
                                 driver::hostForAllDevices | driver::hostMapped))
    return error;
  return memory;
}

Error LibraryApi::freeOnHost(void *memory) { return library.call(functions.hostFree, memory); }

Error LibraryApi::callAfter(KilnStream stream, void (*function)(void *), void *argument) {
  return library.call(functions.launchHostFunction, stream, function, argument);
}

Expected<uint64_t> LibraryApi::captureOf(KilnStream stream) {
  int status = 0;
  uint64_t number = 0;
  if (Error error = library.call(functions.streamGetCapture, stream, &status, &number))
    return error;
  return status == driver::notCaptured ? 0 : std::max<uint64_t>(number, 1);
}

Expected<bool> LibraryApi::canAccess(AcceleratorApi &peer) {
  int can = 0;
  if (Error error = library.call(functions.canAccessPeer, &can, number,
                                 static_cast<LibraryApi &>(peer).number))
    return error;
  return can != 0;
}

Error LibraryApi::checkPeerAccess(int result, const Twine &doing) const {
  return library.check(result == driver::peerAlreadyEnabled ? 0 : result, doing);
}

Error LibraryApi::findFunction(Code &loaded, const std::string &symbol) {
  Error error =
      library.call(functions.moduleGetFunction, &loaded.function, loaded.module, symbol.c_str());
  if (error)
    unload(loaded);
  return error;
}

//===- A driver -----------------------------------------------------------------------------===//

Expected<int> NumberedDriver::count() const {
  Expected<const DriverLibrary *> opened = library();
  if (!opened)
    return opened.takeError();
  int count = 0;
  if (Error error = (*opened)->call((*opened)->functions.getDeviceCount, &count))
    return error;
  return count;
}

Expected<std::unique_ptr<Device>> NumberedDriver::open(StringRef rest) {
  Expected<int> known = count();
  if (!known)
    return known.takeError();
  int number = 0;
  if ((!rest.empty() && rest.getAsInteger(10, number)) || number < 0 || number >= *known)
    return makeError(KILN_ERROR_NOT_FOUND, "no device '" + prefix() + ":" + rest +
                                               "': expected a number below " + Twine(*known));
  return openNumber(number);
}

Expected<std::vector<std::string>> NumberedDriver::names() {
  Expected<int> known = count();
  if (!known)
    return known.takeError();
  if (*known == 0)
    return makeError(KILN_ERROR_NOT_FOUND, "the driver has no device");
  std::vector<std::string> all;
  all.reserve(*known);
  for (int i = 0; i < *known; ++i)
    all.push_back((prefix() + ":" + Twine(i)).str());
  return all;
}
