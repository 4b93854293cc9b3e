// Shared-memory layouts of every matrix instruction's operands, by each chip's own rules.
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "kiln/Target/AllTargets.h"
#include "kiln/Target/Registry.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>
#include <map>

using namespace kiln;
using namespace mlir;

namespace {
LinearLayout parsed(StringRef text) {
  std::string error;
  std::optional<LinearLayout> layout = LinearLayout::parse(text, &error);
  EXPECT_TRUE(layout) << error;
  return layout.value_or(LinearLayout());
}

/// A chip whose shared memory serves lanes in their order.
const Chip kChip = {"plain", 32, 1024, 255, 65536, 65536, ""};

/// A fragment repeated in registers until it covers the extents; four warps hold the same.
LinearLayout repeated(LinearLayout fragment, ArrayRef<int64_t> extents) {
  for (unsigned dim : {1, 0})
    fragment = fragment * LinearLayout::identity(extents[dim] / fragment.getShape()[dim], kRegister,
                                                 getDimName(dim));
  return canonicalise(fragment * LinearLayout::zeros(4, kWarp, "dim0"));
}

// Eight f16 a lane along rows of 128 bytes; read by columns of the rows.
TEST(SharedLayout, SwizzlesRowsByHand) {
  LinearLayout rows = getBlockedLayout({64, 64}, 8, {32, 1});
  LinearLayout fragment = repeated(
      parsed("register = [[0,1],[8,0],[0,8]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]] -> [16, 16]"),
      {64, 64});
  SharedPlan plan = planShared(rows, fragment, 2, kChip, {});
  // Both have elements of rows 8, 16 and 32 apart in registers, so both move 16 bytes at a time,
  // and eight lanes a cycle.
  EXPECT_EQ(plan.write.width, 8);
  EXPECT_EQ(plan.write.cycles, 4);
  EXPECT_EQ(plan.read.width, 8);
  EXPECT_EQ(plan.read.cycles, 4);
  // Row-major, the eight rows that a read touches share their banks.
  LinearLayout rowMajor =
      LinearLayout::identity(64, kOffset, "dim1") * LinearLayout::identity(64, kOffset, "dim0");
  EXPECT_EQ(measureSide(fragment, rowMajor.transposeOuts({1, 0}), 2, kChip, false, {}).cycles, 8);
}

TEST(SharedLayout, FindsRegistersThatAreConsecutive) {
  // Register bits 1 and 2 hold what is consecutive.
  LinearLayout offsets = parsed("register = [[64],[1],[2]], lane = [[4],[8]] -> [128]");
  VectorOrder order = getVectorOrder(offsets, 8);
  EXPECT_EQ(order.width, 4);
  EXPECT_EQ(order.bits, (SmallVector<unsigned>{1, 2, 0}));
  EXPECT_EQ(order.getRegister(3), 6);
  EXPECT_EQ(order.getRegister(4), 1);
}

TEST(SharedLayout, TransposesWithoutConflict) {
  // What is read along the other dimension has nothing in common but elements of its own.
  for (unsigned bytes : {1, 2, 4, 8}) {
    LinearLayout rows = getBlockedLayout({64, 64}, 16 / bytes, {32, 4}, 1);
    LinearLayout columns = getBlockedLayout({64, 64}, 16 / bytes, {32, 4}, 0);
    SharedPlan plan = planShared(rows, columns, bytes, kChip, {});
    EXPECT_EQ(plan.write.cycles, plan.write.fewest) << bytes << " " << plan.layout.str();
    EXPECT_EQ(plan.read.cycles, plan.read.fewest) << bytes << " " << plan.layout.str();
    EXPECT_TRUE(plan.layout.isInvertible());
  }
}

struct Case {
  std::string name;
  const Chip *chip;
  TargetInterface target;
};

class SharedLayoutOfTargets : public testing::Test {
protected:
  SharedLayoutOfTargets() {
    registerAllTargets();
    DialectRegistry registry;
    registerTargetDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }
  MLIRContext context;
};

// Every operand of every matrix instruction, from loads along either dimension with each vector
// width, to each chip's rules: no cycle more than the bytes take.
TEST_F(SharedLayoutOfTargets, ServesEveryOperandInTheFewestCycles) {
  Builder builder(&context);
  Type f32 = builder.getF32Type(), i32 = builder.getI32Type();
  struct Types {
    Type element, accumulator, stored;
  } types[] = {{builder.getF16Type(), f32, builder.getF16Type()},
               {builder.getBF16Type(), f32, builder.getBF16Type()},
               {FloatTF32Type::get(&context), f32, f32},
               {f32, f32, f32},
               {builder.getF64Type(), builder.getF64Type(), builder.getF64Type()},
               {builder.getIntegerType(8), i32, builder.getIntegerType(8)},
               {builder.getIntegerType(4), i32, builder.getIntegerType(8)},
               {Float8E4M3FNType::get(&context), f32, Float8E4M3FNType::get(&context)}};
  int operands = 0, conflicts = 0;
  for (const TargetEntry &entry : getTargets())
    for (const Chip &chip : llvm::make_pointee_range(entry.chips)) {
      auto target = cast<TargetInterface>(entry.create(&context, chip));
      if (target.runsOnHost())
        continue;
      for (const Types &type : types)
        for (Attribute atom : target.getMmaAtoms(type.element, type.element, type.accumulator))
          for (unsigned operand : {0, 1}) {
            LinearLayout fragment = cast<WarpMmaAtomInterface>(atom).getFragment(operand);
            SmallVector<int64_t> extents = fragment.getShape();
            for (int64_t &extent : extents)
              extent = std::max<int64_t>(extent, 64);
            LinearLayout read = repeated(fragment, extents);
            unsigned bytes = type.stored.getIntOrFloatBitWidth() / 8;
            for (int fastest : {0, 1})
              for (int64_t width = 1; width * bytes <= kMostSharedBytes; width *= 2)
                for (bool withAtoms : {false, true}) {
                  LinearLayout write =
                      getBlockedLayout(extents, width, {chip.warpSize, 4}, fastest);
                  SharedPlan plan = planShared(write, read, bytes, chip,
                                               withAtoms ? target.getCopyAtoms(type.stored)
                                                         : SmallVector<Attribute>());
                  std::string where;
                  llvm::raw_string_ostream(where)
                      << chip.name << " " << atom << " operand " << operand << " fastest "
                      << fastest << " width " << width << " " << plan.layout.str();
                  bool isFree = plan.write.cycles == plan.write.fewest &&
                                plan.read.cycles == plan.read.fewest;
                  conflicts += !isFree;
                  // One element at a time both sides can be served without conflicts: what has
                  // some must be faster than that.
                  int64_t single = write.getInSize(kRegister) + read.getInSize(kRegister);
                  EXPECT_TRUE(isFree || plan.getCycles() < single) << where;
                  EXPECT_TRUE(plan.layout.isInvertible()) << where;
                  ++operands;
                }
          }
    }
  EXPECT_GT(operands, 1000);
  EXPECT_EQ(conflicts, 0);
}

// A copy atom's row stands in the buffer as the fragment wants it, or it is not taken.
TEST_F(SharedLayoutOfTargets, TakesCopyAtomsThatDivide) {
  Type f16 = Builder(&context).getF16Type();
  std::map<std::string, int> count;
  for (const TargetEntry &entry : getTargets())
    for (const Chip &chip : llvm::make_pointee_range(entry.chips)) {
      auto target = cast<TargetInterface>(entry.create(&context, chip));
      SmallVector<Attribute> copies =
          target.runsOnHost() ? SmallVector<Attribute>() : target.getCopyAtoms(f16);
      if (copies.empty())
        continue;
      for (Attribute atom : target.getMmaAtoms(f16, f16, Builder(&context).getF32Type()))
        for (unsigned operand : {0, 1})
          for (auto [fastest, width] : {std::pair(0, 4), {1, 4}, {0, 8}, {1, 8}}) {
            LinearLayout read =
                repeated(cast<WarpMmaAtomInterface>(atom).getFragment(operand), {64, 64});
            LinearLayout write = getBlockedLayout({64, 64}, width, {chip.warpSize, 1}, fastest);
            SharedPlan plan = planShared(write, read, 2, chip, copies);
            // Plain accesses may do as well, above all for what lies along k.
            if (!plan.read.atom) {
              EXPECT_EQ(plan.getCycles(), planShared(write, read, 2, chip, {}).getCycles());
              continue;
            }
            auto taken = cast<WarpCopyAtomInterface>(plan.read.atom);
            EXPECT_TRUE(canMove(taken, getSharedOffsets(read, &plan.layout)));
            // No narrower than the atom's rows.
            EXPECT_GE(plan.write.width, std::min<int64_t>(width, taken.getTile().getShape()[0]));
            EXPECT_EQ(plan.read.cycles, plan.read.fewest);
            ++count[chip.name.str()];
          }
      EXPECT_GT(count[chip.name.str()], 0) << chip.name.str();
    }
  EXPECT_GE(count.size(), 2u);
}
} // namespace
