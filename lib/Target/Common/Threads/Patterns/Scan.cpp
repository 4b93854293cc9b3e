// Scans: each bit of the axis doubles the blocks within which elements know what stands before
// them.
//
// A thread knows, for each register, the prefix within its block and, once for all registers of a
// block, the block's total. Joining two blocks combines their totals, and the left total into the
// prefixes of the right one (for a reverse scan the right total into those of the left one). Blocks
// of registers join by themselves, those of lanes by an exchange of totals, those of warps through
// memory, all at once.
#include "../Scratch.h"
#include "../SharedAccess.h"
#include "../ThreadPatterns.h"
#include "mlir/IR/Region.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// The steps of a scan, by the bits of the axis from the lowest up; bits of warps that follow each
/// other are one step, through memory.
struct ScanStep {
  enum Kind { Registers, Lanes, Memory } kind;
  unsigned bit;                ///< of the register or lane number
  SmallVector<unsigned> warps; ///< the bits of the warp number, ascending along the axis
};
} // namespace

static SmallVector<ScanStep> planScan(ScanOp op) {
  LinearLayout layout = getLayout(op.getInputs().front());
  unsigned axis = op.getAxis();
  struct Bit {
    int64_t value;
    unsigned part, bit;
  };
  SmallVector<Bit> bits;
  SmallVector<int64_t> repeated = layout.freeVariables();
  for (auto [part, in] : llvm::enumerate(layout.getIns()))
    for (auto [bit, basis] : llvm::enumerate(in.bases))
      if (basis[axis] && !(repeated[part] >> bit & 1))
        bits.push_back({basis[axis], unsigned(part), unsigned(bit)});
  llvm::sort(bits, [](const Bit &left, const Bit &right) { return left.value < right.value; });
  SmallVector<ScanStep> steps;
  for (const Bit &bit : bits) {
    auto kind = ScanStep::Kind(bit.part);
    if (kind != ScanStep::Memory)
      steps.push_back({kind, bit.bit, {}});
    else if (!steps.empty() && steps.back().kind == ScanStep::Memory)
      steps.back().warps.push_back(bit.bit);
    else
      steps.push_back({kind, 0, {bit.bit}});
  }
  return steps;
}

/// Each thread has a slot for each of its totals.
static int64_t getSlots(const LinearLayout &layout) {
  return layout.getInSize(kRegister) * layout.getInSize(kLane) * layout.getInSize(kWarp);
}

static int64_t getScanBytes(ScanOp op) {
  SmallVector<ScanStep> steps = planScan(op);
  if (!llvm::any_of(steps, [](const ScanStep &step) { return step.kind == ScanStep::Memory; }))
    return 0;
  // Fewer totals than registers meet, but how many fewer depends on the step.
  LinearLayout layout = getLayout(op.getInputs().front());
  int64_t bytes = 0, registers = 0;
  for (const ScanStep &step : steps) {
    if (step.kind == ScanStep::Memory)
      break;
    registers += step.kind == ScanStep::Registers;
  }
  for (Value input : op.getInputs())
    bytes += llvm::alignTo((getSlots(layout) >> registers) *
                               getSharedElementBytes(getElementTypeOrSelf(input.getType())),
                           16);
  return bytes;
}

