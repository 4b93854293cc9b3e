// The blocks of a cluster of an emulated chip, or a single one, which run side by side.
#ifndef KILN_LIB_RUNTIME_EMULATED_CLUSTER_H
#define KILN_LIB_RUNTIME_EMULATED_CLUSTER_H

#include "Block.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kiln::emulated {

class Cluster {
public:
  /// Of so many blocks along each axis, with shared memory of their own.
  Cluster(const Launch &launch, GlobalMemory &global, const int64_t extents[3]);
  ~Cluster();
  /// What there was no memory for, or nothing.
  std::string whatLacks() const;

  /// The programs from this one on.
  void begin(const uint32_t first[3]);
  /// Runs its threads to where they wait for what none of them can bring, or end; whether any could
  /// go on.
  bool advance();
  bool isDone() const;
  /// What went wrong up to now, or nothing.
  std::string getError() const;
  /// What is wrong when all have ended, or can go on no more.
  std::string finish();

  /// Whether a thread looks at global memory again and again, for others to change it; by atomic
  /// accesses, as who waits does, or by any.
  bool looks(bool atomically) const;
  /// Has those who do look again, if what they look at has changed or anyway; whether it did.
  bool wake(bool anyway);
  /// Steps that its programs have taken.
  uint64_t countSteps() const;
  /// The first of those who look, as "program (1, 0, 0) waits ..."; and what each thread does.
  std::string describeLook() const;
  std::string describeState() const;

private:
  const Launch &launch;
  GlobalMemory &global;
  analysis::Run run = 0;
  int64_t extents[3];
  std::vector<std::unique_ptr<SharedMemory>> shared; // outlives the blocks
  std::vector<std::unique_ptr<Block>> blocks;
  std::shared_ptr<analysis::HappensBefore> order;
};

} // namespace kiln::emulated

#endif // KILN_LIB_RUNTIME_EMULATED_CLUSTER_H
