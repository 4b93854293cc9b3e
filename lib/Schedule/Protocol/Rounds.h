// How far instances have gone round rings, and those that go on until each was gone round twice.
#ifndef KILN_LIB_SCHEDULE_PROTOCOL_ROUNDS_H
#define KILN_LIB_SCHEDULE_PROTOCOL_ROUNDS_H

#include "Protocol.h"

namespace kiln::protocol {

/// A wrong phase of a barrier shows in the second round of a ring, and one that turns only once in
/// the third. How many uses of a ring an extent makes depends on steps, depths and what else bounds
/// a loop, so it is measured: extents grow by what is missing, until they make no more uses.
class Rounds {
public:
  explicit Rounds(tile::WarpGroupsOp groups) : groups(groups), uses(groups.getCaptures().size()) {}
  /// What the roles did on an instance.
  void add(llvm::ArrayRef<Trace> traces);
  /// The next instance, if some ring was not gone round and the last such instance went further
  /// round one of these.
  std::optional<Instance> getLonger();

private:
  int64_t getWanted(unsigned capture);

  tile::WarpGroupsOp groups;
  /// The most uses of each channel on one instance.
  llvm::SmallVector<int64_t> uses;
  int64_t scale = 1;
  bool isLonger = true;
  /// Whether numbers were drawn, and whether the other pattern is still to be tried on this scale.
  bool draws = false, asksOther = false;
};

} // namespace kiln::protocol

#endif // KILN_LIB_SCHEDULE_PROTOCOL_ROUNDS_H
