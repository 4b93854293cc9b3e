// Runs one copy of one role on small extents, and follows what it holds (Protocol.h).
#ifndef KILN_LIB_SCHEDULE_PROTOCOL_TRACER_H
#define KILN_LIB_SCHEDULE_PROTOCOL_TRACER_H

#include "Decoded.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <map>
#include <set>

namespace kiln::protocol {

/// What the tracer knows of a value.
struct Known {
  enum Kind { Nothing, Number, Varying, Named, Slot, Alloc, Pending, Sum } kind = Nothing;
  /// Number: which; Varying: where those of the programs are that are run together; Named: by what
  /// name (Names.cpp); Slot, Sum: the use it is of; Pending: the last dot into it, 0 if none yet.
  int64_t value = 0;
  unsigned channel = 0;
  /// Alloc: which. Of a slot that is being put, null.
  mlir::Operation *alloc = nullptr;
  /// Pending, Sum: whether its registers, or its tensor memory, hold anything.
  bool isDefined = false;
  /// Number: of a slot, how many uses of the channel were stepped over on the way to it.
  int64_t skipped = 0;
  /// Slot, Sum: where the use is; and which of the slot's buffers.
  int64_t slot = 0;
  unsigned buffer = 0;
};

class Tracer {
public:
  /// Of the first of these programs, and of the others as far as they go its way.
  Tracer(Decoded &decoded, unsigned role, llvm::ArrayRef<Instance> together)
      : decoded(decoded), groups(decoded.groups), role(groups.getRole(role)),
        instance(together.front()), together(together), values(decoded.values[role]),
        uses(decoded.channels.size()), puts(decoded.channels.size()),
        atSlot(decoded.channels.size()), held(decoded.channels.size()),
        acquired(decoded.channels.size()) {
    result.role = role;
  }

