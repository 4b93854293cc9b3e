// The blocks of a kernel, and which ways some of its waves go through them.
#ifndef KILN_LIB_TARGET_AMDGPU_ISA_PATHS_H
#define KILN_LIB_TARGET_AMDGPU_ISA_PATHS_H

#include "Ranges.h"
#include "llvm/ADT/BitVector.h"

namespace kiln::amdgcn {

/// Runs of instructions; the last one's number is that of the kernel's end, behind which is none.
class Blocks {
public:
  explicit Blocks(const KernelCode &kernel);
  unsigned size() const { return starts.size(); }
  unsigned getEnd() const { return size() - 1; }
  unsigned getFirst(unsigned block) const { return starts[block]; }
  /// The last instruction of a block that is not the end.
  unsigned getLast(unsigned block) const { return starts[block + 1] - 1; }
  unsigned of(unsigned instruction) const { return blockOf[instruction]; }
  /// Where a block's last instruction may go, as it is written.
  llvm::SmallVector<unsigned, 2> getNext(unsigned block) const;

private:
  const KernelCode &kernel;
  std::vector<unsigned> starts, blockOf;
};

/// Edges between blocks.
using Edges = std::vector<llvm::SmallVector<unsigned, 2>>;
/// By block, the first block that all ways from it come to; the end, if they come to no other.
std::vector<unsigned> findMeetings(const Edges &edges);
/// What lies on ways from a block to another one, without both.
llvm::BitVector findBetween(const Edges &edges, unsigned from, unsigned to);

/// The ways of waves with these numbers, as far as branches go by their numbers; and where in LDS
/// their accesses are.
struct Paths {
  Edges edges; ///< none from blocks that they do not come to
  std::map<unsigned, Range> places;
  std::map<unsigned, Range> bounds; ///< to which arrivals count
};
Paths followPaths(const KernelCode &kernel, const Blocks &blocks, unsigned firstWave,
                  unsigned lastWave);

/// The branches, by instruction, of which the number of a thread in its block may decide: it is
/// computed with, or what is comes by one of such branches.
llvm::BitVector findBranchesByThread(const KernelCode &kernel, const Blocks &blocks);

} // namespace kiln::amdgcn

#endif // KILN_LIB_TARGET_AMDGPU_ISA_PATHS_H
