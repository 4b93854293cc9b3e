// Checks decisions on scratch memory that may have been written or edited by hand: what realises
// them computes addresses by them.
#include "Materialization.h"
#include "kiln/Dialect/Tile/IR/Marks.h"
#include "kiln/Target/CPU/CPU.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::cpu;

//===- What an op needs ---------------------------------------------------------------------===//

bool kiln::cpu::needsTemps(Operation *op) {
  return isa<tile::DotOp, tile::DotScaledOp, tile::SortOp, tile::TopKOp, tile::StoreOp,
             tile::AllocOp>(op);
}

SmallVector<int64_t> kiln::cpu::tempBytes(Operation *op) {
  auto elements = [](Value value) { return cast<ShapedType>(value.getType()).getNumElements(); };
  if (auto dot = dyn_cast<tile::DotOp>(op)) {
    auto type = cast<RankedTensorType>(dot.getResult().getType());
    int64_t width = type.getElementType().isF64() ? 8 : 4;
    SmallVector<int64_t> sizes{dot.getM() * dot.getK() * width, dot.getK() * dot.getN() * width};
    if (type.getElementType().isF16())
      sizes.push_back(dot.getM() * dot.getN() * 4);
    return sizes;
  }
  if (auto dot = dyn_cast<tile::DotScaledOp>(op))
    return {elements(dot.getA()) * 4, elements(dot.getB()) * 4};
  if (isa<tile::SortOp, tile::TopKOp>(op)) {
    auto type = cast<RankedTensorType>(op->getOperand(0).getType());
    int64_t axis =
        isa<tile::SortOp>(op) ? cast<tile::SortOp>(op).getAxis() : cast<tile::TopKOp>(op).getAxis();
    // Words of key and position, or the two apart, for a power of two of elements and no less than
    // a vector of any processor.
    uint64_t extent = type.getDimSize(axis);
    int64_t size = std::max<int64_t>(llvm::bit_ceil(extent), 16) * 8;
    Type element = type.getElementType();
    unsigned bits = isa<IndexType>(element) ? 64 : element.getIntOrFloatBitWidth();
    bool apart = bits + std::max(1u, llvm::Log2_64_Ceil(extent)) > 64;
    return apart ? SmallVector<int64_t>{size, size} : SmallVector<int64_t>{size};
  }
  if (auto store = dyn_cast<tile::StoreOp>(op)) {
    SmallVector<int64_t> sizes;
    for (tile::LoadOp load : loadsToGuard(store))
      sizes.push_back(bytesOf(load.getResult().getType()));
    return sizes;
  }
  if (auto alloc = dyn_cast<tile::AllocOp>(op)) {
    auto type = cast<tile::BufferType>(alloc.getResult().getType());
    int64_t count = 1;
    for (int64_t extent : type.getShape())
      count *= extent;
    return {count * storageBytes(type.getElementType())};
  }
  return {};
}

tile::ReduceOp kiln::cpu::fillingReduction(Operation *op) {
  if (!isInlineable(op) || op->getNumResults() != 1 || bufferOf(op->getResult(0)) < 0)
    return {};
  Value value = op->getResult(0);
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
    if (auto reduce = dyn_cast<tile::ReduceOp>(next))
      return reduce.getInputs().size() == 1 && reduce.getInputs().front() == value
                 ? reduce
                 : tile::ReduceOp();
    bool scalar = llvm::none_of(next->getResultTypes(), llvm::IsaPred<RankedTensorType>) &&
                  llvm::none_of(next->getOperandTypes(), llvm::IsaPred<RankedTensorType>);
    if (next->getNumRegions() || writesGlobal(next) || writesShared(next) ||
        (!isInlineable(next) && !(scalar && isMemoryEffectFree(next))))
      return {};
    if (scalar || isInline(next->getResult(0)))
      continue;
    bool reads = false;
    for (Value operand : next->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        walkTree(operand, [&](Value leaf) { reads |= leaf == value; });
    if (reads)
      return {};
  }
  return {};
}

//===- Checks -------------------------------------------------------------------------------===//

static constexpr StringLiteral kDecisions[] = {
    kBuffersAttr,     kBeforeBuffersAttr, kTempsAttr,       kFusedAttr,
    kBufferBytesAttr, kBufferOffsetsAttr, kScratchBytesAttr};

/// Other targets read none of them.
LogicalResult CPUDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  TargetInterface target = getTarget(op);
  bool isRead = !target || isa<TargetAttr>(target);
  if (isRead && llvm::is_contained(kDecisions, attribute.getName()))
    return success();
  return tile::refuseMeaningless(op, attribute.getName());
}

LogicalResult CPUDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argument,
                                                   NamedAttribute attribute) {
  return tile::refuseMeaningless(op, attribute.getName()) << " on argument " << argument;
}