  /// Whether a program went another way; then there is no result, and no error.
  bool hasParted() const { return diverges && !hasFailed; }
  mlir::FailureOr<std::vector<Trace>> run();

private:
  llvm::LogicalResult runBody(unsigned body);
  llvm::LogicalResult run(const Step &step);
  llvm::LogicalResult runMemory(const Step &step);
  llvm::LogicalResult count(mlir::Operation *op, unsigned ops);
  bool compute(const Step &step);
  bool computeVarying(const Step &step, const Known &first, const Known &second);
  llvm::LogicalResult runLoop(const Step &step);
  bool isTold(mlir::Operation *loop);
  llvm::LogicalResult runWhile(const Step &step);
  bool canSkip(mlir::Operation *loop);
  llvm::LogicalResult runIf(const Step &step);
  llvm::LogicalResult runScalar(mlir::Operation *op);
  void setHandedOver(mlir::Value value, unsigned channel, int64_t position, unsigned bits);
  void setLoaded(mlir::Value value, const LoadedPlace &loaded);
  void readNumber(tile::ReadOp op);
  void runToScalar(tile::ToScalarOp op);
  llvm::LogicalResult use(mlir::Operation *op, mlir::Value channel, mlir::Value slot,
                          mlir::Value phase, Event::Kind kind);
  llvm::LogicalResult useOwn(mlir::Operation *op, mlir::Value channel, mlir::Value slot,
                             mlir::Value phase, Event::Kind kind);
  llvm::LogicalResult put(const Step &step);
  llvm::LogicalResult reach(tile::PutOp op, size_t first);
  llvm::LogicalResult reach(tile::ReleaseOp op);
  std::vector<Trace> makeTraces();
  llvm::LogicalResult get(tile::GetOp op);
  llvm::LogicalResult release(tile::ReleaseOp op);
  llvm::LogicalResult releaseOperand(tile::ReleaseOp op);
  std::optional<int64_t> drawCount(tile::AtomicRMWOp atomic);
  void nameResults(mlir::Operation *op);
  llvm::ArrayRef<int64_t> getCompared(mlir::Type type);
  void setNamed(mlir::Value value, uint64_t name);
  void nameOwn(mlir::Value value);
  llvm::LogicalResult advance(tile::AdvanceOp op);
  llvm::LogicalResult acquire(tile::AcquireOp op);
  llvm::LogicalResult commit(tile::CommitOp op);
  llvm::LogicalResult cover(tile::FillOp op, Known sum);
  llvm::LogicalResult fill(tile::FillOp op);
  llvm::LogicalResult fetch(tile::FetchOp op);
  llvm::LogicalResult fence(tile::FenceOp op);
  llvm::LogicalResult accessTensorMemory(mlir::Operation *op);
  llvm::LogicalResult tellOfTensorMemory(mlir::Operation *op);
  llvm::LogicalResult checkTold(tile::StartDotOp op, Known filled);
  llvm::LogicalResult readOperand(tile::StartDotOp op, mlir::Value operand);
  llvm::LogicalResult startInto(tile::StartDotOp op,
                                llvm::ArrayRef<std::pair<unsigned, int64_t>> slots);
  llvm::LogicalResult start(tile::StartDotOp op);
  bool isOfOtherProgram(tile::StartDotOp op) const;
  void addDot(Event::Kind kind, tile::StartDotOp op, const Known &memory);
  llvm::LogicalResult wait(tile::WaitOp op);
  llvm::LogicalResult refuseReleased(mlir::Operation *op, const Known &slot);
  llvm::LogicalResult access(mlir::Operation *op, mlir::Value buffer, Event::Kind kind);
  void useScratch(mlir::Operation *op);
  void useInside(mlir::Operation *op);
  Event &add(Event::Kind kind, mlir::Operation *op) { return add(kind, op, acting); }
  Event &add(Event::Kind kind, mlir::Operation *op, Event::Who who) {
    events.push_back({kind, who});
    events.back().op = op;
    return events.back();
  }
  /// An access to what a slot, a sum or an allocation is.
  void add(Event::Kind kind, mlir::Operation *op, Event::Who who, const Known &memory) {
    Event &event = add(kind, op, who);
    event.channel = memory.channel;
    event.position = memory.value;
    event.slot = memory.slot;
    event.buffer = memory.buffer;
    event.piece = memory.alloc;
  }
  llvm::LogicalResult copyOut(tile::CopyOutOp op);
  void meet(tile::BarrierOp op);
  llvm::LogicalResult checkEnd();

  const Known &get(mlir::Value value) const { return values[decoded.getNumber(value)]; }
  /// That of a value which the role computes.
  Known &known(mlir::Value value) { return values[decoded.getNumber(value)]; }
  /// A number by which all programs go on, which then must be the same for all.
  std::optional<int64_t> getNumber(mlir::Value value) {
    Known it = get(value);
    diverges |= it.kind == Known::Varying;
    return getNumberOf(it, 0);
  }
  /// That of one of the programs.
  std::optional<int64_t> getNumberOf(const Known &it, size_t program) const {
    if (it.kind == Known::Varying)
      return varying[it.value][program];
    return it.kind == Known::Number ? std::optional(it.value) : std::nullopt;
  }
  /// Whether those that are run together are not copies of one program alone.
  bool hasPrograms() const { return together.front().getNumber() != together.back().getNumber(); }
  void setVarying(unsigned value, llvm::ArrayRef<int64_t> numbers);
  bool runVarying(mlir::Operation *op);
  llvm::LogicalResult fail(mlir::InFlightDiagnostic error) {
    hasFailed = true;
    describe(error, groups, instance);
    return llvm::failure();
  }
  /// Whether the other program of the pair gets, starts and releases what is in a channel.
  bool isSecondOfPair(mlir::Value channel) const {
    return llvm::cast<tile::ChannelType>(channel.getType()).getPair() && !instance.isFirstOfPair();
  }

