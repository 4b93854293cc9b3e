// A vendor's driver library: opened at run time, asked for the functions that all such libraries
// have, and made a driver whose devices are numbered.
//
// The functions are one table, DriverFunctions: each has one type, whichever library it comes
// from, and the folder of a vendor spells its name. What a vendor alone has, it adds.
#ifndef KILN_RUNTIME_DEVICE_DRIVERLIBRARY_H
#define KILN_RUNTIME_DEVICE_DRIVERLIBRARY_H

#include "kiln/Runtime/Device/Accelerator.h"
#include "kiln/Runtime/Device/DriverNumbers.h"
#include "kiln/Runtime/Error.h"

namespace kiln {

/// One function, under the library's own name for it. It returns 0 if all went well.
template <typename... Args>
struct EntryPoint {
  const char *symbol;
  int (*function)(Args...) = nullptr;
  int operator()(Args... args) const { return function(args...); }
  /// As the manuals write it, without the version of its interface.
  llvm::StringRef name() const {
    llvm::StringRef name = symbol;
    name.consume_back("_v2");
    return name;
  }
};

/// What every driver library has. Addresses on the device travel as pointers do.
struct DriverFunctions {
  EntryPoint<unsigned> init;
  EntryPoint<int *> getVersion;
  EntryPoint<int *> getDeviceCount;
  EntryPoint<size_t *, int> getTotalMemory;
  EntryPoint<void *> moduleUnload;
  EntryPoint<void **, void *, const char *> moduleGetFunction;
  EntryPoint<int *, int, void *> functionGetAttribute;
  EntryPoint<void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
             void **, void **>
      launchKernel;
  EntryPoint<void **, size_t> memoryAllocate;
  EntryPoint<void *> memoryFree;
  EntryPoint<void *, int, size_t, void *> memorySet;
  EntryPoint<void **, unsigned> streamCreate;
  EntryPoint<void *> streamDestroy;
  EntryPoint<void *> streamSynchronize;
  EntryPoint<void *> streamQuery;
  EntryPoint<void *, int *, uint64_t *> streamGetCapture;
  EntryPoint<int *> exchangeCaptureMode;
  EntryPoint<int *, int, int> canAccessPeer;
  EntryPoint<int *, void *, int, size_t> getResidentBlocks;
  // What only kernels that print or assert need; old libraries lack some.
  EntryPoint<void **, size_t, unsigned> hostAllocate;
  EntryPoint<void *> hostFree;
  EntryPoint<void *, void (*)(void *), void *> launchHostFunction;
  // What lets code go that is not used any more.
  EntryPoint<> synchronizeAll;

  template <typename Visit>
  void forEach(Visit visit) {
    visit(init), visit(getVersion), visit(getDeviceCount), visit(getTotalMemory);
    visit(moduleUnload), visit(moduleGetFunction), visit(functionGetAttribute);
    visit(launchKernel), visit(memoryAllocate), visit(memoryFree), visit(memorySet);
    visit(streamCreate), visit(streamDestroy), visit(streamSynchronize), visit(streamQuery);
    visit(streamGetCapture), visit(exchangeCaptureMode), visit(canAccessPeer);
    visit(getResidentBlocks);
  }
  template <typename Visit>
  void forEachOptional(Visit visit) {
    visit(hostAllocate), visit(hostFree), visit(launchHostFunction);
    visit(synchronizeAll);
  }
};

/// An open library and its functions.
class DriverLibrary {
public:
  explicit DriverLibrary(const DriverFunctions &functions) : functions(functions) {}
  virtual ~DriverLibrary() = default;

  DriverFunctions functions;
  int version = 0;

  /// A result's name and description in the library's words; null if it has none.
  virtual std::pair<const char *, const char *> explain(int result) const = 0;
  /// A version as people write it.
  virtual std::string spellVersion(int version) const = 0;

  llvm::Error check(int result, const llvm::Twine &doing) const {
    return LLVM_LIKELY(result == 0) ? llvm::Error::success() : fail(result, doing);
  }
  template <typename... Args, typename... Given>
  llvm::Error call(const EntryPoint<Args...> &entry, Given... given) const {
    int result = entry(given...);
    return LLVM_LIKELY(result == 0) ? llvm::Error::success() : fail(result, entry.name());
  }

protected:
  /// Tries `names` in turn, or only what the environment variable `override` names. The error
  /// says what was tried and what the loader answered.
  llvm::Error open(llvm::ArrayRef<const char *> names, const char *override);
  /// Sets the pointer, or notes the name as missing.
  template <typename... Args>
  void find(EntryPoint<Args...> &entry, llvm::ArrayRef<const char *> otherNames = {}) {
    findIfAny(entry, otherNames);
    if (!entry.function)
      missing += (missing.empty() ? "'" : ", '") + std::string(entry.symbol) + "'";
  }
  template <typename... Args>
  void findIfAny(EntryPoint<Args...> &entry, llvm::ArrayRef<const char *> otherNames = {}) {
    set(entry.function, address(entry.symbol));
    for (const char *name : otherNames)
      if (!entry.function)
        set(entry.function, address(name));
  }
  template <typename Function>
  void find(Function *&function, const char *name) {
    EntryPoint<> entry{name};
    find(entry);
    set(function, reinterpret_cast<void *>(entry.function));
  }
  /// Finds the table's functions. It is an error if anything was missing, if the library does not
  /// start, or if it is older than `oldest`.
  llvm::Error start(int oldest);

private:
  template <typename Function>
  static void set(Function *&function, void *address) {
    function = reinterpret_cast<Function *>(address);
  }
  llvm::Error fail(int result, const llvm::Twine &doing) const;
  void *address(const char *name) const;
  void *handle = nullptr;
  std::string opened, missing;
};

/// Makes a library by its default constructor and opens it, once for the process; the error is
/// the same each time.
template <typename Library>
llvm::Expected<const Library *> openOnce() {
  struct Opened {
    Library library;
    KilnErrorCode code = KILN_OK;
    std::string why;
  };
  static const Opened *once = [] {
    auto *result = new Opened;
    llvm::handleAllErrors(result->library.open(), [&](const RuntimeError &error) {
      result->code = error.code;
      result->why = error.text;
    });
    return result;
  }();
  if (once->code != KILN_OK)
    return makeError(once->code, once->why);
  return &once->library;
}

/// A device through the table's functions. What the vendors do each in its own way is left open:
/// how a device becomes the thread's, how code is loaded, how bytes are copied.
class LibraryApi : public AcceleratorApi {
public:
  LibraryApi(const DriverLibrary &library, int number)
      : number(number), library(library), functions(library.functions) {}

