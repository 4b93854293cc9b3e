// Which kernels need no second proof.
#include "kiln/Schedule/Proofs.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace kiln;
using namespace mlir;

namespace {

struct ProofsTest : testing::Test {
  ProofsTest() { context.loadDialect<tile::TileDialect, arith::ArithDialect>(); }

  /// A kernel, a line further down for each line in front.
  tile::KernelOp parse(StringRef number, StringRef inFront = "") {
    std::string text = (inFront + "tile.kernel @k(%x: i32) {\n  %c = arith.constant " + number +
                        " : i32\n  %y = arith.addi %x, %c : i32\n  tile.return\n}\n")
                           .str();
    modules.push_back(parseSourceString<ModuleOp>(text, &context));
    return *modules.back()->getOps<tile::KernelOp>().begin();
  }

  MLIRContext context;
  std::vector<OwningOpRef<ModuleOp>> modules;
};

TEST_F(ProofsTest, HoldsForTheSameKernelAlone) {
  Proofs proofs;
  EXPECT_FALSE(proofs.has(parse("1")));
  proofs.add(parse("1"));
  EXPECT_TRUE(proofs.has(parse("1")));
  EXPECT_TRUE(proofs.has(parse("1", "\n\n"))); // at another place
  EXPECT_FALSE(proofs.has(parse("2")));
  tile::KernelOp other = parse("1");
  other->setAttr("tile.shared_bytes", Builder(&context).getI64IntegerAttr(16));
  EXPECT_FALSE(proofs.has(other));
}

TEST_F(ProofsTest, OutlivesWhatWasProven) {
  Proofs proofs;
  proofs.add(parse("1"));
  modules.clear();
  EXPECT_TRUE(proofs.has(parse("1")));
}

} // namespace
