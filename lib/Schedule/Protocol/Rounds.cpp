// Makes instances long enough to go round each ring.
#include "Rounds.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::protocol;
using namespace kiln::tile;

/// The largest extent is so many times as large at most, and which of the patterns has it alone;
/// and one that draws the other outcome as often.
static constexpr int64_t kMostScale = 1024;
static constexpr unsigned kLongPattern = 5, kOtherPattern = 7;

/// Two rounds, and the first use of a third one.
int64_t Rounds::getWanted(unsigned capture) {
  return 2 * getChannel(groups, capture).getType().getDepth() + 1;
}

void Rounds::add(ArrayRef<Trace> traces) {
  for (const Trace &trace : traces) {
    draws |= trace.draws;
    for (const Event &event : trace.events)
      if ((event.kind == Event::Fill || event.kind == Event::Acquire) &&
          event.position >= uses[event.channel]) {
        isLonger |= uses[event.channel] < getWanted(event.channel);
        uses[event.channel] = event.position + 1;
      }
  }
}

std::optional<Instance> Rounds::getLonger() {
  int64_t times = 1;
  for (unsigned i = 0; i < uses.size(); ++i)
    if (getChannel(groups, i)) {
      int64_t most = std::max<int64_t>(uses[i], 1);
      times = std::max<int64_t>(times, llvm::divideCeil(getWanted(i), most));
    }
  if (times > 1 && std::exchange(asksOther, false))
    return Instance{/*program=*/0, /*programs=*/1, kOtherPattern, scale};
  scale *= times;
  if (times == 1 || scale > kMostScale || !std::exchange(isLonger, false))
    return std::nullopt;
  asksOther = draws;
  return Instance{/*program=*/0, /*programs=*/1, kLongPattern, scale};
}
