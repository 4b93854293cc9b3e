// What nobody computes has a name: numbers and tensors of reals, and all that comes of a tensor. A
// name follows from where the first of them come from and what is made of them, so all who make the
// same from the same have one name. Where it becomes a number, that is drawn by its name.
#include "Tracer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::protocol;
using namespace kiln::tile;

/// The high bits of a product by the golden ratio follow from all bits of both.
static uint64_t mix(uint64_t name, uint64_t with) {
  uint64_t mixed = (name ^ with) * 0x9e3779b97f4a7c15;
  return mixed ^ mixed >> 29;
}

uint64_t kiln::protocol::getName(std::initializer_list<uint64_t> parts) {
  uint64_t name = 1;
  for (uint64_t part : parts)
    name = mix(name, part);
  return name;
}

/// Under a pattern of two either outcome is as likely, and half of the numbers are small; under the
/// others loops that one of them goes on by go on for long, and the longer, the larger the extents
/// are.
int64_t Instance::draw(uint64_t name, Type type, ArrayRef<int64_t> compared) const {
  constexpr uint64_t kBelow = 6, kLong = 8;
  uint64_t mixed = mix(mix(name, pattern), 0x5851f42d4c957f2d) >> 16;
  bool isOften = mixed % (kLong * scale) != 0, isMost = pattern % 4 == 1;
  if (type.isInteger(1))
    return pattern % 2 ? isOften == isMost : mixed % 2;
  if (compared.empty() || (pattern % 2 == 0 && mixed % 2 == 0))
    return int64_t((mixed >> 1) % (kBelow * scale));
  // On either side of what it is compared with, or the same.
  if (pattern % 2 == 0)
    return compared[(mixed >> 1) % compared.size()] + int64_t((mixed >> 16) % 3) - 1;
  return isOften == isMost ? compared.back() + 1 : compared.front() - 1;
}

/// What an op does, as far as names tell: what it is, and what is in it.
static uint64_t getKind(Operation *op) {
  uint64_t kind = 0;
  op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
    kind = mix(kind, llvm::xxh3_64bits(inner->getName().getStringRef()));
    if (auto comparison = dyn_cast<arith::CmpFOp>(inner))
      kind = mix(kind, uint64_t(comparison.getPredicate()));
    if (auto comparison = dyn_cast<arith::CmpIOp>(inner))
      kind = mix(kind, uint64_t(comparison.getPredicate()));
    if (auto constant = dyn_cast<arith::ConstantOp>(inner)) {
      std::string text;
      llvm::raw_string_ostream(text) << constant.getValue();
      kind = mix(kind, llvm::xxh3_64bits(StringRef(text)));
    }
  });
  return kind;
}

void Tracer::nameResults(Operation *op) {
  for (Value value : op->getResults())
    known(value) = {};
  auto isNamed = [](Type type) {
    return isa<RankedTensorType>(type) || type.isIntOrIndexOrFloat();
  };
  if (!isMemoryEffectFree(op) || !llvm::all_of(op->getResultTypes(), isNamed))
    return;
  auto [kind, isNew] = decoded.kinds.try_emplace(op);
  if (isNew)
    kind->second = getKind(op);
  uint64_t name = kind->second;
  auto isInside = [&](Value value) {
    return op->getNumRegions() > 0 && op->isAncestor(value.getParentBlock()->getParentOp());
  };
  WalkResult result = op->walk([&](Operation *inner) -> WalkResult {
    for (Value operand : inner->getOperands()) {
      if (isInside(operand))
        continue;
      Known it = get(operand);
      diverges |= it.kind == Known::Varying;
      if (it.kind != Known::Number && it.kind != Known::Named)
        return WalkResult::interrupt();
      name = mix(name, uint64_t(it.value));
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return;
  for (auto [i, value] : llvm::enumerate(op->getResults()))
    setNamed(value, getName({name, i}));
}

/// The whole numbers that the kernel's of a type are compared with, or if none are, those of any
/// type; the least first.
ArrayRef<int64_t> Tracer::getCompared(Type type) {
  auto [at, isNew] = decoded.compared.try_emplace(type);
  if (!isNew)
    return at->second;
  SmallVector<int64_t> alike, all;
  groups.walk([&](arith::CmpIOp comparison) {
    for (Value operand : comparison->getOperands()) {
      APInt number;
      if (!matchPattern(operand, m_ConstantInt(&number)))
        continue;
      all.push_back(number.getSExtValue());
      if (operand.getType() == type)
        alike.push_back(all.back());
    }
  });
  at->second = alike.empty() ? std::move(all) : std::move(alike);
  llvm::sort(at->second);
  return at->second;
}

/// Reals and tensors have the name; a whole number is drawn by it.
void Tracer::setNamed(Value value, uint64_t name) {
  Type type = value.getType();
  if (!type.isIntOrIndex()) {
    known(value) = {Known::Named, int64_t(name)};
    return;
  }
  result.draws = true;
  known(value) = {Known::Number, instance.draw(name, type, getCompared(type))};
}

/// What a role has of its tensors, and no other.
void Tracer::nameOwn(Value value) {
  diverges |= hasPrograms();
  setNamed(value, getName({result.role, uint64_t(counts++), instance.getNumber()}));
}
