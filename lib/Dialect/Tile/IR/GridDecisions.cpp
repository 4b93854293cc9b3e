// Validity of decisions about programs, and the arguments that a launch makes.
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "Checks.h"
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Dialect/Tile/IR/Marks.h"

using namespace mlir;
using namespace kiln::tile;

static constexpr StringLiteral kRasters[] = {"grouped", "chiplets", "longest_x", "longest_y",
                                             "longest_z"};

StringRef kiln::tile::spellRaster(Raster raster) { return kRasters[unsigned(raster)]; }

Raster kiln::tile::getRaster(KernelOp kernel) {
  auto name = kernel->getAttrOfType<StringAttr>(kRasterAttrName);
  return name ? Raster(llvm::find(kRasters, name.getValue()) - std::begin(kRasters))
              : Raster::Grouped;
}

int64_t kiln::tile::countBlockPrograms(KernelOp kernel) {
  auto programs = kernel->getAttrOfType<IntegerAttr>(kBlockProgramsAttrName);
  return programs ? programs.getInt() : 1;
}

bool kiln::tile::isStreamed(scf::ForOp loop) {
  return isa<StringAttr>(loop->getAttr(kShareAttrName));
}

static bool isCount(Attribute value, int64_t least) {
  auto number = dyn_cast<IntegerAttr>(value);
  return number && number.getType().isInteger(64) && number.getInt() >= least;
}

LogicalResult kiln::tile::verifyGridDecision(Operation *op, StringRef name, Attribute value) {
  if (name == kShareAttrName || name == kShareAtomicAttrName) {
    bool isShare = name == kShareAttrName;
    auto text = dyn_cast<StringAttr>(value);
    bool isMeant = isShare ? isCount(value, 2) || (text && text.getValue() == kStreamShare)
                           : isa<UnitAttr>(value);
    if (!isa<scf::ForOp>(op) || !isMeant)
      return op->emitError() << "expected '" << name << "' on an scf.for, "
                             << (isShare ? "as an i64 of at least 2 or \"stream\""
                                         : "without value");
    if (!op->hasAttr(kShareAttrName))
      return op->emitError() << "expected '" << kShareAttrName << "', since '" << name
                             << "' is decided";
    return success();
  }
  if (name == kBlockProgramsAttrName || name == kBatchAttrName) {
    if (isa<KernelOp>(op) && isCount(value, 1))
      return success();
    return op->emitError() << "expected '" << name << "' on a kernel, as an i64 of at least 1, got "
                           << value;
  }
  if (name != kRasterAttrName && name != kPerCoreAttrName)
    return refuseMeaningless(op, name);
  auto persistent = op->getAttrOfType<PersistentAttr>(kPersistentAttrName);
  if (!isa<KernelOp>(op) || !persistent)
    return op->emitError() << "expected '" << name << "' on a kernel with '" << kPersistentAttrName
                           << "'";
  if (name == kPerCoreAttrName) {
    if (!isCount(value, 1))
      return op->emitError() << "expected '" << name << "' to be an i64 of at least 1, got "
                             << value;
    if (persistent.getPrograms() == 0)
      return success();
    return op->emitError() << "expected programs = 0, since '" << name
                           << "' counts those of a core, got " << persistent;
  }
  auto text = dyn_cast<StringAttr>(value);
  if (text && llvm::is_contained(kRasters, text.getValue()))
    return success();
  InFlightDiagnostic error = op->emitError() << "expected '" << name << "' to be one of ";
  llvm::interleaveComma(kRasters, error);
  return error << ", got " << value;
}

//===- Clusters -----------------------------------------------------------------------------===//

std::array<int64_t, 3> kiln::tile::getClusterExtents(KernelOp kernel) {
  std::array<int64_t, 3> extents = {1, 1, 1};
  if (auto cluster = kernel->getAttrOfType<DenseI64ArrayAttr>(kClusterAttrName))
    llvm::copy(cluster.asArrayRef(), extents.begin());
  return extents;
}

int64_t kiln::tile::getClusterPrograms(KernelOp kernel) {
  auto [x, y, z] = getClusterExtents(kernel);
  return x * y * z;
}

static constexpr StringLiteral kAxes[] = {"x", "y", "z"};

SmallVector<unsigned> kiln::tile::getAxes(ArrayAttr multicast) {
  return llvm::filter_to_vector(llvm::seq<unsigned>(0, 3), [&](unsigned axis) {
    return llvm::is_contained(multicast.getAsValueRange<StringAttr>(), kAxes[axis]);
  });
}

