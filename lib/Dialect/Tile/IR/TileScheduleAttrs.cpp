// Validity of roles and of decisions about schedules, threads and shared memory, wherever they
// stand.
#include "Checks.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Dialect/Tile/IR/ChunkDecisions.h"
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Dialect/Tile/IR/Proposals.h"
#include "kiln/Dialect/Tile/IR/ThreadDecisions.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Dialect/Tile/IR/Turns.h"
#include "kiln/Layout/Algebra/LinearLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace kiln::tile;

LogicalResult RoleAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef name,
                               int64_t warps, int64_t copies, int64_t skew, int64_t registers) {
  if (name.empty())
    return emitError() << "expected a role with a name";
  if (warps < 1 || copies < 1)
    return emitError() << "expected at least one warp and one copy of role \"" << name << "\", got "
                       << warps << " and " << copies;
  if (skew < 0)
    return emitError() << "expected a skew of at least 0 of role \"" << name << "\", got " << skew;
  if (skew > 0 && copies == 1)
    return emitError() << "expected several copies of role \"" << name
                       << "\", since it has a skew, got one";
  if (registers < 0)
    return emitError() << "expected at least 0 registers of role \"" << name << "\", got "
                       << registers;
  return success();
}

LogicalResult PersistentAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t programs,
                                     int64_t group, bool even) {
  if (programs >= 0 && group >= 1)
    return success();
  return emitError() << "expected no negative number of programs and a group of at least one tile, "
                     << "got " << programs << " and " << group;
}

LogicalResult kiln::tile::verifyCount(Operation *op, StringRef name, std::optional<int64_t> value,
                                      int64_t least) {
  if (!value || *value >= least)
    return success();
  return op->emitOpError("expected ") << name << " to be at least " << least << ", got " << *value;
}

static LogicalResult verifyRoles(Operation *op, Attribute value) {
  auto roles = dyn_cast<ArrayAttr>(value);
  if (!isa<KernelOp>(op) || !roles || roles.empty() ||
      !llvm::all_of(roles, llvm::IsaPred<RoleAttr>))
    return op->emitError() << "expected '" << kRolesAttrName
                           << "' on a kernel, as an array of #tile.role";
  return verifyRoleNames(op, roles);
}

static LogicalResult verifyTurns(Operation *op, Attribute value) {
  auto turns = dyn_cast<DictionaryAttr>(value);
  auto isCount = [](NamedAttribute each) {
    auto copies = dyn_cast<IntegerAttr>(each.getValue());
    return copies && copies.getType().isInteger(64) && copies.getInt() >= 2;
  };
  if (isa<KernelOp>(op) && turns && !turns.empty() && llvm::all_of(turns, isCount))
    return success();
  return op->emitError() << "expected '" << kTurnsAttrName
                         << "' on a kernel, as a dictionary of roles and how many copies of each "
                         << "take programs in turn, an i64 of at least 2, got " << value;
}

LogicalResult kiln::tile::verifyRoleNames(Operation *op, ArrayAttr roles) {
  llvm::StringSet<> names;
  for (auto role : roles.getAsRange<RoleAttr>())
    if (!names.insert(role.getName()).second)
      return op->emitError() << "expected roles of different names, got \"" << role.getName()
                             << "\" twice";
  return success();
}

/// Ops of ours have such a decision among their own attributes.
static LogicalResult verifyForeign(Operation *op, StringRef name) {
  if (isa<ModuleOp>(op))
    return op->emitError() << "expected '" << name << "' on an op of a program";
  std::string spelling = spellDecision(op, name.drop_front(StringRef("tile.").size()));
  if (spelling == name)
    return success();
  return op->emitError() << "expected '" << name
                         << "' on an op of another dialect; ops of tile spell it '" << spelling
                         << "'";
}

