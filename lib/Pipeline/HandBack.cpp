// HandBack.h: what is written beside the IR, and what is checked when it comes back.
#include "HandBack.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Target/Common/ABI.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
namespace json = llvm::json;

namespace kiln {

using tile::kEmittedAttrName;
static constexpr llvm::StringLiteral kGridModuleName = "kiln_host_grid";

//===- Printing -----------------------------------------------------------------------------===//

/// The attribute that toJSON turns into this value.
static Attribute fromJSON(Builder &builder, const json::Value &value) {
  if (std::optional<bool> boolean = value.getAsBoolean())
    return builder.getBoolAttr(*boolean);
  if (std::optional<int64_t> integer = value.getAsInteger())
    return builder.getI64IntegerAttr(*integer);
  if (std::optional<double> real = value.getAsNumber())
    return builder.getF64FloatAttr(*real);
  if (std::optional<StringRef> text = value.getAsString())
    return builder.getStringAttr(*text);
  if (const json::Array *list = value.getAsArray()) {
    SmallVector<Attribute> elements;
    for (const json::Value &element : *list)
      elements.push_back(fromJSON(builder, element));
    return builder.getArrayAttr(elements);
  }
  if (const json::Object *object = value.getAsObject()) {
    NamedAttrList members;
    for (const auto &[name, member] : *object)
      members.set(StringRef(name), fromJSON(builder, member));
    return members.getDictionary(builder.getContext());
  }
  return builder.getUnitAttr(); // null
}

std::string printHandBack(ModuleOp module, Stage stage, const json::Object &described,
                          ModuleOp grid) {
  Builder builder(module.getContext());
  DictionaryAttr before = module->getAttrDictionary();
  // What passes said is not yet part of the description, or is the same.
  NamedAttrList members;
  for (const auto &[name, value] : described)
    members.set(StringRef(name), fromJSON(builder, value));
  if (auto said = module->getAttrOfType<DictionaryAttr>(kMetadataAttrName))
    for (NamedAttribute member : said)
      members.set(member.getName(), member.getValue());
  module->setAttr(kMetadataAttrName, members.getDictionary(builder.getContext()));
  module->setAttr(kEmittedAttrName, builder.getStringAttr(stringify(stage)));
  ModuleOp inner;
  if (grid && stage >= Stage::Target) {
    inner = cast<ModuleOp>(grid->clone());
    inner.setSymName(kGridModuleName);
    module.push_back(inner);
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, OpPrintingFlags().enableDebugInfo(false));
  if (inner)
    inner.erase();
  module->setAttrs(before);
  return text;
}

//===- Reading ------------------------------------------------------------------------------===//

namespace {
class Reader {
public:
  Reader(ModuleOp module, Stage stage) : module(module), stage(stage) {}
  FailureOr<HandedBack> read();

private:
  LogicalResult checkStage();
  LogicalResult checkMetadata();
  LogicalResult checkKernel();
  LogicalResult checkThreads();
  FailureOr<OwningOpRef<ModuleOp>> takeGrid();

  /// How to get a module that can be handed back.
  InFlightDiagnostic emitOutside(Operation *op) {
    return op->emitError() << "expected IR that --emit " << stringify(stage)
                           << " wrote, to go on from there: ";
  }
  template <typename Attr>
  Attr get(StringRef name) {
    return metadata.getAs<Attr>(name);
  }

