// A thread of an emulated block: a fibre with a stack of its own, and where it stands.
#ifndef KILN_LIB_RUNTIME_EMULATED_THREAD_H
#define KILN_LIB_RUNTIME_EMULATED_THREAD_H

#include "Block.h"
#include <sys/mman.h>

namespace kiln::emulated {

enum class State { Ready, AtBarrier, AtInstruction, Blocked, Done };
/// What an instruction that the runtime executes takes of a thread's stack, beside the kernel's own
/// frames; and below it, what nobody may touch.
constexpr size_t kServiceBytes = 512 << 10, kGuardBytes = 64 << 10;

struct Thread {
  /// Of the stack memory is taken only as far as it is used.
  Thread(unsigned number, size_t kernelBytes)
      : number(number),
        stackBytes((kernelBytes + kServiceBytes + 2 * kGuardBytes) / kGuardBytes * kGuardBytes) {
    void *mapped = ::mmap(nullptr, stackBytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    stack = mapped == MAP_FAILED ? nullptr : mapped;
    if (stack && ::mprotect(stack, kGuardBytes, PROT_NONE) != 0)
      release();
  }
  ~Thread() { release(); }
  void release() {
    if (stack)
      ::munmap(stack, stackBytes);
    stack = nullptr;
  }

  const unsigned number;
  const size_t stackBytes;
  void *stack;
  jmp_buf place; ///< where it goes on
  State state = State::Ready;
  bool started = false;
  int site = 0; ///< where it is in the program, as far as it has told
  /// Where it waits, and for what.
  const Instruction *instruction = nullptr;
  const char *name = nullptr; ///< the instruction's, with what types add to it
  const void *operands = nullptr;
  void *result = nullptr;
  uint64_t clusterRound = 0; ///< of the cluster's barrier, when it last arrived
  Block::Look look;
  /// Of a blocked one.
  std::function<bool()> mayGo;
  std::function<std::string()> waitsFor;
};

} // namespace kiln::emulated

#endif // KILN_LIB_RUNTIME_EMULATED_THREAD_H
