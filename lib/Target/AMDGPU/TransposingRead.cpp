// Reads of LDS that transpose: which lane gets what, by the CDNA4 ISA manual ("MFMA transpose load
// from LDS"), and how they are emitted.
//
// Sixteen lanes work together, each group by itself. Their rows of eight bytes, in the order of the
// lanes, are a matrix of sixteen columns; each lane gets one column of it.
#include "Chips.h"
#include "kiln/Target/Common/AtomCosts.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::amdgcn;
using tile::Place;

using InDim = LinearLayout::InDim;

static constexpr unsigned kRowBits = 64, kColumns = 16, kLanes = 64;

SmallVector<Attribute> kiln::amdgcn::getTransposingReads(StringRef chip, Type element) {
  unsigned bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  if (!getRecord(chip).transposes || (bits != 8 && bits != 16))
    return {};
  return {TransposingReadAttr::get(element.getContext(), bits)};
}

LogicalResult TransposingReadAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                          unsigned bits) {
  if (bits == 8 || bits == 16)
    return success();
  return emitError() << "expected elements of 8 or 16 bits to transpose, got " << bits;
}

bool TransposingReadAttr::canCopy(Place from, Place to) const {
  return from == Place::Shared && to == Place::Registers;
}

unsigned TransposingReadAttr::getGranularity() const { return kRowBits / 8; }

std::optional<int64_t> TransposingReadAttr::getLatency(const Chip &chip) const {
  return getValue(chip.figures.sharedLatency);
}

/// Registers walk down a column; a lane's place in its row says which column.
LinearLayout TransposingReadAttr::getTile() const {
  int64_t width = kRowBits / getBits();
  InDim registers{"register", {}}, lanes{"lane", {}};
  for (int64_t value = 1; value < width; value *= 2)
    registers.bases.push_back({0});
  for (int64_t value = 1; value < kLanes; value *= 2)
    lanes.bases.push_back({value < width ? value : 0});
  return *LinearLayout::create({registers, lanes}, getTensorOuts({width}));
}

/// The lanes of a row of the matrix follow one another, then come those of the next one.
LinearLayout TransposingReadAttr::getNamedRows() const {
  int64_t width = kRowBits / getBits();
  InDim lanes{"lane", {}};
  for (int64_t column = width; column < kColumns; column *= 2)
    lanes.bases.push_back({0, column});
  for (int64_t row = 1; row < width; row *= 2)
    lanes.bases.push_back({row, 0});
  for (int64_t lane = kColumns; lane < kLanes; lane *= 2)
    lanes.bases.push_back({0, lane});
  return *LinearLayout::create({lanes}, {{"register", width}, {"lane", kLanes}});
}

Value TransposingReadAttr::emit(OpBuilder &builder, Location loc, Value pointer, Value) const {
  auto type = VectorType::get({kRowBits / getBits()}, builder.getIntegerType(getBits()));
  if (getBits() == 16)
    return ROCDL::ds_read_tr16_b64::create(builder, loc, type, pointer);
  auto words = VectorType::get({2}, builder.getI32Type());
  Value read = ROCDL::ds_read_tr8_b64::create(builder, loc, words, pointer);
  return vector::BitCastOp::create(builder, loc, type, read);
}
