// What a launch needs of an artifact's metadata, read once when the artifact is loaded.
#ifndef KILN_RUNTIME_DEVICE_PLAN_H
#define KILN_RUNTIME_DEVICE_PLAN_H

#include "kiln-c/Launch.h"
#include "kiln/Binary/Artifact.h"
#include "kiln/Runtime/Device/Messages.h"
#include <string>
#include <vector>

namespace kiln {

/// More than any chip runs side by side, and few enough to multiply.
inline constexpr int64_t maxClusterExtent = 1024;

/// How a launch differs from a plain one.
struct LaunchTraits {
  int64_t cluster[3] = {1, 1, 1}; ///< programs that run side by side
  bool cooperative = false;       ///< all programs at once
  bool overlap = false;           ///< may begin before what precedes it on the stream has ended
  bool hasPriority = false;
  int priority = 0;

  bool hasClusters() const { return (cluster[0] | cluster[1] | cluster[2]) != 1; }
  bool isPlain() const { return !hasClusters() && !cooperative && !overlap && !hasPriority; }
};

struct LaunchPlan {
  enum class Kind : uint8_t {
    Pointer,
    Scalar,
    Extent,
    Stride,
    Workspace,
    Counter,
    TensorMap,
    Messages,
    GridExtent
  };
  /// One parameter of the kernel's. Small: each launch reads all of them.
  struct Slot {
    Kind kind;
    uint8_t dim = 0;
    uint16_t arg = 0;
    uint16_t number = 0; ///< among `maps`, or among `memories`
  };
  /// Memory that a launch gives the kernel unasked.
  struct HiddenMemory {
    uint64_t bytes = 0, bytesPerProgram = 0;
  };
  /// What a copy engine is told of an argument: the tiles that it moves, and how the elements of
  /// one lie in shared memory. The rest it reads from the argument's other parameters.
  struct TensorMap {
    uint16_t arg = 0;
    std::string type;
    std::vector<int64_t> box;  ///< extents of a tile, one a dimension
    std::vector<int64_t> dims; ///< which dimension of the argument each of the tile's lies along
    int64_t swizzle = 0;       ///< bytes over which rows are permuted; 0: not at all
    int pointerSlot = -1;
    /// By dimension of the tile: the slot of an extent or stride, or -1 and what the argument's
    /// type says it is.
    std::vector<int> extentSlots, strideSlots;
    std::vector<int64_t> shape, strides;

    /// An extent or a stride, of what a launch gives the kernel.
    int64_t getExtent(unsigned dim, const uint64_t *slots) const {
      return extentSlots[dim] < 0 ? shape[dim] : int64_t(slots[extentSlots[dim]]);
    }
    int64_t getStride(unsigned dim, const uint64_t *slots) const {
      return strideSlots[dim] < 0 ? strides[dim] : int64_t(slots[strideSlots[dim]]);
    }
  };
  /// One argument of the source's; -1 in shape and strides: not known when it was compiled.
  struct Argument {
    std::string name;
    KilnArgKind kind = KILN_ARG_TENSOR;
    std::string type; ///< as the IR spells it
    std::vector<int64_t> shape, strides;
    int64_t pointer = 0, divisor = 0; ///< what the code relies on; 0: nothing
    std::vector<int64_t> strideMultiples, extentMultiples;
    bool index32 = false, noalias = false;
    bool written = true; ///< or not known
  };

  static llvm::Expected<LaunchPlan> parse(const Artifact &artifact);

  /// The kernel, and where its source defines it if that is known: "'k' (k.py:3)".
  std::string spelling() const;

  std::string kernel, file;
  int64_t line = 0;
  std::vector<Argument> arguments;
  std::vector<Slot> slots;
  std::vector<TensorMap> maps;
  std::vector<HiddenMemory> memories;
  /// What the code may tell the host; null if it has no such parameter.
  std::shared_ptr<const MessageTable> messages;
  bool hasGrid = false;
  bool anyMemory = false; ///< it makes pointers of integers, which no argument need cover
  bool hasHidden = false;
  /// What its programs do follows from the grid that it computes, so no other will do.
  bool ownGrid = false;
  uint64_t scratchBytes = 0, sharedBytes = 0;
  int64_t warps = 1, warpSize = 1;
  LaunchTraits traits; ///< what a launch has unasked
  /// What its programs do follows from the clusters that it is compiled for. With fewer programs
  /// than tiles each cluster takes one cluster of tiles after another.
  bool ownCluster = false;
  /// A grid is cut to so many programs, or to so many for each core, whose loops take the rest; 0:
  /// not.
  int64_t programs = 0, programsPerCore = 0;
  /// Whether it is cut to no more of them than run its tiles in as few rounds.
  bool evenPrograms = false;
  /// Whether there are as many however few the grid has, since several run parts of one tile.
  bool streams = false;
  /// One block runs so many programs that follow one another along x, and this slot tells the
  /// kernel how many there are in all.
  int64_t programsPerBlock = 1;
  int gridExtentSlot = -1;
};

} // namespace kiln

#endif // KILN_RUNTIME_DEVICE_PLAN_H
