// PTX to cubin by a program or a library of the vendor's, where there is one.
#include "Assembler.h"
#include "kiln/Support/FileHash.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
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

static constexpr char kVariable[] = "KILN_ASSEMBLER";

static bool isLibrary(StringRef path) {
  return sys::path::filename(path).starts_with("libnvJitLink");
}

Expected<SmallVector<Assembler>> kiln::nvptx::findAssemblers() {
  using Kind = Assembler::Kind;
  auto make = [](StringRef path, bool isChosen) {
    return Assembler{isLibrary(path) ? Kind::Library : Kind::Program, path.str(), isChosen};
  };
  if (const char *chosen = std::getenv(kVariable); chosen && *chosen) {
    if (StringRef(chosen) == "driver")
      return SmallVector<Assembler>{Assembler{Kind::Driver, "", true}};
    if (!sys::fs::exists(chosen))
      return createStringError(Twine("expected ") + kVariable +
                               " to be 'driver' or the path of ptxas or "
                               "libnvJitLink, got '" +
                               chosen + "', which is not there");
    return SmallVector<Assembler>{make(chosen, true)};
  }
  SmallVector<Assembler> found;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH", ""}) {
    const char *root = *variable ? std::getenv(variable) : "/usr/local/cuda";
    if (!root)
      continue;
    // The program first: its code for wgmma was up to a tenth faster than the library's (13.0).
    for (const char *place : {"bin/ptxas", "lib64/libnvJitLink.so"}) {
      SmallString<128> path(root);
      sys::path::append(path, place);
      if (sys::fs::exists(path))
        found.push_back(make(path, false));
    }
  }
  if (ErrorOr<std::string> program = sys::findProgramByName("ptxas"))
    found.push_back(make(*program, false));
  found.push_back(Assembler());
  return found;
}

static std::string identify(const Assembler &assembler) {
  if (assembler.kind == Assembler::Kind::Driver)
    return "driver";
  return assembler.path + " " + kiln::stampOfFile(assembler.path).value_or("unreadable");
}

std::string kiln::nvptx::identifyAssembler() {
  Expected<SmallVector<Assembler>> found = findAssemblers();
  if (!found)
    return toString(found.takeError());
  std::string all;
  for (const Assembler &assembler : *found)
    all += identify(assembler) + "\n";
  return all;
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
         text.contains_insensitive("unsupported gpu architecture") ||
         text.contains_insensitive("unrecognized option");
}

/// The toolkit that first read a version of PTX (the PTX ISA's release notes).
static StringRef getToolkit(StringRef version) {
  return StringSwitch<StringRef>(version)
      .Case("8.0", "12.0")
      .Case("8.4", "12.4")
      .Cases({"8.6", "8.7"}, "12.8")
      .Case("8.8", "12.9")
      .Default("13.0");
}

/// What an assembler must be to read this.
static std::string getNeed(StringRef ptx, StringRef chip) {
  StringRef version = ptx.split(".version ").second.split('\n').first.trim();
  return ("an assembler of CUDA " + getToolkit(version) + " or later, for PTX " + version +
          " and " + chip)
      .str();
}

/// What went wrong, and whether another may do better.
struct Failure {
  std::string text;
  bool isTooOld;
};

static Failure fail(StringRef name, StringRef said, StringRef ptx, StringRef chip) {
  said = said.trim();
  if (isTooOld(said))
    return {(name + " is too old: expected " + getNeed(ptx, chip) + "; it said: " + said).str(),
            true};
  return {(name + " failed: " + said).str(), false};
}

void kiln::nvptx::startAssembler(std::optional<EarlyProgram> &early, StringRef chip) {
  Expected<SmallVector<Assembler>> found = findAssemblers();
  if (!found)
    return consumeError(found.takeError()); // said when it is needed
  if (found->front().kind == Assembler::Kind::Program)
    early.emplace(found->front().path, chip);
}

