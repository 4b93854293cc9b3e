// Touched.h: what runs add to it.
#include "kiln/Target/AMDGPU/Touched.h"
#include <algorithm>

using namespace llvm;
using namespace kiln::amdgcn;

void Touched::note(BitVector &waves, unsigned wave) {
  if (waves.size() <= wave)
    waves.resize(wave + 1);
  waves.set(wave);
}

void Touched::access(unsigned at, unsigned wave, Use use, unsigned first, unsigned count) {
  Access &access = accesses[at];
  access.use = use;
  access.first = std::min(access.first, first);
  access.last = std::max(access.last, first + count - 1);
  note(access.waves, wave);
  BitVector &touched = bytes[unsigned(use)];
  if (touched.size() < first + count)
    touched.resize(first + count);
  touched.set(first, first + count);
}

void Touched::arrive(unsigned wave, unsigned word, uint32_t bound) {
  note(arrivals[word], wave);
  auto [known, isNew] = bounds.try_emplace(word, bound);
  if (!isNew && known->second != bound)
    known->second = 0;
}
