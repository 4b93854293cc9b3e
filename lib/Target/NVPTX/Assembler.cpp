// PTX to cubin by a program or a library of the vendor's, where there is one.
#include "Assembler.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <dlfcn.h>
#include <mutex>
#include <optional>

using namespace llvm;
using namespace kiln::nvptx;

static constexpr StringLiteral kVariable = "KILN_ASSEMBLER";

static bool isLibrary(StringRef path) {
  return sys::path::filename(path).starts_with("libnvJitLink");
}

Expected<Assembler> kiln::nvptx::findAssembler() {
  using Kind = Assembler::Kind;
  auto make = [](StringRef path, bool isChosen) {
    return Assembler{isLibrary(path) ? Kind::Library : Kind::Program, path.str(), isChosen};
  };
  if (const char *chosen = std::getenv(kVariable.data()); chosen && *chosen) {
    if (StringRef(chosen) == "driver")
      return Assembler{Kind::Driver, "", true};
    if (!sys::fs::exists(chosen))
      return createStringError("expected " + kVariable +
                               " to be 'driver' or the path of ptxas or "
                               "libnvJitLink, got '" +
                               chosen + "', which is not there");
    return make(chosen, true);
  }
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH", ""}) {
    const char *root = *variable ? std::getenv(variable) : "/usr/local/cuda";
    if (!root)
      continue;
    // The program first: its code for wgmma was up to a tenth faster than the library's (13.0).
    for (const char *place : {"bin/ptxas", "lib64/libnvJitLink.so"}) {
      SmallString<128> path(root);
      sys::path::append(path, place);
      if (sys::fs::exists(path))
        return make(path, false);
    }
  }
  if (ErrorOr<std::string> program = sys::findProgramByName("ptxas"))
    return make(*program, false);
  return Assembler();
}

std::string kiln::nvptx::identifyAssembler() {
  Expected<Assembler> found = findAssembler();
  if (!found)
    return toString(found.takeError());
  if (found->kind == Assembler::Kind::Driver)
    return "driver";
  sys::fs::file_status status;
  if (std::error_code code = sys::fs::status(found->path, status))
    return found->path + ": " + code.message();
  int64_t time = status.getLastModificationTime().time_since_epoch().count();
  return found->path + " " + std::to_string(status.getSize()) + " " + std::to_string(time);
}

//===- The program --------------------------------------------------------------------------===//

namespace {
/// A temporary file that goes with its owner.
struct Scratch {
  static Expected<Scratch> create(StringRef suffix) {
    Scratch scratch;
    if (std::error_code code = sys::fs::createTemporaryFile("kiln", suffix, scratch.path))
      return createStringError(code, "cannot create a temporary file: " + code.message());
    scratch.remover.setFile(scratch.path);
    return scratch;
  }
  std::string read() const {
    auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    return buffer ? (*buffer)->getBuffer().str() : "";
  }
  SmallString<128> path;
  FileRemover remover;
};

struct Output {
  int status;
  std::string text;
};
} // namespace

/// Runs a program, and returns what it said.
static Expected<Output> execute(StringRef program, ArrayRef<StringRef> arguments) {
  Expected<Scratch> said = Scratch::create("txt");
  if (!said)
    return said.takeError();
  SmallVector<StringRef> all{program};
  append_range(all, arguments);
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(said->path),
                                          StringRef(said->path)};
  std::string problem;
  int status = sys::ExecuteAndWait(program, all, std::nullopt, redirects, /*SecondsToWait=*/600,
                                   /*MemoryLimit=*/0, &problem);
  if (status < 0)
    return createStringError("cannot run " + program + ": " + problem);
  return Output{status, said->read()};
}

/// "ptxas 13.0.88"; each program is asked once.
static Expected<std::string> getProgramVersion(StringRef path) {
  static std::mutex mutex;
  static StringMap<std::string> known;
  std::lock_guard<std::mutex> lock(mutex);
  if (auto entry = known.find(path); entry != known.end())
    return entry->second;
  Expected<Output> said = execute(path, {"--version"});
  if (!said)
    return said.takeError();
  StringRef text = said->text;
  size_t at = text.rfind(", V");
  if (said->status || at == StringRef::npos)
    return createStringError("expected " + path + " to tell its version, got '" + text.trim() +
                             "'");
  std::string version = "ptxas " + text.substr(at + 3).split('\n').first.trim().str();
  return known[path] = version;
}

/// Whether the PTX is right and its reader is too old for it.
static bool isTooOld(StringRef text) {
  return text.contains("Unsupported .version") || text.contains("not defined for option") ||
         text.contains("unsupported gpu architecture");
}

/// What went wrong, and whether another may do better.
struct Failure {
  std::string text;
  bool isTooOld;
};

