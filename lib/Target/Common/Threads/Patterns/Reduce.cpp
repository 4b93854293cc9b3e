// Reductions: each thread folds its registers, lanes exchange, and warps meet in shared memory.
//
// The bits of the axis are folded one after another; folding bit b combines the elements that
// differ in b alone, the one without it on the left. If the combiner commutes, a thread's own
// registers go first, which leaves the fewest exchanges. If not, bits go from the lowest up, so
// that only neighbours along the axis are combined, and from the first bit that belongs to warps
// on all the rest goes through memory.
//
// Of elements of 16 bits the greatest or least is found two at a time: the order cannot be seen, so
// halves of a thread's registers meet from the highest bit down, and neighbours stay in one word.
#include "../SharedAccess.h"
#include "../ThreadPatterns.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// How a reduction goes: what each thread folds of its own, what lanes exchange, and what goes
/// through shared memory. Bits are those of the input's layout along the axis.
struct ReducePlan {
  struct Step {
    bool acrossLanes;
    unsigned bit; ///< of the register or lane number
  };
  SmallVector<Step> steps;
  /// Registers with one of these bits set are folded away, or repeat another.
  int64_t droppedRegisters = 0;
  /// Values of the axis whose partial results meet in memory, ascending; each doubles them.
  SmallVector<int64_t> remaining;
  bool commutative = false;
};
} // namespace

/// Each result is one commutative op on the two sides of its own input.
static bool commutes(ReduceOp op) {
  Block &block = op.getCombiner().front();
  unsigned count = op.getInputs().size();
  for (auto [i, value] : llvm::enumerate(block.getTerminator()->getOperands())) {
    Operation *def = value.getDefiningOp();
    if (!def || !def->hasTrait<OpTrait::IsCommutative>() || def->getNumOperands() != 2)
      return false;
    Value left = block.getArgument(i), right = block.getArgument(count + i);
    bool straight = def->getOperand(0) == left && def->getOperand(1) == right;
    bool crossed = def->getOperand(0) == right && def->getOperand(1) == left;
    if (!straight && !crossed)
      return false;
  }
  return true;
}

static ReducePlan planReduce(ReduceOp op) {
  LinearLayout layout = getLayout(op.getInputs().front());
  unsigned axis = op.getAxis();
  enum Owner { Register, Lane, Warp };
  struct Bit {
    int64_t value;
    Owner owner;
    unsigned bit;
  };
  ReducePlan plan;
  plan.commutative = commutes(op);
  SmallVector<Bit> bits;
  SmallVector<int64_t> repeated = layout.freeVariables();
  plan.droppedRegisters = repeated[Register];
  for (auto [part, in] : llvm::enumerate(layout.getIns()))
    for (auto [bit, basis] : llvm::enumerate(in.bases))
      if (basis[axis] && !(repeated[part] >> bit & 1))
        bits.push_back({basis[axis], Owner(part), unsigned(bit)});
  llvm::sort(bits, [&](const Bit &left, const Bit &right) {
    if (plan.commutative && left.owner != right.owner)
      return left.owner < right.owner;
    return left.value < right.value;
  });
  bool throughMemory = false;
  for (const Bit &bit : bits) {
    throughMemory |= bit.owner == Warp;
    if (throughMemory) {
      plan.remaining.push_back(bit.value);
      continue;
    }
    plan.steps.push_back({bit.owner == Lane, bit.bit});
    if (bit.owner == Register)
      plan.droppedRegisters |= int64_t(1) << bit.bit;
  }
  llvm::sort(plan.remaining);
  return plan;
}

/// Places in memory are told apart by bits: an extent that is no power of two takes those of the
/// next.
static int64_t getPartialBytes(ReduceOp op, const ReducePlan &plan, unsigned input) {
  Type element = getElementTypeOrSelf(op.getResult(input).getType());
  int64_t bytes = (int64_t(1) << getLayout(op.getResult(input)).getTotalOutBits()) *
                  (int64_t(1) << plan.remaining.size()) * getSharedElementBytes(element);
  return llvm::alignTo(bytes, 16);
}