static std::optional<Failure> runProgram(StringRef path, StringRef ptx, StringRef chip,
                                         std::optional<EarlyProgram> &early, Assembled &out) {
  auto broken = [](Error error) { return Failure{toString(std::move(error)), true}; };
  Expected<std::string> version = getProgramVersion(path);
  if (!version)
    return broken(version.takeError());
  if (early)
    if (std::string account; auto cubin = early->assemble(path, ptx, account)) {
      out = {std::move(*cubin), *version, std::move(account)};
      return std::nullopt;
    }
  Expected<Scratch> input = Scratch::create("ptx"), output = Scratch::create("cubin");
  if (!input || !output)
    return broken(joinErrors(input.takeError(), output.takeError()));
  {
    std::error_code code;
    raw_fd_ostream stream(input->path, code);
    stream << ptx;
    if (code)
      return broken(createStringError(code, "cannot write " + input->path.str()));
  }
  std::string arch = ("-arch=" + chip).str();
  Expected<Output> said =
      execute(path, {arch, "-lineinfo", "-v", input->path.str(), "-o", output->path.str()});
  if (!said)
    return broken(said.takeError());
  if (said->status)
    return fail(*version, said->text, ptx, chip);
  out = {output->read(), *version, said->text};
  if (out.cubin.empty())
    return Failure{*version + " wrote no cubin", true};
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
  // What it tells of the code; null in a library that does not.
  int (*getInfoSize)(Handle, size_t *) = nullptr;
  int (*getInfo)(Handle, char *) = nullptr;

  static Expected<JitLink> open(StringRef path) {
    void *library = dlopen(path.str().c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return createStringError("cannot open " + path + ": " + dlerror());
    JitLink result;
    std::string missing;
    auto findIfAny = [&](auto &function, const char *name) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    auto find = [&](auto &function, const char *name) {
      if (!findIfAny(function, name))
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
    findIfAny(result.getInfoSize, "nvJitLinkGetInfoLogSize");
    findIfAny(result.getInfo, "nvJitLinkGetInfoLog");
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
  // A version that does not know the last option gives no account.
  const char *options[] = {arch.c_str(), "-lineinfo", "-Xptxas=-v"};
  JitLink::Handle handle = nullptr;
  if (library->create(&handle, 3, options) && library->create(&handle, 2, options))
    return Failure{name + " is too old: expected " + getNeed(ptx, chip), true};
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
    return fail(name, StringRef(log).split('\0').first, ptx, chip);
  }
  std::string cubin(size, '\0');
  if (library->getCubin(handle, cubin.data()))
    return Failure{name + " gave no cubin", true};
  std::string account;
  if (size_t length = 0; library->getInfoSize && library->getInfo &&
                         !library->getInfoSize(handle, &length) && length) {
    account.resize(length);
    if (library->getInfo(handle, account.data()))
      account.clear();
  }
  out = {std::move(cubin), name, std::move(account)};
  return std::nullopt;
}

Expected<Assembled> kiln::nvptx::assemble(StringRef ptx, StringRef chip,
                                          std::optional<EarlyProgram> &early) {
  Expected<SmallVector<Assembler>> found = findAssemblers();
  if (!found)
    return found.takeError();
  std::string before; // why those that came first have not done it
  for (const Assembler &assembler : *found) {
    auto credit = [&](const std::string &name) {
      return before.empty() ? name : (Twine(name) + " (" + before + ")").str();
    };
    if (assembler.kind == Assembler::Kind::Driver)
      return Assembled{"", credit("driver"), ""};
    Assembled result;
    std::optional<Failure> failure = assembler.kind == Assembler::Kind::Program
                                         ? runProgram(assembler.path, ptx, chip, early, result)
                                         : runLibrary(assembler.path, ptx, chip, result);
    if (!failure) {
      result.assembler = credit(result.assembler);
      return result;
    }
    if (assembler.isChosen || !failure->isTooOld)
      return createStringError(failure->text);
    before += (before.empty() ? "" : "; ") + StringRef(failure->text).split('\n').first.str();
  }
  return createStringError("expected an assembler, got none");
}