static std::optional<Failure> runProgram(StringRef path, StringRef ptx, StringRef chip,
                                         Assembled &out) {
  auto fail = [](Error error) { return Failure{toString(std::move(error)), true}; };
  Expected<std::string> version = getProgramVersion(path);
  if (!version)
    return fail(version.takeError());
  Expected<Scratch> input = Scratch::create("ptx"), output = Scratch::create("cubin");
  if (!input || !output)
    return fail(joinErrors(input.takeError(), output.takeError()));
  {
    std::error_code code;
    raw_fd_ostream stream(input->path, code);
    stream << ptx;
    if (code)
      return fail(createStringError(code, "cannot write " + input->path.str()));
  }
  std::string arch = ("-arch=" + chip).str();
  Expected<Output> said =
      execute(path, {arch, "-lineinfo", input->path.str(), "-o", output->path.str()});
  if (!said)
    return fail(said.takeError());
  if (said->status)
    return Failure{*version + " failed: " + StringRef(said->text).trim().str(),
                   isTooOld(said->text)};
  out = {output->read(), *version};
  return std::nullopt;
}

//===- The library --------------------------------------------------------------------------===//

namespace {
/// The part of nvJitLink's interface that is used; it is the same in all versions from 12 on.
struct JitLink {
  using Handle = void *;
  static constexpr int kPtx = 2;
  int (*create)(Handle *, uint32_t, const char **) = nullptr;
  int (*destroy)(Handle *) = nullptr;
  int (*addData)(Handle, int, const void *, size_t, const char *) = nullptr;
  int (*complete)(Handle) = nullptr;
  int (*getSize)(Handle, size_t *) = nullptr;
  int (*getCubin)(Handle, void *) = nullptr;
  int (*getLogSize)(Handle, size_t *) = nullptr;
  int (*getLog)(Handle, char *) = nullptr;
  int (*version)(unsigned *, unsigned *) = nullptr;

  static Expected<JitLink> open(StringRef path) {
    void *library = dlopen(path.str().c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return createStringError("cannot open " + path + ": " + dlerror());
    JitLink result;
    std::string missing;
    auto find = [&](auto &function, const char *name) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      if (!function)
        missing = name;
    };
    find(result.create, "nvJitLinkCreate");
    find(result.destroy, "nvJitLinkDestroy");
    find(result.addData, "nvJitLinkAddData");
    find(result.complete, "nvJitLinkComplete");
    find(result.getSize, "nvJitLinkGetLinkedCubinSize");
    find(result.getCubin, "nvJitLinkGetLinkedCubin");
    find(result.getLogSize, "nvJitLinkGetErrorLogSize");
    find(result.getLog, "nvJitLinkGetErrorLog");
    find(result.version, "nvJitLinkVersion");
    if (!missing.empty())
      return createStringError("expected " + path + " to have '" + missing + "'");
    return result;
  }
};
} // namespace

static std::optional<Failure> runLibrary(StringRef path, StringRef ptx, StringRef chip,
                                         Assembled &out) {
  Expected<JitLink> library = JitLink::open(path);
  if (!library)
    return Failure{toString(library.takeError()), true};
  unsigned major = 0, minor = 0;
  library->version(&major, &minor);
  std::string name = "nvJitLink " + std::to_string(major) + "." + std::to_string(minor);
  std::string arch = ("-arch=" + chip).str();
  const char *options[] = {arch.c_str(), "-lineinfo"};
  JitLink::Handle handle = nullptr;
  if (library->create(&handle, 2, options))
    return Failure{name + " does not know " + chip.str(), true};
  llvm::scope_exit finish([&] { library->destroy(&handle); });
  std::string text = ptx.str();
  size_t size = 0;
  if (library->addData(handle, JitLink::kPtx, text.c_str(), text.size() + 1, "kernel") ||
      library->complete(handle) || library->getSize(handle, &size)) {
    size_t length = 0;
    std::string log;
    if (!library->getLogSize(handle, &length) && length) {
      log.resize(length);
      library->getLog(handle, log.data());
    }
    return Failure{name + " failed: " + StringRef(log.c_str()).trim().str(), isTooOld(log)};
  }
  std::string cubin(size, '\0');
  if (library->getCubin(handle, cubin.data()))
    return Failure{name + " gave no cubin", true};
  out = {std::move(cubin), name};
  return std::nullopt;
}

Expected<Assembled> kiln::nvptx::assemble(StringRef ptx, StringRef chip) {
  Expected<Assembler> found = findAssembler();
  if (!found)
    return found.takeError();
  if (found->kind == Assembler::Kind::Driver)
    return Assembled{"", "driver"};
  Assembled result;
  std::optional<Failure> failure = found->kind == Assembler::Kind::Program
                                       ? runProgram(found->path, ptx, chip, result)
                                       : runLibrary(found->path, ptx, chip, result);
  if (!failure)
    return result;
  if (found->isChosen || !failure->isTooOld)
    return createStringError(failure->text);
  return Assembled{"", "driver (" + StringRef(failure->text).split('\n').first.str() + ")"};
}