/// Counts of threads and bytes, each where it belongs.
static LogicalResult verifyThreads(Operation *op, StringRef name, Attribute value) {
  bool isFunction = isa<FunctionOpInterface>(op) && !isa<KernelOp>(op);
  if (name == kWarpsAttrName && !isa<KernelOp>(op))
    return op->emitError() << "expected '" << name << "' on a kernel";
  if (name == kSharedBytesAttrName && !isa<KernelOp>(op) && !isFunction)
    return op->emitError() << "expected '" << name << "' on a kernel or a function";
  bool isOfProgram = isa_and_nonnull<TileDialect>(op->getDialect()) && !isa<KernelOp>(op);
  if (name == kSharedOffsetAttrName && !isOfProgram)
    return op->emitError() << "expected '" << name << "' on an op of a program";
  if (name == kThreadsAttrName && !isFunction)
    return op->emitError() << "expected '" << name << "' on a function";
  int64_t least = name == kWarpsAttrName || name == kThreadsAttrName ? 1 : 0;
  auto number = dyn_cast<IntegerAttr>(value);
  if (number && number.getValue().sge(least))
    return success();
  return op->emitError() << "expected '" << name << "' to be an integer of at least " << least
                         << ", got " << value;
}

/// One of two words, where it means something.
static LogicalResult verifyChoice(Operation *op, StringRef name, Attribute value, bool isInPlace,
                                  StringRef place, std::pair<StringRef, StringRef> words) {
  auto word = dyn_cast<StringAttr>(value);
  if (isInPlace && word && (word == words.first || word == words.second))
    return success();
  return op->emitError() << "expected '" << name << "' on " << place << ", as \"" << words.first
                         << "\" or \"" << words.second << "\", got " << value;
}

/// Whether the buffers of a slot have a tensor in boxes beside one another along a dimension.
static bool haveInBoxes(ChannelType channel, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> whole(channel.getBuffer(0).getShape());
  int64_t boxes = channel.getBuffers().size();
  if (!llvm::all_equal(channel.getBuffers()) || whole.size() != shape.size())
    return false;
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (whole[dim] != extent) {
      whole[dim] *= std::exchange(boxes, 1);
      break;
    }
  return boxes == 1 && ArrayRef<int64_t>(whole) == shape;
}

/// The channel by which a conversion hands over what it converts.
static LogicalResult verifyHanded(Operation *op, Attribute value) {
  auto type = dyn_cast<TypeAttr>(value);
  auto channel = type ? dyn_cast<ChannelType>(type.getValue()) : ChannelType();
  auto tensor = isa<ConvertLayoutOp>(op) ? cast<ConvertLayoutOp>(op).getInput().getType()
                                         : RankedTensorType();
  if (tensor && channel && !channel.getBuffers().empty()) {
    auto sum = channel.getAccumulator();
    if (sum ? channel.getBuffers().size() == 1 && sum.getTensor() == tensor
            : haveInBoxes(channel, tensor.getShape()))
      return success();
  }
  return op->emitError() << "expected '" << kHandedAttrName
                         << "' on a tile.convert_layout, as a channel with slots of the tensor, "
                            "got "
                         << value;
}

/// A product's extents as they are computed; whether they fit it is the realiser's to say.
static LogicalResult verifyProductExtents(Operation *op, Attribute value) {
  auto extents = dyn_cast<DenseI64ArrayAttr>(value);
  auto dot = dyn_cast<DotOp>(op);
  if (dot && dot.getType().getRank() == 2 && extents && extents.size() >= 3 &&
      llvm::all_of(extents.asArrayRef(), [](int64_t extent) { return extent >= 1; }))
    return success();
  return op->emitError()
         << "expected '" << kExtentsAttrName
         << "' on a dot of rank 2, as an array of at least three i64 of at least 1: "
            "rows, columns and inner extents, got "
         << value;
}

