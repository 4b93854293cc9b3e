// A thread of an emulated block: a fibre with a stack of its own, and where it stands.
#ifndef KILN_LIB_RUNTIME_EMULATED_THREAD_H
#define KILN_LIB_RUNTIME_EMULATED_THREAD_H

#include "Block.h"
#include "Fibre.h"
#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string>

namespace kiln::emulated {

enum class State { Ready, AtBarrier, AtInstruction, Blocked, Done };

struct Thread {
  Thread(unsigned number, size_t kernelBytes) : number(number), fibre(Fibre::take(kernelBytes)) {}
  ~Thread() { Fibre::give(std::move(fibre), state == State::Done); }

  const unsigned number;
  std::unique_ptr<Fibre> fibre;
  State state = State::Ready;
  bool begun = false; ///< the program
  int site = 0;       ///< where it is in the program, as far as it has told
  /// Where it waits, and for what.
  const Instruction *instruction = nullptr;
  const char *name = nullptr; ///< the instruction's, with what types add to it
  const void *operands = nullptr;
  void *result = nullptr;
  uint64_t clusterRound = 0; ///< of the cluster's barrier, when it last arrived
  Block::Look look;
  /// A word of global memory that it accessed last, what was there, and how often it has found the
  /// same.
  struct Word {
    uint64_t address = 0;
    int site = 0;
    size_t bytes = 0;
    uint8_t seen[16] = {};
    unsigned looks = 0;
    bool isWaitedFor = false;
    bool hasChanged() const {
      return std::memcmp(seen, reinterpret_cast<const void *>(address), bytes) != 0;
    }
  };
  /// By a load that is not atomic, and by an atomic access.
  Word words[2];
  /// The one whose change it waits for, or null.
  const Word *getAwaited() const {
    const Word *at =
        std::find_if(words, words + 2, [](const Word &word) { return word.isWaitedFor; });
    return at == words + 2 ? nullptr : at;
  }
  /// Of a blocked one.
  std::function<bool()> mayGo;
  std::function<std::string()> waitsFor;
};

} // namespace kiln::emulated

#endif // KILN_LIB_RUNTIME_EMULATED_THREAD_H