LogicalResult kiln::cpu::checkUndecided(tile::KernelOp kernel) {
  WalkResult result = kernel->walk([](Operation *op) -> WalkResult {
    for (StringRef name : kDecisions)
      if (op->hasAttr(name))
        return op->emitOpError("expected no decision before buffers are decided, got ") << name;
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {
/// One kernel's decisions against its types.
struct Checker {
  ArrayRef<int64_t> bytes;

  /// One number an entry: of a buffer that is large enough for `size`, or -1 where none is needed.
  LogicalResult checkNumbers(Operation *op, StringRef name, ArrayRef<int64_t> sizes,
                             ArrayRef<bool> required) {
    ArrayRef<int64_t> numbers = numbersOf(op, name);
    if (numbers.size() != sizes.size())
      return op->emitOpError("expected ")
             << name << " to be an array of " << sizes.size() << " integers";
    for (auto [number, size, must] : llvm::zip(numbers, sizes, required)) {
      if (number == -1 && !must)
        continue;
      if (size < 0)
        return op->emitOpError("expected no number in ") << name << " for a scalar, got " << number;
      if (number < 0 || number >= int64_t(bytes.size()) || bytes[number] < size)
        return op->emitOpError("expected ")
               << name << " to name a buffer of at least " << size << " bytes, got " << number;
    }
    return success();
  }

  /// Buffers for the tensors among `types`; no scalar has one.
  LogicalResult checkTensors(Operation *op, StringRef name, TypeRange types, bool required) {
    SmallVector<int64_t> sizes;
    SmallVector<bool> needed;
    for (Type type : types) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      sizes.push_back(tensor ? bytesOf(tensor) : -1);
      needed.push_back(tensor && required);
    }
    return checkNumbers(op, name, sizes, needed);
  }

  /// Temporaries for the yielded tensors, enough that none overwrites what another still reads.
  LogicalResult checkYield(Operation *op) {
    if (failed(checkTensors(op, kTempsAttr, op->getOperandTypes(), false)))
      return failure();
    auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
    if (!loop)
      return success();
    ArrayRef<int64_t> temps = numbersOf(op, kTempsAttr);
    for (unsigned k : planYields(loop, temps).temps)
      if (temps[k] < 0)
        return op->emitOpError("expected ")
               << kTempsAttr << " to name a buffer for operand " << k
               << ", which overwrites what a yielded tensor still reads, got -1";
    return success();
  }

  LogicalResult check(Operation *op) {
    bool structured = isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::IndexSwitchOp>(op);
    bool keeps =
        !isInlineable(op) && llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
    if ((structured || keeps || op->hasAttr(kBuffersAttr)) &&
        failed(checkTensors(op, kBuffersAttr, op->getResultTypes(), structured || keeps)))
      return failure();
    auto loop = dyn_cast<scf::WhileOp>(op);
    if (loop &&
        failed(checkTensors(op, kBeforeBuffersAttr, loop.getBefore().getArgumentTypes(), true)))
      return failure();
    if (isa<scf::YieldOp>(op) && failed(checkYield(op)))
      return failure();
    if (needsTemps(op)) {
      SmallVector<int64_t> sizes = tempBytes(op);
      if (failed(checkNumbers(op, kTempsAttr, sizes, SmallVector<bool>(sizes.size(), true))))
        return failure();
    }
    if (op->hasAttr(kFusedAttr) && !fillingReduction(op))
      return op->emitOpError("expected ") << kFusedAttr << " on a kept tensor that the next "
                                          << "reduction reads";
    return success();
  }
};
} // namespace

LogicalResult kiln::cpu::checkDecisions(tile::KernelOp kernel) {
  auto bytes = kernel->getAttrOfType<DenseI64ArrayAttr>(kBufferBytesAttr);
  if (!bytes)
    return kernel.emitOpError("expected cpu.buffer_bytes, which cpu-decide-materialization writes");
  if (llvm::any_of(bytes.asArrayRef(), [](int64_t size) { return size < 1; }))
    return kernel.emitOpError("expected cpu.buffer_bytes of at least 1, got ") << bytes;
  Checker checker{bytes.asArrayRef()};
  WalkResult result =
      kernel.getBody().walk([&](Operation *op) -> WalkResult { return checker.check(op); });
  return failure(result.wasInterrupted());
}

LogicalResult kiln::cpu::checkPlaces(tile::KernelOp kernel) {
  auto offsets = kernel->getAttrOfType<DenseI64ArrayAttr>(kBufferOffsetsAttr);
  auto total = kernel->getAttrOfType<IntegerAttr>(kScratchBytesAttr);
  if (!offsets || !total)
    return kernel.emitOpError(
        "expected cpu.buffer_offsets and cpu.scratch_bytes, which cpu-plan-scratch writes");
  if (failed(checkDecisions(kernel)))
    return failure();
  auto bytes = kernel->getAttrOfType<DenseI64ArrayAttr>(kBufferBytesAttr);
  if (offsets.size() != bytes.size())
    return kernel.emitOpError("expected ")
           << bytes.size() << " offsets of buffers, got " << offsets.size();
  for (auto [offset, size] : llvm::zip(offsets.asArrayRef(), bytes.asArrayRef()))
    if (offset < kScratchHeaderBytes || offset % 64 || size > total.getInt() - offset)
      return kernel.emitOpError("expected a buffer of ")
             << size << " bytes to lie at a multiple of 64 between " << kScratchHeaderBytes
             << " and " << total.getInt() << ", got " << offset;
  return success();
}