  /// Whether two programs say by a channel's slots that they have written what dots read.
  static bool isOfNothing(mlir::Value channel) {
    auto type = llvm::cast<tile::ChannelType>(channel.getType());
    return type.getPair() && type.getBuffers().empty();
  }

  Decoded &decoded;
  tile::WarpGroupsOp groups;
  tile::RoleAttr role;
  const Instance &instance;
  llvm::ArrayRef<Instance> together;
  Trace result;
  std::vector<Event> events;
  std::vector<Known> values; ///< by their numbers
  /// Numbers of all that are run together, where they differ; and what events reach of each.
  std::vector<llvm::SmallVector<int64_t, 4>> varying;
  using Reached = llvm::SmallVector<llvm::SmallVector<Reach, 2>, 4>;
  std::vector<Reached> reached;
  bool diverges = false, hasFailed = false;
  /// The next use of a channel, and those behind it that came first.
  struct Uses {
    int64_t next = 0, skipped = 0;
    llvm::SmallVector<int64_t, 4> ahead;
    /// The last one of each slot.
    llvm::SmallVector<int64_t, 4> atSlot;
    /// Those of others, which the one that comes has stepped over.
    void skip(int64_t to) {
      next += std::max<int64_t>(0, to - skipped);
      skipped = std::max(skipped, to);
      close();
    }
    void take(int64_t use) {
      if (use != next)
        return ahead.push_back(use);
      ++next;
      close();
    }
    void close() {
      for (auto at = ahead.begin(); (at = llvm::find(ahead, next)) != ahead.end(); ++next)
        ahead.erase(at);
    }
  };
  /// Of each channel: the next use to get and to put, and the uses got and not yet released.
  std::vector<Uses> uses, puts;
  /// Of the role's own rings: the last put into each slot.
  std::vector<llvm::SmallVector<int64_t, 4>> atSlot;
  std::vector<llvm::SmallVector<int64_t, 4>> held;
  /// Of channels in tensor memory: the uses acquired and not yet committed, or, of operands,
  /// released.
  std::vector<llvm::SmallVector<int64_t, 4>> acquired;
  /// Of these, what one thread alone has waited for that all are to fill, and what warps have
  /// written, since they met.
  std::set<std::pair<unsigned, int64_t>> alone, written;
  /// Uses by their channels, of which there are as many as a trace has.
  using Slots = llvm::DenseSet<std::pair<unsigned, int64_t>>;
  /// Of what warps have written, what they have said to the first program of the pair.
  std::set<std::pair<unsigned, int64_t>> said;
  /// The uses that only the thread that starts dots has waited for, and those that dots read of
  /// whose end only a commit tells.
  Slots gotToStart, readUntilCommit;
  /// The uses that are released for dots that end by commit, or else for others, and not for both
  /// yet: whether by commit.
  std::map<std::pair<unsigned, int64_t>, bool> halfReleased;
  /// The uses of sums over which warps have written what dots read.
  Slots covered;
  /// The uses that another role's warps have copied, and that no engine has been let see.
  Slots unseen;
  /// The uses that lanes have read, and that an engine may not be let fill again; and those that it
  /// may, since a fence followed, and that are not yet released: one behind the loop's last trip
  /// may find that the trip's own has ordered its slot.
  Slots unfenced, fenced;
  /// Dots started, and how many of them are done; stores in flight.
  int64_t dots = 0, dotsDone = 0, stores = 0;
  /// Who runs what is run.
  Event::Who acting = Event::All;
  int64_t meetings = 0, steps = 0, counts = 0;
  /// Of tensor memory: whether threads were told of accesses by others and no fence followed;
  /// whether they have accessed it and no fence followed; whether one did, and they have told
  /// nobody yet.
  bool wasTold = false, hasAccessed = false, tells = false;
};

} // namespace kiln::protocol

#endif // KILN_LIB_SCHEDULE_PROTOCOL_TRACER_H