static LogicalResult verifyAccess(Operation *op, StringRef name, Attribute value) {
  if (name == kExtentsAttrName)
    return verifyProductExtents(op, value);
  if (name == kWholeRowsAttrName) {
    if (isa<LoadOp, StoreOp>(op) && isa<UnitAttr>(value))
      return success();
    return op->emitError() << "expected '" << name << "' on a load or a store, as a unit";
  }
  if (name == kRaggedAttrName) {
    auto load = dyn_cast<LoadOp>(op);
    auto store = dyn_cast<StoreOp>(op);
    Value tile = load ? Value(load.getResult()) : store ? Value(store.getValue()) : Value();
    bool isWhole = tile && !(load ? load.getExtents() : store.getExtents());
    auto extent = dyn_cast<IntegerAttr>(value);
    if (isWhole && extent && extent.getType().isInteger(64) && extent.getInt() >= 1 &&
        llvm::count_if(cast<RankedTensorType>(tile.getType()).getShape(),
                       [](int64_t extent) { return extent != 1; }) <= 1)
      return success();
    return op->emitError()
           << "expected '" << name
           << "' on a load or a store of a tile of one row, as an i64 of at least 1";
  }
  if (name == kWriteStageAttrName || name == kHeldAttrName) {
    int64_t least = name == kHeldAttrName;
    auto number = dyn_cast<IntegerAttr>(value);
    if (isa<LoadOp>(op) && number && number.getType().isInteger(64) && number.getInt() >= least)
      return success();
    return op->emitError() << "expected '" << name << "' on a load, as an i64 of at least "
                           << least;
  }
  if (name == kResidencyAttrName) {
    bool isOne = op->getNumResults() == 1 && isa<RankedTensorType>(op->getResult(0).getType());
    StringRef other = isa<DotOp>(op) ? "tensor_memory" : "shared";
    auto place = dyn_cast<StringAttr>(value);
    if (isOne && place && (place == "registers" || place == other))
      return success();
    return op->emitError() << "expected '" << name
                           << "' on an op with one tensor, as \"registers\" or \"" << other
                           << "\", got " << value;
  }
  if (name == kCarriedAttrName)
    return verifyChoice(op, name, value, isa<DotOp, WaitOp>(op), "a dot or the wait for one",
                        {"registers", "tensor_memory"});
  if (name == kColumnsAttrName || name == kOperandColumnsAttrName) {
    auto number = dyn_cast<IntegerAttr>(value);
    bool isInPlace =
        isa<DotOp>(op) || (name == kColumnsAttrName ? isa<WaitOp>(op) : isa<StartDotOp>(op));
    if (isInPlace && number && number.getType().isInteger(64) && number.getInt() >= 0)
      return success();
    // Of scales two numbers.
    auto both = dyn_cast<DenseI64ArrayAttr>(value);
    if (isInPlace && name == kOperandColumnsAttrName && both && both.size() == 2 &&
        llvm::all_of(both.asArrayRef(), [](int64_t columns) { return columns >= 0; }))
      return success();
    return op->emitError() << "expected '" << name << "' on a dot or the "
                           << (name == kColumnsAttrName ? "wait for" : "start of")
                           << " one, as an i64 of at least 0"
                           << (name == kColumnsAttrName ? "" : ", or two of its scales") << ", got "
                           << value;
  }
  if (name == kFetchedAttrName)
    return verifyChoice(op, name, value, isa<StoreOp, SliceOp>(op), "a store or a slice",
                        {"whole", "boxes"});
  if (name == kHandedAttrName)
    return verifyHanded(op, value);
  if (name == kGuardedAttrName) {
    bool isMask = isa<arith::SelectOp>(op) && isa<RankedTensorType>(op->getResult(0).getType());
    if (isMask && isa<BoolAttr>(value))
      return success();
    return op->emitError() << "expected '" << name
                           << "' on an arith.select of tensors, as a boolean, got " << value;
  }
  auto numbers = dyn_cast<DenseI64ArrayAttr>(value);
  Value tile = isa<GatherOp>(op)    ? op->getResult(0)
               : isa<ScatterOp>(op) ? cast<ScatterOp>(op).getValue()
                                    : Value();
  if (!tile || !numbers || numbers.size() != 2)
    return op->emitError() << "expected '" << name
                           << "' on a gather or a scatter, as a dimension and a width";
  int64_t rank = cast<RankedTensorType>(tile.getType()).getRank();
  if (numbers[0] >= 0 && numbers[0] < rank && numbers[1] > 0 && llvm::isPowerOf2_64(numbers[1]))
    return success();
  return op->emitError() << "expected '" << name << "' to be a dimension of the tile's and a power "
                         << "of two, got " << value;
}