static int64_t getReduceBytes(ReduceOp op) {
  ReducePlan plan = planReduce(op);
  int64_t bytes = 0;
  if (!plan.remaining.empty())
    for (unsigned i = 0; i < op.getInputs().size(); ++i)
      bytes += getPartialBytes(op, plan, i);
  return bytes;
}

/// The one op of a combiner that gives the same bits in any order, on elements two to a word.
static Operation *getPackedCombiner(ReduceOp op) {
  Block &block = op.getCombiner().front();
  Operation &first = block.front();
  bool isAlone = op.getInputs().size() == 1 && &first != block.getTerminator() &&
                 first.getNextNode() == block.getTerminator() && commutes(op);
  bool isChoice = isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp,
                      arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp>(first);
  Type element = first.getNumResults() == 1 ? first.getResult(0).getType() : Type();
  return isAlone && isChoice && element.isIntOrFloat() && element.getIntOrFloatBitWidth() == 16
             ? &first
             : nullptr;
}

/// Folds the registers that the plan says as vectors. The bits of those that are left stand for
/// what they did.
static void foldPacked(ThreadContext &context, ReduceOp op, const ReducePlan &plan,
                       Operation *combiner, MutableArrayRef<SmallVector<Value>> partial) {
  Value all = context.get(op.getInputs().front());
  auto kept = llvm::to_vector(llvm::seq<int64_t>(0, partial.size()));
  SmallVector<unsigned> bits;
  for (const ReducePlan::Step &step : plan.steps)
    if (!step.acrossLanes)
      bits.push_back(step.bit);
  llvm::sort(bits, std::greater<>());
  for (unsigned bit : bits) {
    SmallVector<int64_t> sides[2], left;
    for (auto [at, reg] : llvm::enumerate(kept)) {
      sides[reg >> bit & 1].push_back(at);
      if (!(reg >> bit & 1))
        left.push_back(reg);
    }
    kept = left;
    Value parts[2];
    for (auto [part, side] : llvm::zip(parts, sides))
      part = vector::ShuffleOp::create(context, all, all, side);
    OperationState state(context.getLoc(), combiner->getName(), ValueRange(parts),
                         parts[0].getType(), combiner->getAttrs());
    all = context.create(state)->getResult(0);
  }
  for (auto [at, reg] : llvm::enumerate(kept))
    partial[reg] = {vector::ExtractOp::create(context, all, int64_t(at))};
}

/// Where the partial results of a layout's places lie in memory: those of one result element
/// beside each other, in the order of the axis.
static LinearLayout getPartialOffsets(const LinearLayout &layout, unsigned axis,
                                      const ReducePlan &plan) {
  int64_t partials = int64_t(1) << plan.remaining.size(), all = partials;
  for (auto [dim, out] : llvm::enumerate(layout.getOuts()))
    all *= dim == axis ? 1 : llvm::PowerOf2Ceil(out.size);
  SmallVector<LinearLayout::InDim> ins;
  for (const LinearLayout::InDim &in : layout.getIns()) {
    ins.push_back({in.name, {}});
    for (auto [bit, basis] : llvm::enumerate(in.bases)) {
      if (in.name == kRegister && (plan.droppedRegisters >> bit & 1))
        continue;
      int64_t flat = 0;
      for (auto [dim, out] : llvm::enumerate(layout.getOuts()))
        if (dim != axis)
          flat = flat * int64_t(llvm::PowerOf2Ceil(out.size)) + basis[dim];
      flat *= partials;
      for (auto [position, value] : llvm::enumerate(plan.remaining))
        if (basis[axis] == value)
          flat += int64_t(1) << position;
      ins.back().bases.push_back({flat});
    }
  }
  return *LinearLayout::create(ins, getTensorOuts({all}));
}