  void unload(const Code &code) override { functions.moduleUnload(code.module); }
  llvm::json::Object describe(const Code &code) override;
  /// Without traits.
  llvm::Error launch(const Launch &launch) override;
  llvm::Expected<void *> allocate(uint64_t size) override;
  llvm::Error free(void *memory) override;
  llvm::Error clear(void *memory, uint64_t size, KilnStream stream) override;
  llvm::Expected<KilnStream> createStream() override;
  llvm::Error destroyStream(KilnStream stream) override;
  llvm::Error synchronize(KilnStream stream) override;
  llvm::Error synchronizeAll() override;
  llvm::Expected<bool> isIdle(KilnStream stream) override;
  llvm::Expected<void *> allocateOnHost(uint64_t size) override;
  llvm::Error freeOnHost(void *memory) override;
  llvm::Error callAfter(KilnStream stream, void (*function)(void *), void *argument) override;
  llvm::Expected<uint64_t> captureOf(KilnStream stream) override;
  llvm::Expected<bool> canAccess(AcceleratorApi &peer) override;

  /// Its place among the driver's devices.
  const int number;

protected:
  /// While this lives, the thread may allocate and load although a stream is being captured:
  /// neither is part of what the graph will do.
  class OutsideCapture {
  public:
    explicit OutsideCapture(const DriverFunctions &functions) : functions(functions) {
      functions.exchangeCaptureMode(&mode);
    }
    ~OutsideCapture() { functions.exchangeCaptureMode(&mode); }

  private:
    const DriverFunctions &functions;
    int mode = driver::captureRelaxed;
  };

  /// What came of making a peer's memory reachable: having it already is no failure.
  llvm::Error checkPeerAccess(int result, const llvm::Twine &doing) const;
  /// Why a launch of so many programs at once did not fit, if that is what `error` says.
  llvm::Error explainResidency(llvm::Error error, const Launch &launch) const;
  /// The function of a module that was loaded; unloads the module if it has none of this name.
  llvm::Error findFunction(Code &loaded, const std::string &symbol);

private:
  const DriverLibrary &library;
  const DriverFunctions &functions;
};

/// Devices that are called by a prefix and their number.
class NumberedDriver : public Driver {
public:
  explicit NumberedDriver(llvm::StringRef name) : name(name) {}
  llvm::StringRef prefix() const override { return name; }
  llvm::Expected<std::unique_ptr<Device>> open(llvm::StringRef rest) override;
  llvm::Expected<std::vector<std::string>> names() override;

protected:
  virtual llvm::Expected<const DriverLibrary *> library() const = 0;
  virtual llvm::Expected<std::unique_ptr<Device>> openNumber(int number) = 0;

private:
  const llvm::StringRef name;
  llvm::Expected<int> count() const;
};

/// The devices of a library, each opened by one function.
template <typename Library>
class LibraryDriver : public NumberedDriver {
public:
  using Open = llvm::Expected<std::unique_ptr<Device>> (*)(const Library &library, int number);
  /// `memoryTypes`: DLPack's, of memory that belongs to one of the devices.
  LibraryDriver(llvm::StringRef name, std::vector<int32_t> memoryTypes, Open open)
      : NumberedDriver(name), memoryTypes(std::move(memoryTypes)), openDevice(open) {}
  std::string nameOfMemory(MemorySpace memory) const override {
    bool isOurs = llvm::is_contained(memoryTypes, memory.type);
    return isOurs ? (prefix() + ":" + llvm::Twine(memory.id)).str() : "";
  }

protected:
  llvm::Expected<const DriverLibrary *> library() const override { return openOnce<Library>(); }
  llvm::Expected<std::unique_ptr<Device>> openNumber(int number) override {
    return openDevice(*llvm::cantFail(openOnce<Library>()), number);
  }

private:
  const std::vector<int32_t> memoryTypes;
  const Open openDevice;
};

} // namespace kiln

#endif // KILN_RUNTIME_DEVICE_DRIVERLIBRARY_H