/// A name of an instruction, of which the target knows the form that fits.
static LogicalResult verifyAtomName(Operation *op, Attribute value) {
  auto name = dyn_cast<StringAttr>(value);
  if (!isa<DotOp, DotScaledOp, LoadOp, StoreOp>(op) || !name || name.empty())
    return op->emitError() << "expected '" << kAtomNameAttrName
                           << "' on a dot, a load or a store, as a name";
  if (op->hasAttr("atom"))
    return op->emitError() << "expected an atom once, got " << op->getAttr("atom") << " and "
                           << value;
  return success();
}

/// Who holds what of an op's result.
static LogicalResult verifyPinnedLayout(Operation *op, Attribute value) {
  auto layout = dyn_cast<LayoutAttr>(value);
  auto type = op->getNumResults() == 1 ? dyn_cast<RankedTensorType>(op->getResult(0).getType())
                                       : RankedTensorType();
  if (!layout || !type || (type.getEncoding() && type.getEncoding() != layout))
    return op->emitError()
           << "expected '" << kLayoutAttrName
           << "' on an op with one tensor that has no other layout, as #tile.layout";
  auto isOfThreads = [](StringAttr name) {
    return llvm::is_contained({"register", "lane", "warp"}, name.getValue());
  };
  if (!llvm::all_of(layout.getNames(), isOfThreads))
    return op->emitError() << "expected register, lane and warp in '" << kLayoutAttrName
                           << "', got " << layout;
  return layout.verifyEncoding(type.getShape(), type.getElementType(),
                               [&] { return op->emitError(); });
}

/// What is decided of a kernel's launches.
static LogicalResult verifyLaunch(Operation *op, StringRef name, Attribute value) {
  if (name != kClusterAttrName) {
    bool isOfKernel = name == kOverlapAttrName;
    if (isa<KernelOp>(op) == isOfKernel && !isa<ModuleOp>(op) && isa<UnitAttr>(value))
      return success();
    return op->emitError() << "expected '" << name << "' on "
                           << (isOfKernel ? "a kernel" : "an op of a program") << ", as a unit";
  }
  auto extents = dyn_cast<DenseI64ArrayAttr>(value);
  if (isa<KernelOp>(op) && extents && extents.size() == 3 &&
      llvm::all_of(extents.asArrayRef(), [](int64_t extent) { return extent >= 1; }))
    return success();
  return op->emitError() << "expected '" << name
                         << "' on a kernel, as an array of three i64 of at least 1, got " << value;
}

