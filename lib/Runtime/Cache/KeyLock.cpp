// Making, waiting for and breaking the lock files of KeyLock.h.
#include "kiln/Runtime/Cache/KeyLock.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>
#include <unistd.h>

using namespace kiln;
using namespace llvm;

/// A small file of /proc, or the empty string.
static std::string slurp(const Twine &path) {
  auto file = MemoryBuffer::getFileAsStream(path);
  return file ? (*file)->getBuffer().rtrim().str() : std::string();
}

/// When the process started, so that a process id used again is told apart.
static std::string startOf(pid_t pid) {
  std::string stat = slurp("/proc/" + Twine(pid) + "/stat");
  // The second field is the program's name in parentheses and may hold anything.
  SmallVector<StringRef, 32> fields;
  StringRef(stat).rsplit(')').second.trim().split(fields, ' ');
  return fields.size() > 19 ? fields[19].str() : std::string();
}

/// The machine since it was started, and the space in which its process ids mean something.
static const std::string &machine() {
  static const std::string id = [] {
    char space[64] = {};
    ssize_t size = ::readlink("/proc/self/ns/pid", space, sizeof(space) - 1);
    return slurp("/proc/sys/kernel/random/boot_id") + "," +
           std::string(space, std::max<ssize_t>(size, 0));
  }();
  return id;
}

namespace {
enum class Holder { Alive, Gone, Elsewhere };
} // namespace

static Holder inspect(StringRef text) {
  auto [where, rest] = text.split(' ');
  auto [number, start] = rest.split(' ');
  pid_t pid;
  if (where != machine())
    return Holder::Elsewhere;
  if (number.getAsInteger(10, pid) || pid <= 0)
    return Holder::Gone;
  if (::kill(pid, 0) != 0 && errno == ESRCH)
    return Holder::Gone;
  return startOf(pid) == start ? Holder::Alive : Holder::Gone;
}

KeyLock::KeyLock(const CacheDirectory &directory, const Key &key, function_ref<bool()> done,
                 unsigned seconds)
    : directory(directory), name(key.hex() + ".lock"),
      text(machine() + " " + std::to_string(::getpid()) + " " + startOf(::getpid())),
      process(::getpid()) {
  using namespace std::chrono;
  auto end = steady_clock::now() + std::chrono::seconds(seconds);
  auto pause = milliseconds(2);
  while (true) {
    int error = directory.create(name, text);
    if (!error) {
      held = true;
      return;
    }
    if (error != EEXIST || done())
      return;
    // Between the making of the file and its text there is a moment without a text; a holder who
    // was killed just then leaves it so for good.
    std::optional<std::string> holder = directory.read(name);
    std::optional<CacheDirectory::File> file = directory.stat(name);
    int64_t now = duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
    int64_t age = file ? now - file->modified : 0;
    int64_t second = 1000000000;
    if (file && !holder)
      return; // not a file to trust
    if (file && age > int64_t(seconds) * second) {
      directory.remove(name);
    } else if (holder && holder->empty()) {
      if (age > 2 * second)
        directory.remove(name);
    } else if (holder) {
      Holder what = inspect(*holder);
      if (what == Holder::Elsewhere)
        return;
      if (what == Holder::Gone) {
        directory.remove(name);
        continue;
      }
    }
    if (steady_clock::now() >= end)
      return;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, milliseconds(50));
  }
}

KeyLock::~KeyLock() {
  // Whoever broke this lock made another: only this one is removed. A forked child has a copy of
  // this object, but not the lock.
  if (held && process == ::getpid() && directory.read(name) == text)
    directory.remove(name);
}
