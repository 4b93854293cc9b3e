// Runs one copy of one role on small extents, and follows what it holds (Protocol.h).
#ifndef KILN_LIB_SCHEDULE_PROTOCOL_TRACER_H
#define KILN_LIB_SCHEDULE_PROTOCOL_TRACER_H

#include "Protocol.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <deque>
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
  Tracer(tile::WarpGroupsOp groups, unsigned role, unsigned copy, llvm::ArrayRef<Instance> together,
         const Overlaps &overlaps, const Followed &followed, Memo &memo)
      : groups(groups), role(groups.getRole(role)), instance(together.front()), together(together),
        overlaps(overlaps), followed(followed), memo(memo),
        result{role, copy, {}, instance.getNumber()}, uses(groups.getCaptures().size()),
        puts(groups.getCaptures().size()), atSlot(groups.getCaptures().size()),
        held(groups.getCaptures().size()), acquired(groups.getCaptures().size()) {}

  /// Whether a program went another way; then there is no result, and no error.
  bool hasParted() const { return diverges && !hasFailed; }
  mlir::FailureOr<std::vector<Trace>> run() {
    mlir::Region &region = groups.getBodies()[result.role];
    constexpr unsigned kMany = 256; // about as many numbers and events as a small role has
    known.reserve(kMany);
    result.events.reserve(kMany);
    for (auto [capture, argument] : llvm::zip(groups.getCaptures(), region.getArguments())) {
      if (argument.getType().isIntOrIndex())
        known[argument] = {Known::Number, instance.getScalar(groups, argument.getArgNumber())};
      else if (llvm::isa<mlir::FloatType>(argument.getType()))
        setNamed(argument, getName({argument.getArgNumber()}));
      if (auto alloc = capture.getDefiningOp<tile::AllocOp>())
        known[argument] = {Known::Alloc, 0, 0, alloc};
    }
    if (failed(runBlock(region.front())) && !result.tooLong)
      return llvm::failure();
    if ((!result.tooLong && failed(checkEnd(region))) || diverges)
      return llvm::failure();
    return makeTraces();
  }

private:
  llvm::LogicalResult runBlock(mlir::Block &block);
  llvm::LogicalResult runOp(mlir::Operation *op);
  llvm::LogicalResult step(mlir::Operation *op);
  bool matters(mlir::Operation *op);
  bool meetsOthers(mlir::Operation *op);
  llvm::LogicalResult runLoop(mlir::scf::ForOp loop);
  bool isTold(mlir::Operation *loop);
  llvm::LogicalResult runWhile(mlir::scf::WhileOp loop);
  bool canSkip(mlir::Operation *loop);
  llvm::LogicalResult runIf(mlir::scf::IfOp condition);
  llvm::LogicalResult runScalar(mlir::Operation *op);
  void setHandedOver(mlir::Value value, unsigned channel, int64_t position, unsigned bits);
  void setLoaded(mlir::Value value, const LoadedPlace &loaded);
  void readNumber(tile::ReadOp op);
  void runToScalar(tile::ToScalarOp op);
  llvm::LogicalResult use(mlir::Operation *op, mlir::Value channel, mlir::Value slot,
                          mlir::Value phase, Event::Kind kind);
  llvm::LogicalResult useOwn(mlir::Operation *op, mlir::Value channel, mlir::Value slot,
                             mlir::Value phase, Event::Kind kind);
  llvm::LogicalResult put(tile::PutOp op);
  llvm::LogicalResult reach(tile::PutOp op, size_t first);
  llvm::LogicalResult reach(tile::ReleaseOp op);
  std::vector<Trace> makeTraces();
  llvm::LogicalResult get(tile::GetOp op);
  llvm::LogicalResult release(tile::ReleaseOp op);
  llvm::LogicalResult releaseOperand(tile::ReleaseOp op);
  const HandedOver *getHandedOver(mlir::Value number);
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
    result.events.push_back({kind, who});
    result.events.back().op = op;
    return result.events.back();
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
  llvm::LogicalResult checkEnd(mlir::Region &region);

  Known get(mlir::Value value) const {
    auto at = known.find(value);
    return at == known.end() ? Known() : at->second;
  }
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
  void setVarying(mlir::Value value, llvm::ArrayRef<int64_t> numbers);
  bool runVarying(mlir::Operation *op);
  llvm::LogicalResult fail(mlir::InFlightDiagnostic error) {
    hasFailed = true;
    describe(error, groups, instance);
    return llvm::failure();
  }
  /// Whether another role's warps fill a channel by copies that run on.
  bool isCopiedByWarps(unsigned channel) {
    auto [at, isNew] = memo.copiedByWarps.try_emplace(channel);
    if (isNew)
      at->second = findCopiesByWarps(channel);
    return at->second;
  }
  bool findCopiesByWarps(unsigned channel) {
    auto isCopied = [](mlir::Operation *user) {
      auto put = llvm::dyn_cast<tile::PutOp>(user);
      return put && !put.getBytes() && !put.getBody().front().getOps<tile::CopyInOp>().empty();
    };
    return !getChannel(groups, channel).getType().getOwn() &&
           llvm::any_of(groups.getBodies(), [&](mlir::Region &region) {
             return llvm::any_of(region.getArgument(channel).getUsers(), isCopied);
           });
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

  tile::WarpGroupsOp groups;
  tile::RoleAttr role;
  const Instance &instance;
  llvm::ArrayRef<Instance> together;
  const Overlaps &overlaps;
  const Followed &followed;
  Memo &memo;
  Trace result;
  llvm::DenseMap<mlir::Value, Known> known;
  /// Numbers of all programs that are run together, where they differ; events that reach programs,
  /// and what by each program.
  std::vector<llvm::SmallVector<int64_t, 4>> varying;
  struct Reached {
    llvm::SmallVector<size_t, 4> events;
    std::vector<std::vector<Reach>> byProgram;
  };
  std::vector<Reached> reached;
  bool diverges = false, hasFailed = false;
  /// The next use of a channel, and those behind it that came first.
  struct Uses {
    int64_t next = 0, skipped = 0;
    std::set<int64_t> ahead;
    /// The last one of each slot.
    std::map<int64_t, int64_t> atSlot;
    /// Those of others, which the one that comes has stepped over.
    void skip(int64_t to) {
      next += std::max<int64_t>(0, to - skipped);
      skipped = std::max(skipped, to);
      close();
    }
    void close() {
      while (ahead.erase(next))
        ++next;
    }
  };
  /// Of each channel: the next use to get and to put, and the uses got and not yet released.
  std::vector<Uses> uses, puts;
  /// Of the role's own rings: the last put into each slot.
  std::vector<std::map<int64_t, int64_t>> atSlot;
  std::vector<std::vector<int64_t>> held;
  /// Of channels in tensor memory: the uses acquired and not yet committed, or, of operands,
  /// released.
  std::vector<std::vector<int64_t>> acquired;
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
