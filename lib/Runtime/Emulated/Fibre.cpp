// Stacks, mapped and guarded, and kept for who comes next.
#include "Fibre.h"
#include <sys/mman.h>
#include <ucontext.h>
#include <utility>
#include <vector>

using namespace kiln::emulated;

/// What an instruction that the runtime executes takes of a thread's stack, beside the kernel's own
/// frames; and below it, what nobody may touch.
static constexpr size_t kServiceBytes = 512 << 10, kGuardBytes = 64 << 10;
/// What is kept of a host's thread, whose own they are: code may keep the address of what is local
/// to the thread that it began on.
static constexpr size_t kUsualBytes = 1 << 20, kMostKept = 1024;
static thread_local std::vector<std::unique_ptr<Fibre>> kept;

std::unique_ptr<Fibre> Fibre::take(size_t kernelBytes) {
  size_t bytes = (kernelBytes + kServiceBytes + 2 * kGuardBytes) / kGuardBytes * kGuardBytes;
  if (bytes <= kUsualBytes && !kept.empty()) {
    std::unique_ptr<Fibre> taken = std::move(kept.back());
    kept.pop_back();
    return taken;
  }
  bytes = bytes < kUsualBytes ? kUsualBytes : bytes;
  // Memory is taken only as far as it is used.
  void *mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    return nullptr;
  std::unique_ptr<Fibre> made(new Fibre(mapped, bytes));
  return ::mprotect(mapped, kGuardBytes, PROT_NONE) ? nullptr : std::move(made);
}

void Fibre::give(std::unique_ptr<Fibre> fibre, bool isIdle) {
  if (!fibre || fibre->bytes > kUsualBytes || kept.size() == kMostKept)
    return;
  fibre->started = isIdle;
  kept.push_back(std::move(fibre));
}

Fibre::~Fibre() { ::munmap(stack, bytes); }

void Fibre::start(void (*run)()) {
  started = true;
  ucontext_t context;
  ::getcontext(&context);
  context.uc_stack.ss_sp = stack;
  context.uc_stack.ss_size = bytes;
  context.uc_link = nullptr;
  ::makecontext(&context, run, 0);
  ::setcontext(&context);
}