static void lowerScan(ThreadContext &context, ScanOp op) {
  LinearLayout layout = getLayout(op.getInputs().front());
  bool reverse = op.getReverse();
  Region &region = op.getCombiner();
  int64_t registers = layout.getInSize(kRegister), folded = 0;
  using Row = SmallVector<Value>; // one value an input
  SmallVector<Row> prefix(registers);
  for (Value input : op.getInputs())
    for (auto [reg, element] : llvm::enumerate(context.getElements(input)))
      prefix[reg].push_back(element);
  SmallVector<Row> total(prefix);

  auto choose = [&](Value condition, const Row &yes, const Row &no) {
    Row row;
    for (auto [left, right] : llvm::zip(yes, no))
      row.push_back(arith::SelectOp::create(context, condition, left, right));
    return row;
  };
  auto compare = [&](arith::CmpIPredicate how, Value left, int64_t right) -> Value {
    return arith::CmpIOp::create(context, how, left, context.i32(right));
  };
  /// What stands before comes in front, what stands behind after.
  auto extend = [&](const Row &mine, const Row &other) {
    return reverse ? context.combine(region, mine, other) : context.combine(region, other, mine);
  };
  /// The registers of the block whose total is register `key`'s.
  auto forBlock = [&](int64_t key, llvm::function_ref<void(Row &)> body) {
    for (int64_t reg = 0; reg < registers; ++reg)
      if ((reg & ~folded) == key)
        body(prefix[reg]);
  };
  auto forKeys = [&](llvm::function_ref<void(int64_t)> body) {
    for (int64_t reg = 0; reg < registers; ++reg)
      if (!(reg & folded))
        body(reg);
  };

  auto joinRegisters = [&](unsigned bit) {
    int64_t mask = int64_t(1) << bit;
    forKeys([&](int64_t key) {
      if (key & mask)
        return;
      Row left = total[key], right = total[key | mask];
      forBlock(reverse ? key : key | mask,
               [&](Row &row) { row = extend(row, reverse ? right : left); });
      total[key] = context.combine(region, left, right);
    });
    folded |= mask;
  };
  auto joinLanes = [&](unsigned bit) {
    int64_t mask = int64_t(1) << bit;
    Value isRight = compare(arith::CmpIPredicate::ne,
                            arith::AndIOp::create(context, context.lane, context.i32(mask)), 0);
    Value receives = isRight;
    if (reverse)
      receives = compare(arith::CmpIPredicate::eq,
                         arith::AndIOp::create(context, context.lane, context.i32(mask)), 0);
    forKeys([&](int64_t key) {
      Row other;
      for (Value mine : total[key])
        other.push_back(context.shuffleXor(mine, mask));
      forBlock(key, [&](Row &row) { row = choose(receives, extend(row, other), row); });
      total[key] = context.combine(region, choose(isRight, other, total[key]),
                                   choose(isRight, total[key], other), /*acrossLanes=*/true);
    });
  };
  bool isReused = false;
  auto joinWarps = [&](ArrayRef<unsigned> bits) {
    int64_t parts = int64_t(1) << bits.size(), mask = 0, warps = context.getWarps();
    Value mine = context.i32(0);
    for (auto [place, bit] : llvm::enumerate(bits)) {
      mask |= int64_t(1) << bit;
      Value part = arith::ShRUIOp::create(context, context.warp, context.i32(bit));
      part = arith::AndIOp::create(context, part, context.i32(1));
      part = arith::ShLIOp::create(context, part, context.i32(place));
      mine = arith::OrIOp::create(context, mine, part);
    }
    Value others = arith::AndIOp::create(context, context.warp, context.i32(~mask & (warps - 1)));
    auto slot = [&](int64_t number, Value fromWarp) -> Value {
      Value at = arith::AddIOp::create(context, context.i32(number * warps), fromWarp);
      at = arith::MulIOp::create(context, at, context.i32(context.chip.warpSize));
      return arith::AddIOp::create(context, at, context.lane);
    };
    SmallVector<int64_t> keys;
    forKeys([&](int64_t key) { keys.push_back(key); });
    SmallVector<Value> bases;
    Value base = getShared(context, op);
    int64_t offset = 0;
    // What the step before has read there.
    if (isReused)
      context.barrier();
    isReused = true;
    for (auto [i, input] : llvm::enumerate(op.getInputs())) {
      bases.push_back(offsetScratch(context, base, offset));
      for (auto [number, key] : llvm::enumerate(keys))
        storeScratch(context, bases[i], slot(number, context.warp), total[key][i]);
      offset += llvm::alignTo(int64_t(keys.size()) * warps * context.chip.warpSize *
                                  getSharedElementBytes(getElementTypeOrSelf(input.getType())),
                              16);
    }
    context.barrier();
    for (auto [number, key] : llvm::enumerate(keys)) {
      SmallVector<Row> rows;
      for (int64_t part = 0; part < parts; ++part) {
        int64_t spread = 0;
        for (auto [place, bit] : llvm::enumerate(bits))
          spread |= (part >> place & 1) << bit;
        Value at = slot(number, arith::OrIOp::create(context, others, context.i32(spread)));
        Row row;
        for (auto [i, input] : llvm::enumerate(op.getInputs()))
          row.push_back(loadScratch(context, bases[i], at, getElementTypeOrSelf(input.getType())));
        rows.push_back(row);
      }
      // What all parts before (or behind) this warp's come to.
      Row outside = rows[reverse ? parts - 1 : 0], all = rows[0];
      for (int64_t step = 1; step < parts - 1; ++step) {
        int64_t part = reverse ? parts - 1 - step : step;
        Row more = reverse ? context.combine(region, rows[part], outside)
                           : context.combine(region, outside, rows[part]);
        outside = choose(
            compare(reverse ? arith::CmpIPredicate::slt : arith::CmpIPredicate::sgt, mine, part),
            more, outside);
      }
      Value receives = compare(arith::CmpIPredicate::ne, mine, reverse ? parts - 1 : 0);
      forBlock(key, [&](Row &row) { row = choose(receives, extend(row, outside), row); });
      for (int64_t part = 1; part < parts; ++part)
        all = context.combine(region, all, rows[part]);
      total[key] = all;
    }
  };

  for (const ScanStep &step : planScan(op)) {
    if (step.kind == ScanStep::Registers)
      joinRegisters(step.bit);
    else if (step.kind == ScanStep::Lanes)
      joinLanes(step.bit);
    else
      joinWarps(step.warps);
  }
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    SmallVector<Value> column;
    for (const Row &row : prefix)
      column.push_back(row[i]);
    context.setElements(result, column);
  }
}

void kiln::populateScanPatterns(ThreadPatterns &patterns) {
  patterns.add<ScanOp>(lowerScan).needsScratch(getScanBytes).emulatedIf(hasNarrowFloats);
}