LogicalResult kiln::tile::verifyDecision(Operation *op, StringRef name, Attribute value) {
  if (name == kAtomNameAttrName)
    return verifyAtomName(op, value);
  if (name == kLayoutAttrName)
    return verifyPinnedLayout(op, value);
  if (llvm::is_contained({kWholeRowsAttrName, kRaggedAttrName, kWriteStageAttrName, kRunAttrName,
                          kResidencyAttrName, kCarriedAttrName, kColumnsAttrName,
                          kOperandColumnsAttrName, kFetchedAttrName, kHeldAttrName, kHandedAttrName,
                          kGuardedAttrName, kExtentsAttrName},
                         name))
    return verifyAccess(op, name, value);
  if (llvm::is_contained({kLanesAttrName, kFirstOfPairAttrName, kByWarpAttrName, kEndsAttrName,
                          kInstructionsAttrName, kMeetsAttrName, kMeetsInAttrName},
                         name))
    return verifyThreadDecision(op, name, value);
  if (name == kChunkAttrName || name == kKeptAttrName || name == kRowStartsAttrName)
    return verifyChunkDecision(op, name, value);
  if (name == kRolesAttrName)
    return verifyRoles(op, value);
  if (name == kTurnsAttrName)
    return verifyTurns(op, value);
  if (name == kProposalAttrName) {
    auto number = dyn_cast<IntegerAttr>(value);
    if (isa<KernelOp>(op) && number && number.getType().isInteger(64) && number.getInt() >= 0)
      return success();
    return op->emitError() << "expected '" << name << "' on a kernel, as an i64 of at least 0";
  }
  if (name == kPersistentAttrName) {
    if (isa<KernelOp>(op) &&
        (isa<PersistentAttr>(value) || value == BoolAttr::get(op->getContext(), false)))
      return success();
    return op->emitError() << "expected '" << name << "' on a kernel, as #tile.persistent or false";
  }
  if (name == kClusterAttrName || name == kOverlapAttrName || name == kTriggersAttrName)
    return verifyLaunch(op, name, value);
  if (name == kRoleAttrName) {
    auto role = dyn_cast<StringAttr>(value);
    if (!role || role.empty())
      return op->emitError() << "expected '" << name << "' to be the name of a role, got " << value;
    return verifyForeign(op, name);
  }
  if (name == kWarpsAttrName || name == kThreadsAttrName || name == kSharedBytesAttrName ||
      name == kSharedOffsetAttrName)
    return verifyThreads(op, name, value);
  if (name == kMeetsBareAttrName) {
    if (op->hasAttr(kSharedOffsetAttrName) && isa<UnitAttr>(value))
      return success();
    return op->emitError() << "expected '" << name << "' on an op with '" << kSharedOffsetAttrName
                           << "', without value";
  }
  if (name == kSplitLoopAttrName) {
    Operation *parent = op->getParentOp();
    bool isInside = isa<scf::IfOp>(parent) && parent->hasAttr(kSplitLoopAttrName);
    if (isa<scf::IfOp>(op) && isa<UnitAttr>(value) && (isInside || isa<scf::ForOp>(parent)))
      return success();
    return op->emitError() << "expected '" << name
                           << "' on an scf.if in an scf.for or in another such scf.if, without "
                              "value";
  }
  if (name == kProgramsAttrName) {
    if (isa<scf::ForOp>(op) && isa<UnitAttr>(value))
      return success();
    return op->emitError() << "expected '" << name << "' on an scf.for, without value";
  }
  if (name == kLeastTripsAttrName) {
    auto number = dyn_cast<IntegerAttr>(value);
    if (isa<scf::ForOp>(op) && number && number.getType().isInteger(64) && number.getInt() > 0)
      return success();
    return op->emitError() << "expected '" << name << "' on an scf.for, as an i64 of at least 1";
  }
  bool isDepth = name == kDepthAttrName;
  if (!isDepth && name != kStageAttrName && name != kOrderAttrName)
    return verifyGridDecision(op, name, value);
  bool givesTensor = op->getNumResults() == 1 && isa<RankedTensorType>(op->getResult(0).getType());
  if (isDepth && !isa<scf::ForOp, scf::WhileOp>(op) && (!givesTensor || isa<LoadOp>(op)))
    return op->emitError() << "expected '" << name
                           << "' on a loop, or on what gives a tensor that is handed over";
  auto number = dyn_cast<IntegerAttr>(value);
  int64_t least = isDepth ? 1 : 0;
  if (!number || number.getValue().slt(least))
    return op->emitError() << "expected '" << name << "' to be an integer of at least " << least
                           << ", got " << value;
  return isDepth ? success() : verifyForeign(op, name);
}
