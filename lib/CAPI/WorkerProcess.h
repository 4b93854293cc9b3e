// A compile worker as a process: how it is started, kept for the next compile, and ended.
#ifndef KILN_LIB_CAPI_WORKERPROCESS_H
#define KILN_LIB_CAPI_WORKERPROCESS_H

#include "Worker.h"
#include <memory>
#include <sys/types.h>

namespace kiln::capi {

/// A file descriptor that closes itself.
struct Descriptor {
  int fd = -1;
  Descriptor() = default;
  Descriptor(const Descriptor &) = delete;
  ~Descriptor() { reset(); }
  void reset();
};

/// A worker, the end of its socket that it does not hold, and that of a pipe with its standard
/// error. It is killed, with all that it may have started, when it is destroyed.
class WorkerProcess {
public:
  static llvm::Expected<std::unique_ptr<WorkerProcess>> start(const std::string &program);
  ~WorkerProcess();
  /// It leads a group of its own.
  void kill();
  /// The wait status of a worker that has ended or is about to; -1 if someone else in this process
  /// took it.
  int wait();

  Descriptor socket, errors;
  bool used = false; ///< has compiled before

private:
  WorkerProcess() = default;
  pid_t pid = -1;
};

/// Workers that wait for the next compile of this process.
///
/// A worker takes longer to start than most kernels take to compile, so one that answered is kept,
/// a few at most. Each is told apart by what it inherited: its program and the folder it runs in.
/// After a minute without work it leaves by itself, and it leaves when this process does.
class WorkerPool {
public:
  /// One that waits, else a new one.
  /// `identity` is what the environment says of toolkits: a worker keeps its own environment.
  static llvm::Expected<std::unique_ptr<WorkerProcess>> take(const std::string &program,
                                                             const std::string &identity);
  static void giveBack(const std::string &program, const std::string &identity,
                       std::unique_ptr<WorkerProcess> worker);
};

/// The program asked for, or the one that was installed with this library.
std::string findWorkerProgram(const char *asked);

} // namespace kiln::capi

#endif // KILN_LIB_CAPI_WORKERPROCESS_H
