// Arithmetic of indices becomes the same arithmetic by name.
#include "Numbers.h"
#include "kiln/Dialect/Tile/IR/ArgumentViews.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;
namespace json = llvm::json;

/// Operations of `arith` that a model may hold, by their own names.
static bool isKnown(Operation *op) {
  return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivSIOp, arith::DivUIOp,
             arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp, arith::RemSIOp,
             arith::RemUIOp, arith::MinSIOp, arith::MinUIOp, arith::MaxSIOp, arith::MaxUIOp,
             arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::ShLIOp, arith::ShRSIOp,
             arith::ShRUIOp, arith::SelectOp>(op);
}

int64_t Numbers::addConstant(int64_t value) {
  return push(json::Object{{"op", "constant"}, {"value", value}});
}

int64_t Numbers::addProduct(ArrayRef<int64_t> factors) {
  int64_t product = factors.front();
  for (int64_t factor : factors.drop_front())
    product = push(json::Object{{"op", "muli"}, {"of", json::Array{product, factor}}});
  return product;
}

int64_t Numbers::addExtent(BlockArgument view, int64_t dim) {
  auto type = cast<ViewType>(view.getType());
  return type.isDynamicDim(dim)
             ? push(json::Object{
                   {"op", "extent"}, {"argument", int64_t(view.getArgNumber())}, {"dim", dim}})
             : addConstant(type.getShape()[dim]);
}

std::optional<int64_t> Numbers::make(StringRef name, ValueRange of, json::Object further) {
  json::Array operands;
  for (Value value : of) {
    std::optional<int64_t> place = add(value);
    if (!place)
      return std::nullopt;
    operands.push_back(*place);
  }
  further["op"] = name;
  further["of"] = std::move(operands);
  return push(std::move(further));
}

std::optional<int64_t> Numbers::addTrips(scf::ForOp loop) {
  return make("trips", {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
}

std::optional<int64_t> Numbers::make(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(parent); loop && value == loop.getInductionVar())
      return make("middle", {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
    if (isa<KernelOp>(parent) && value.getType().isIntOrIndex())
      return push(json::Object{{"op", "value"}, {"argument", int64_t(argument.getArgNumber())}});
    unknown = unknown ? unknown : parent;
    return std::nullopt;
  }
  Operation *op = value.getDefiningOp();
  if (APInt number; matchPattern(value, m_ConstantInt(&number)))
    return addConstant(number.getSExtValue());
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp,
          arith::TruncIOp>(op))
    return add(op->getOperand(0));
  if (isKnown(op))
    return make(op->getName().stripDialect(), op->getOperands());
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return make("cmpi", op->getOperands(),
                json::Object{{"predicate", stringifyCmpIPredicate(compare.getPredicate())}});
  if (auto id = dyn_cast<ProgramIdOp>(op))
    return push(json::Object{{"op", "program"}, {"axis", int64_t(id.getAxis())}});
  if (auto count = dyn_cast<NumProgramsOp>(op))
    return push(json::Object{{"op", "programs"}, {"axis", int64_t(count.getAxis())}});
  if (auto dim = dyn_cast<DimOp>(op))
    if (std::optional<ArgumentView> view = findArgumentView(dim.getView()))
      if (isa<KernelOp>(view->argument.getOwner()->getParentOp()))
        return addExtent(view->argument, view->dims[dim.getDim()]);
  unknown = unknown ? unknown : op;
  return std::nullopt;
}

std::optional<int64_t> Numbers::add(Value value) {
  auto [known, isNew] = places.try_emplace(value);
  if (!isNew)
    return known->second;
  std::optional<int64_t> place = make(value);
  places[value] = place;
  return place;
}