  ModuleOp module;
  Stage stage;
  DictionaryAttr metadata;
};
} // namespace

LogicalResult Reader::checkStage() {
  auto emitted = module->getAttrOfType<StringAttr>(kEmittedAttrName);
  if (!emitted)
    return emitOutside(module) << "the module has no '" << kEmittedAttrName << "'";
  if (emitted.getValue() != stringify(stage))
    return emitOutside(module) << "it is of the stage '" << emitted.getValue() << "'";
  if (!isa_and_nonnull<TargetInterface>(module->getAttr(kTargetAttrName)))
    return emitOutside(module) << "the module has no '" << kTargetAttrName << "'";
  metadata = module->getAttrOfType<DictionaryAttr>(kMetadataAttrName);
  if (!metadata)
    return emitOutside(module) << "the module has no '" << kMetadataAttrName << "'";
  return success();
}

/// The members that this compiler itself looks at.
LogicalResult Reader::checkMetadata() {
  auto wrong = [&](StringRef name, StringRef what) -> LogicalResult {
    return emitOutside(module) << "'" << kMetadataAttrName << "' has no " << what << " '" << name
                               << "'";
  };
  for (StringRef name : {"kernel", "target", "source"})
    if (!get<StringAttr>(name))
      return wrong(name, "string");
  for (StringRef name : {"fast_math", "vendor_math"})
    if (!get<BoolAttr>(name))
      return wrong(name, "boolean");
  // Behind the stage tile, the kernel itself says no longer what it was.
  if (stage > Stage::Tile && !get<BoolAttr>("has_grid"))
    return wrong("has_grid", "boolean");
  for (StringRef name : {"abi", "arguments"}) {
    if (stage == Stage::Tile)
      break;
    auto list = get<ArrayAttr>(name);
    if (!list || !llvm::all_of(list, llvm::IsaPred<DictionaryAttr>))
      return wrong(name, "list of dictionaries");
  }
  if (metadata.contains(kHiddenParametersName) && !get<ArrayAttr>(kHiddenParametersName))
    return wrong(kHiddenParametersName, "list");
  auto level = get<IntegerAttr>("opt_level");
  if (!level || !level.getType().isInteger(64) || level.getInt() < 0 || level.getInt() > 3)
    return wrong("opt_level", "number from 0 to 3");
  for (StringRef name : {"shared_bytes", "warps", "warp_size", "scratch_bytes"})
    if (Attribute value = metadata.get(name))
      if (!isa<IntegerAttr>(value) || !cast<IntegerAttr>(value).getType().isInteger(64))
        return wrong(name, "number of the type i64");
  std::string target = cast<TargetInterface>(module->getAttr(kTargetAttrName)).getSpelling();
  if (get<StringAttr>("target") != target)
    return emitOutside(module) << "'" << kMetadataAttrName << "' is of the target "
                               << get<StringAttr>("target").getValue() << ", the module of "
                               << target;
  return success();
}

/// As long as the kernel is one: it is the one described, and its tensors have layouts if a
/// device's layouts are decided by then.
LogicalResult Reader::checkKernel() {
  SmallVector<tile::KernelOp> kernels(module.getOps<tile::KernelOp>());
  if (kernels.size() != 1)
    return emitOutside(module) << "it holds " << kernels.size() << " kernels, not one";
  tile::KernelOp kernel = kernels.front();
  if (kernel.getSymName() != get<StringAttr>("kernel").getValue())
    return emitOutside(kernel) << "'" << kMetadataAttrName << "' is of the kernel @"
                               << get<StringAttr>("kernel").getValue();
  if (stage > Stage::Tile &&
      toJSON(get<ArrayAttr>("abi")) != json::Value(describeParameters(kernel)))
    return emitOutside(kernel) << "'" << kMetadataAttrName << "' has other parameters in 'abi'";
  bool isHost = cast<TargetInterface>(module->getAttr(kTargetAttrName)).runsOnHost();
  if (isHost || stage == Stage::Tile)
    return success();
  // A tensor that stands in shared memory alone has none.
  Operation *without = nullptr;
  WalkResult result = kernel.getBody().walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type)) {
        if (tensor.getEncoding())
          return WalkResult::interrupt();
        without = without ? without : op;
      }
    return WalkResult::advance();
  });
  if (without && !result.wasInterrupted())
    return emitOutside(without) << "no tensor of the kernel has a layout, such as this one";
  if (stage == Stage::Schedule)
    for (StringRef name : {"tile.shared_bytes", "tile.warps"})
      if (!kernel->getAttrOfType<IntegerAttr>(name))
        return emitOutside(kernel) << "the kernel has no '" << name << "'";
  return success();
}

/// Behind the stage `target`: no tiles are left, and the kernel is a function.
LogicalResult Reader::checkThreads() {
  WalkResult result = module.walk([&](Operation *op) {
    bool isTile = isa_and_nonnull<tile::TileDialect>(op->getDialect());
    if (!isTile && (stage == Stage::Target || op->getDialect()->getNamespace() != "func"))
      return WalkResult::advance();
    emitOutside(op) << "got '" << op->getName() << "'";
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return failure();
  // What a host calls has the name that kiln-c/Artifact.h says.
  bool isHost = cast<TargetInterface>(module->getAttr(kTargetAttrName)).runsOnHost();
  StringRef name = isHost ? "kiln_entry" : get<StringAttr>("kernel").getValue();
  if (!isa_and_nonnull<FunctionOpInterface>(module.lookupSymbol(name)))
    return emitOutside(module) << "it has no function @" << name;
  return success();
}

FailureOr<OwningOpRef<ModuleOp>> Reader::takeGrid() {
  auto grid = module.lookupSymbol<ModuleOp>(kGridModuleName);
  bool isHost = cast<TargetInterface>(module->getAttr(kTargetAttrName)).runsOnHost();
  bool isExpected = stage >= Stage::Target && !isHost && get<BoolAttr>("has_grid").getValue();
  if (!grid && isExpected)
    return emitOutside(module) << "it has no module @" << kGridModuleName;
  if (!grid)
    return OwningOpRef<ModuleOp>();
  SmallVector<tile::KernelOp> kernels(grid.getOps<tile::KernelOp>());
  if (!isExpected || kernels.size() != 1 || !kernels.front().hasGrid())
    return emitOutside(grid) << "expected a module of one kernel's grid where that is lowered away";
  grid->remove();
  grid->removeAttr(SymbolTable::getSymbolAttrName());
  return OwningOpRef<ModuleOp>(grid);
}

FailureOr<HandedBack> Reader::read() {
  if (failed(checkStage()) || failed(checkMetadata()))
    return failure();
  FailureOr<OwningOpRef<ModuleOp>> grid = takeGrid();
  if (failed(grid) || failed(stage < Stage::Target ? checkKernel() : checkThreads()))
    return failure();
  module->removeAttr(kEmittedAttrName);
  return HandedBack{get<StringAttr>("kernel").str(), int(get<IntegerAttr>("opt_level").getInt()),
                    get<BoolAttr>("fast_math").getValue(), get<BoolAttr>("vendor_math").getValue(),
                    std::move(*grid)};
}

FailureOr<HandedBack> readHandBack(ModuleOp module, Stage stage) {
  return Reader(module, stage).read();
}

void dropHandBack(ModuleOp module) {
  if (module->removeAttr(kEmittedAttrName))
    module->removeAttr(kMetadataAttrName);
}

} // namespace kiln
