// The roles of a kernel as traces come to them: ops that do nothing to the protocol left out,
// values by numbers, and of each op what is the same each time found once. A kernel is run on some
// fifty instances, and each runs the bodies of its loops many times.
#ifndef KILN_LIB_SCHEDULE_PROTOCOL_DECODED_H
#define KILN_LIB_SCHEDULE_PROTOCOL_DECODED_H

#include "Numbers.h"
#include "Protocol.h"

namespace kiln::protocol {

/// One op of a block.
struct Step {
  enum Kind : uint8_t {
    Nothing, ///< no more than what is asked of each step
    Compute, ///< a number of two others
    Convert, ///< a number with other bits
    Choose,
    Scalar, ///< another number, or what it comes of
    Meet,
    For,
    While,
    If,
    OneThread,
    Put,
    FillSlot, ///< inside of a put, one of its buffers
    Get,
    Acquire,
    Commit,
    FillTensor,
    Fetch,
    Fence,
    WaitPuts,
    Release,
    Advance,
    Part,
    Alloc,
    Pend,
    Poison,
    StartDot,
    WaitDots,
    Read,
    Write,
    CopyOut,
    WaitStores,
    Barrier,
    Dot,
    Refused,
  } kind = Nothing;
  bool usesScratch = false, isFollowed = false;
  /// Of FillSlot, which buffer of the slot.
  unsigned buffer = 0;
  /// How many ops it is, with those in front of it that are none.
  unsigned ops = 1;
  mlir::Operation *op = nullptr;
  /// Of numbers: how each is made, and of what, by the numbers of values.
  Formula formula = {};
  std::array<unsigned, 3> operands = {};
  unsigned result = 0;
  /// Which of the bodies are inside.
  std::array<unsigned, 2> bodies = {};
};

/// A block: its steps, the ops behind the last of them, the first of its arguments, which follow
/// one another, and what its end hands on.
struct Body {
  std::vector<Step> steps;
  unsigned opsBehind = 0, firstArgument = 0;
  llvm::SmallVector<unsigned, 4> handedOn;
};

/// What a channel is, by its capture; of what else is captured, nothing.
struct ChannelFacts {
  tile::ChannelOp op;
  int64_t depth = 0, full = 0, empty = 0;
  bool isOwn = false, isOfPair = false;
  /// Whether copies that count bytes fill it; warps do, by copies that run on; and whether dots
  /// that end by commit give its slots back.
  bool isFilledByEngine = false, isCopiedByWarps = false, isReleasedByCommit = false;
  /// How many arrivals of one program, at each barrier that it tells, release a slot.
  int64_t releases = 0;
};

/// What is the same for each trace of a kernel, found once: each role's body, what channels are,
/// what lies on one another; which ops matter, what ops do as far as names tell, what numbers are
/// compared with, by their type, and through which channel a number goes to others.
class Decoded {
public:
  explicit Decoded(tile::WarpGroupsOp groups);

  tile::WarpGroupsOp groups;
  Overlaps overlaps;
  std::vector<ChannelFacts> channels;
  /// What has memory of each copy's own, with its role: buffers, and scratch that lies on others.
  std::vector<std::pair<mlir::Operation *, unsigned>> ownMemory;
  std::vector<Body> bodies;     ///< those of roles first
  std::vector<unsigned> values; ///< by role, how many values it has
  /// By role: constants.
  std::vector<std::vector<std::pair<unsigned, int64_t>>> constants;

  /// A value's number, from 1 on; 0 of what no role computes.
  unsigned getNumber(mlir::Value value) const { return numbers.lookup(value); }

  // Found when first asked for.
  bool matters(mlir::Operation *op);
  const HandedOver *getHandedOver(mlir::Value number);
  llvm::DenseMap<mlir::Operation *, uint64_t> kinds;
  llvm::DenseMap<mlir::Type, llvm::SmallVector<int64_t>> compared;
  /// By role, how many of its copies and programs go the same way, as far as instances have shown.
  std::vector<size_t> together;

private:
  void decode(mlir::Block &block, unsigned role, unsigned at);
  Step decode(mlir::Operation *op, unsigned role);
  void decodeNumber(Step &step, unsigned role);
  void number(mlir::Region &region, unsigned role);

  Followed followed;
  llvm::DenseMap<mlir::Value, unsigned> numbers;
  llvm::DenseMap<mlir::Operation *, bool> mattering;
  llvm::DenseMap<mlir::Value, std::optional<HandedOver>> handedOver;
};

} // namespace kiln::protocol

#endif // KILN_LIB_SCHEDULE_PROTOCOL_DECODED_H
