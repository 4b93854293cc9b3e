// The stack of a thread of an emulated block, on which it stays while others run.
#ifndef KILN_LIB_RUNTIME_EMULATED_FIBRE_H
#define KILN_LIB_RUNTIME_EMULATED_FIBRE_H

#include <csetjmp>
#include <cstddef>
#include <memory>

namespace kiln::emulated {

/// One that has ended its thread serves the next, of another launch too: to map and to guard a
/// stack costs more than most threads do.
class Fibre {
public:
  ~Fibre();
  Fibre(const Fibre &) = delete;

  /// For the kernel's own frames of so many bytes; null if there was no memory.
  static std::unique_ptr<Fibre> take(size_t kernelBytes);
  /// `isIdle`: it waits at its `place` for another thread to run.
  static void give(std::unique_ptr<Fibre> fibre, bool isIdle);

  /// Begins on its stack; does not return.
  void start(void (*run)());

  jmp_buf place; ///< where it goes on
  bool started = false;

private:
  Fibre(void *stack, size_t bytes) : stack(stack), bytes(bytes) {}
  void *const stack;
  const size_t bytes;
};

} // namespace kiln::emulated

#endif // KILN_LIB_RUNTIME_EMULATED_FIBRE_H