LogicalResult kiln::tile::verifyMulticast(Operation *op, std::optional<ArrayAttr> axes) {
  if (!axes || (!axes->empty() && getAxes(*axes).size() == axes->size()))
    return success();
  return op->emitOpError("expected multicast to be axes from \"x\", \"y\" and \"z\", each once, "
                         "got ")
         << *axes;
}

//===- Hidden arguments ---------------------------------------------------------------------===//

std::optional<HiddenArgument> kiln::tile::getHidden(KernelOp kernel, unsigned index) {
  DictionaryAttr attributes = kernel.getArgumentAttributes(index);
  if (auto bytes = attributes.getAs<IntegerAttr>(kWorkspaceAttrName))
    return HiddenArgument{HiddenArgument::Workspace, bytes.getInt()};
  if (auto bytes = attributes.getAs<IntegerAttr>(kCounterAttrName))
    return HiddenArgument{HiddenArgument::Counter, bytes.getInt()};
  if (attributes.get(kGridExtentAttrName))
    return HiddenArgument{HiddenArgument::GridExtent};
  return std::nullopt;
}

bool kiln::tile::hasCounter(KernelOp kernel) {
  return llvm::any_of(llvm::seq<unsigned>(0, kernel.getNumArguments()), [&](unsigned index) {
    std::optional<HiddenArgument> hidden = getHidden(kernel, index);
    return hidden && hidden->kind == HiddenArgument::Counter;
  });
}

BlockArgument kiln::tile::addHidden(KernelOp kernel, HiddenArgument hidden, Type element) {
  MLIRContext *context = kernel.getContext();
  Builder builder(context);
  SmallVector<Attribute> attributes;
  for (unsigned index = 0; index < kernel.getNumArguments(); ++index)
    attributes.push_back(kernel.getArgumentAttributes(index));
  // No other argument reaches it.
  auto facts = FactsAttr::get(context, /*pointer=*/16, {}, {}, /*index32=*/false, /*noalias=*/true,
                              /*divisor=*/0);
  Type type = builder.getIndexType();
  NamedAttrList own;
  if (hidden.kind == HiddenArgument::GridExtent) {
    own.set(kGridExtentAttrName, builder.getUnitAttr());
  } else {
    type = PointerType::get(context, element);
    own.set(kFactsAttrName, facts);
    own.set(hidden.kind == HiddenArgument::Counter ? kCounterAttrName : kWorkspaceAttrName,
            builder.getI64IntegerAttr(hidden.bytes));
  }
  attributes.push_back(own.getDictionary(context));
  SmallVector<Type> types(kernel.getArgumentTypes());
  types.push_back(type);
  kernel.setFunctionType(builder.getFunctionType(types, {}));
  kernel.setArgAttrsAttr(builder.getArrayAttr(attributes));
  if (kernel.hasGrid())
    kernel.getGrid().addArgument(type, kernel.getLoc());
  return kernel.getBody().addArgument(type, kernel.getLoc());
}

LogicalResult kiln::tile::verifyHidden(KernelOp kernel) {
  bool hasExtent = false;
  for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    DictionaryAttr attributes = kernel.getArgumentAttributes(index);
    bool isHidden = false;
    for (StringRef name : {kWorkspaceAttrName, kCounterAttrName}) {
      Attribute bytes = attributes.get(name);
      if (!bytes)
        continue;
      if (isHidden || !isa<PointerType>(type) || !isCount(bytes, 1))
        return kernel.emitOpError("expected '")
               << name << "' on a pointer, once, as an i64 of at least 1, got " << bytes
               << " on argument " << index << " of type " << type;
      isHidden = true;
    }
    if (Attribute extent = attributes.get(kGridExtentAttrName)) {
      if (isHidden || std::exchange(hasExtent, true) || !type.isIndex() || !isa<UnitAttr>(extent))
        return kernel.emitOpError("expected '")
               << kGridExtentAttrName << "' on an index, once, without value, got " << extent
               << " on argument " << index << " of type " << type;
      continue;
    }
    if (isHidden && !kernel.hasGrid())
      return kernel.emitOpError("expected a grid region, since argument ")
             << index << " is memory for each of its programs";
    if (!isHidden && index > 0 && getHidden(kernel, index - 1))
      return kernel.emitOpError("expected arguments of the caller's in front of all others, got "
                                "argument ")
             << index << " behind one that a launch makes";
  }
  return success();
}