static void lowerReduce(ThreadContext &context, ReduceOp op) {
  LinearLayout layout = getLayout(op.getInputs().front());
  ReducePlan plan = planReduce(op);
  unsigned count = op.getInputs().size();
  int64_t registers = layout.getInSize(kRegister);
  // By register, one value an input.
  SmallVector<SmallVector<Value>> partial(registers);
  for (Value input : op.getInputs())
    for (auto [reg, element] : llvm::enumerate(context.getElements(input)))
      partial[reg].push_back(element);

  int64_t folded = layout.freeVariables().front();
  Operation *packed = folded || !llvm::isPowerOf2_64(registers) ? nullptr : getPackedCombiner(op);
  if (packed) {
    foldPacked(context, op, plan, packed, partial);
    folded = plan.droppedRegisters;
  }
  for (const ReducePlan::Step &step : plan.steps) {
    if (packed && !step.acrossLanes)
      continue;
    int64_t bit = int64_t(1) << step.bit;
    Value isRight;
    if (step.acrossLanes && !plan.commutative)
      isRight = arith::CmpIOp::create(
          context, arith::CmpIPredicate::ne,
          arith::AndIOp::create(context, context.lane, context.i32(bit)), context.i32(0));
    for (int64_t reg = 0; reg < registers; ++reg) {
      // What an extent cuts off has nothing to add.
      if ((reg & folded) || (!step.acrossLanes && ((reg & bit) || (reg | bit) >= registers)))
        continue;
      SmallVector<Value> left = partial[reg], right;
      if (!step.acrossLanes)
        right = partial[reg | bit];
      else
        for (Value &mine : left) {
          Value other = context.shuffleXor(mine, bit);
          right.push_back(isRight ? Value(arith::SelectOp::create(context, isRight, mine, other))
                                  : other);
          if (isRight)
            mine = arith::SelectOp::create(context, isRight, other, mine);
        }
      partial[reg] = context.combine(op.getCombiner(), left, right, step.acrossLanes);
    }
    if (!step.acrossLanes)
      folded |= bit;
  }

  SmallVector<SmallVector<Value>> kept;
  for (int64_t reg = 0; reg < registers; ++reg)
    if (!(reg & plan.droppedRegisters))
      kept.push_back(partial[reg]);
  if (!plan.remaining.empty()) {
    LinearLayout offsets = getPartialOffsets(layout, op.getAxis(), plan);
    // What comes back: first the partial results of an element, then the next element.
    LinearLayout result = getLayout(op.getResult(0));
    SmallVector<int64_t> flat{int64_t(1) << result.getTotalOutBits()};
    int64_t partials = int64_t(1) << plan.remaining.size();
    LinearLayout reads =
        LinearLayout::identity(partials, kRegister, getDimName(0)) * result.reshapeOuts(flat);
    Value base = getShared(context, op);
    SmallVector<Value> bases;
    int32_t at = 0;
    for (unsigned i = 0; i < count; ++i) {
      bases.push_back(LLVM::GEPOp::create(context, base.getType(), context.getI8Type(), base,
                                          ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(at)}));
      at += getPartialBytes(op, plan, i);
      SmallVector<Value> column;
      for (const SmallVector<Value> &row : kept)
        column.push_back(row[i]);
      writeShared(context, bases[i], offsets, column);
    }
    context.barrier();
    SmallVector<SmallVector<Value>> read;
    for (unsigned i = 0; i < count; ++i) {
      Type type = cast<RankedTensorType>(op.getResult(i).getType()).getElementType();
      read.push_back(readShared(context, bases[i], reads, /*start=*/0, type));
    }
    kept.clear();
    for (int64_t reg = 0; reg < result.getInSize(kRegister); ++reg) {
      auto row = [&](int64_t part) {
        SmallVector<Value> values;
        for (const SmallVector<Value> &column : read)
          values.push_back(column[reg * partials + part]);
        return values;
      };
      SmallVector<Value> sum = row(0);
      for (int64_t part = 1; part < partials; ++part)
        sum = context.combine(op.getCombiner(), sum, row(part));
      kept.push_back(sum);
    }
  }
  for (unsigned i = 0; i < count; ++i) {
    SmallVector<Value> column;
    for (const SmallVector<Value> &row : kept)
      column.push_back(row[i]);
    context.setElements(op.getResult(i), column);
  }
}

void kiln::populateReducePatterns(ThreadPatterns &patterns) {
  patterns.add<ReduceOp>(lowerReduce).needsScratch(getReduceBytes).emulatedIf(hasNarrowFloats);
  // A reduction by now.
  patterns.addWithoutLowering<ArgReduceOp>().emulatedIf(
      [](Operation *, TargetInterface) { return true; });
  // What ends a combiner, of reductions and scans alike.
  patterns.addWithoutLowering<tile::YieldOp>();
}
