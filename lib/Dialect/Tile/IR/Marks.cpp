// What the dialect says of ops beside decisions, each where it stands, and what it refuses.
#include "kiln/Dialect/Tile/IR/Marks.h"
#include "Checks.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace kiln::tile;

namespace {
struct Mark {
  StringLiteral name;
  bool (*standsOn)(Operation *);
  bool (*isValue)(Attribute);
  /// Where it stands and what it is, in words.
  StringLiteral meant;
};
} // namespace

template <typename T, typename From>
static bool is(From what) {
  return isa<T>(what);
}
static bool isCode(Operation *op) { return isa<KernelOp, FunctionOpInterface>(op); }
static bool isFunction(Operation *op) { return isCode(op) && !isa<KernelOp>(op); }
/// Of a program, once it is one thread's.
static bool isOfThread(Operation *op) {
  return !isa_and_nonnull<TileDialect>(op->getDialect()) && !isa<ModuleOp>(op) && !isCode(op);
}
static bool areTunables(Attribute value) {
  auto tunables = dyn_cast<ArrayAttr>(value);
  return tunables && llvm::all_of(tunables, llvm::IsaPred<TunableAttr>);
}
/// Which attributes are targets, the pipeline knows.
static bool isAny(Attribute) { return true; }

static constexpr Mark kMarks[] = {
    {kTargetAttrName, is<ModuleOp>, isAny, "a module"},
    {kMetadataAttrName, is<ModuleOp>, is<DictionaryAttr>, "a module, as a dictionary"},
    {kEmittedAttrName, is<ModuleOp>, is<StringAttr>, "a module, as the name of a stage"},
    {kFlushAttrName, is<ModuleOp>, is<UnitAttr>, "a module, without value"},
    {kTunablesAttrName, is<KernelOp>, areTunables, "a kernel, as an array of #tile.tunable"},
    {kAnyMemoryAttrName, is<KernelOp>, is<UnitAttr>, "a kernel, without value"},
    {kVendorMathAttrName, isCode, is<UnitAttr>, "a kernel or a function, without value"},
    {kForeignAttrName, isFunction, is<DictionaryAttr>, "a function, as a dictionary"},
    {kOrdersGlobalAttrName, isOfThread, is<UnitAttr>, "an op of one thread, without value"},
    {kTrapsAttrName, isOfThread, is<UnitAttr>, "an op of one thread, without value"},
};

InFlightDiagnostic kiln::tile::refuseMeaningless(Operation *op, StringRef attribute) {
  return op->emitOpError("expected attributes that mean something here, got '") << attribute << "'";
}

bool kiln::tile::isMark(StringRef name) {
  return llvm::any_of(kMarks, [&](const Mark &mark) { return mark.name == name; });
}

LogicalResult kiln::tile::verifyMark(Operation *op, StringRef name, Attribute value) {
  const Mark *mark = llvm::find_if(kMarks, [&](const Mark &mark) { return mark.name == name; });
  if (mark->standsOn(op) && mark->isValue(value))
    return success();
  return op->emitError() << "expected '" << name << "' on " << mark->meant;
}
