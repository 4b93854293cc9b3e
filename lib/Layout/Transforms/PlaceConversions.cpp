// Moves conversions to where they are cheapest, and does without those that need not be.
#include "ConversionRuns.h"
#include "NearLoads.h"
#include "Relayouts.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "kiln/Layout/Transforms/Passes.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <vector>

namespace kiln {
#define GEN_PASS_DEF_PLACECONVERSIONS
#include "kiln/Layout/Transforms/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static bool isElementwise(Operation *op) { return isArithmetic(op) && op->getNumResults() == 1; }

/// What arithmetic on as many elements as a conversion has counts where it is made again, and on a
/// few, such as the numbers of rows and columns of which a mask is made.
static constexpr int kWhole = 4, kFew = 1;

/// What it takes to make a value again, at a conversion of it, out of scalars, constants and what
/// this block loads into buffers; none if it cannot be, or takes more than `most`.
static std::optional<int> countRemade(Value value, int most, ConvertLayoutOp at) {
  Operation *op = value.getDefiningOp();
  if (!op || most < 0 || isPinned(op))
    return std::nullopt;
  if (isSource(op) || (isInBuffer(value) && op->getBlock() == at->getBlock()))
    return 0;
  bool moves = isa<BroadcastOp, ReshapeOp, TransposeOp>(op);
  if (!moves && !isElementwise(op))
    return std::nullopt;
  bool isFew = 8 * typeOf(value).getNumElements() <= typeOf(at.getInput()).getNumElements();
  int count = moves ? 0 : isFew ? kFew : kWhole;
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType())) {
      std::optional<int> more = countRemade(operand, most - count, at);
      if (!more || count + *more > most)
        return std::nullopt;
      count += *more;
    }
  return count;
}

/// Whether a load is of memory that the launch gives: it lies as threads have left it.
static bool isOfLaunch(LoadOp load) {
  auto view = load.getView().getDefiningOp<ViewFromPointerOp>();
  auto pointer = view ? dyn_cast<BlockArgument>(view.getPointer()) : BlockArgument();
  auto kernel = pointer ? dyn_cast<KernelOp>(pointer.getOwner()->getParentOp()) : KernelOp();
  return kernel && getHidden(kernel, pointer.getArgNumber());
}

/// A few elements: each thread may as well load its own from the cache.
static bool isSmall(RankedTensorType type) {
  // At most 16 KB of f32, as much as the smallest first-level cache of the chips has (`l1Bytes`).
  constexpr int64_t kMostElements = 4096;
  int64_t longest = 1;
  for (int64_t extent : type.getShape())
    longest = std::max(longest, extent);
  return longest == type.getNumElements() && longest <= kMostElements;
}

namespace {
class ConversionPlacer {
public:
  ConversionPlacer(KernelOp kernel, TargetInterface target)
      : kernel(kernel), target(target), builder(kernel) {}

  void run() {
    // Each round moves a conversion past one op, so this is the longest chain of casts and changes
    // of shape that one is moved along.
    constexpr int kMostRounds = 16;
    bool changed = true;
    for (int round = 0; changed && round < kMostRounds; ++round) {
      SmallVector<ConvertLayoutOp> conversions;
      kernel.walk([&](ConvertLayoutOp op) {
        if (!op.getHowAttr() && !isHandedOver(op))
          conversions.push_back(op);
      });
      changed = false;
      for (ConvertLayoutOp op : conversions)
        changed |= improve(op);
      changed |= mergeEqual();
      removeDead();
    }
    readAsConverted();
    kernel.walk([](Operation *op) { op->removeAttr(kLayoutAttrName); });
  }

private:
  bool improve(ConvertLayoutOp op) {
    if (op.use_empty())
      return false;
    Value input = op.getInput();
    builder.setInsertionPoint(op);
    if (input.getType() == op.getType())
      return replace(op, input);
    if (auto before = input.getDefiningOp<ConvertLayoutOp>(); before && !before.getHowAttr()) {
      op.getInputMutable().assign(before.getInput());
      // What a role takes from another, or out of a buffer, it takes as it is wanted.
      followUser(op, before);
      return true;
    }
    LinearLayout wanted = getLayout(op.getResult());
    // Eight ops on each element take a thread as long as the way through memory: of 128 registers
    // of f32, 8 * 128 / 4 cycles of the lanes against 64 vectors written and read at 4.
    constexpr int kMostRemade = 8 * kWhole;
    if (countRemade(input, kMostRemade, op))
      return replace(op, remake(input, wanted, op->use_begin()->getOwner()));
    return makeWithout(op, wanted) || moveAll(op, wanted) || pushUp(op, wanted) || pushDown(op) ||
           loadDirectly(op, wanted) || loadNear(op, wanted) || hoist(op);
  }

  /// Gives all that the value is made of another layout. Nobody else may use any of it, but for
  /// constants and positions, which are made again.
  bool move(const Layouts &layouts, ConvertLayoutOp op) {
    auto isOurs = [&](Operation *user) {
      auto convert = dyn_cast<ConvertLayoutOp>(user);
      return layouts.contains(user) ||
             (convert && !convert.getHowAttr() && !isHandedOver(convert) &&
              convert.getType() == op.getType() && convert.getInput() == op.getInput());
    };
    for (auto &[def, layout] : layouts)
      if (!isSource(def) && !llvm::all_of(def->getUsers(), isOurs))
        return false;
    for (auto &[def, layout] : layouts) {
      Operation *moved = def;
      if (!llvm::all_of(def->getUsers(), isOurs)) {
        builder.setInsertionPoint(def);
        moved = builder.clone(*def);
        def->replaceUsesWithIf(moved->getResults(),
                               [&](OpOperand &use) { return isOurs(use.getOwner()); });
      }
      for (Value result : moved->getResults())
        setLayout(result, layout);
    }
    return true;
  }

  /// What is made of constants and scalars alone, however much that is, has the layout that is
  /// wanted: it costs nothing.
  bool moveAll(ConvertLayoutOp op, const LinearLayout &wanted) {
    std::optional<Layouts> layouts = layOut(op.getInput(), wanted);
    return layouts &&
           llvm::none_of(*layouts, [](auto &entry) { return isa<LoadOp>(entry.first); }) &&
           move(*layouts, op);
  }

  /// Whether a conversion of a tensor needs more shared memory than there is.
  bool isTooLarge(RankedTensorType type, const LinearLayout &from, const LinearLayout &to) const {
    return getSharedBytes(type) > target.getChipRecord().sharedBytes &&
           classifyConversion(from, to).kind == ConversionKind::Memory;
  }

  /// What no conversion can give the layout that is wanted is made in it: of loads those of fewer
  /// bytes are converted, and the others are loaded so.
  bool makeWithout(ConvertLayoutOp op, const LinearLayout &wanted) {
    if (!isTooLarge(op.getType(), getLayout(op.getInput()), wanted))
      return false;
    // What is converted already is converted to that layout.
    auto mayConvert = [&](ConvertLayoutOp before) {
      return !before.getHowAttr() && !isHandedOver(before) &&
             getSharedBytes(before.getType()) <= target.getChipRecord().sharedBytes;
    };
    std::optional<Layouts> layouts = layOut(op.getInput(), wanted, mayConvert);
    if (!layouts)
      return false;
    std::vector<std::pair<LoadOp, LinearLayout>> converted;
    for (auto &[def, layout] : *layouts)
      if (auto load = dyn_cast<LoadOp>(def))
        if (LinearLayout own = getLayout(load); !isTooLarge(load.getType(), own, layout))
          converted.push_back({load, own});
    if (!move(*layouts, op))
      return false;
    for (auto &[load, own] : converted) {
      LinearLayout asked = getLayout(load);
      setLayout(load.getResult(), own);
      builder.setInsertionPointAfter(load);
      if (Value made = convert(load, asked, op); made != load)
        load.getResult().replaceAllUsesExcept(made, made.getDefiningOp());
    }
    return true;
  }

  bool replace(ConvertLayoutOp op, Value value) {
    op.replaceAllUsesWith(value);
    return true;
  }

  /// For an op that uses it: what lies in a buffer is read as that op wants it.
  Value remake(Value value, const LinearLayout &wanted, Operation *user) {
    if (isInBuffer(value)) {
      // In front of all that may use it made again.
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(user);
      return convert(value, wanted, user);
    }
    if (getLayout(value) == wanted)
      return value;
    Operation *op = value.getDefiningOp();
    SmallVector<Value> operands(op->getOperands());
    for (Value &operand : operands)
      if (isa<RankedTensorType>(operand.getType()))
        operand = remake(operand, *getOperandLayout(op, operand, wanted), op);
    // A few elements are made where they were, rather than in each trip of a loop: what they hold
    // throughout is a thirty-second of a thread's registers.
    constexpr int64_t kFewRegisters = 8;
    OpBuilder::InsertionGuard guard(builder);
    if (wanted.getInSize(kRegister) <= kFewRegisters)
      builder.setInsertionPointAfter(op);
    return cloneWith(op, operands, wanted);
  }

  Value cloneWith(Operation *op, ValueRange operands, const LinearLayout &layout) {
    Operation *copy = builder.clone(*op);
    copy->setOperands(operands);
    setLayout(copy->getResult(0), layout);
    return copy->getResult(0);
  }

  /// For an op that uses it.
  Value convert(Value value, const LinearLayout &layout, Operation *user) {
    if (getLayout(value) == layout)
      return value;
    auto made =
        ConvertLayoutOp::create(builder, value.getLoc(), withLayout(typeOf(value), layout), value);
    if (isInBuffer(value))
      followUser(made, user);
    return made;
  }

  /// In front of what makes more or wider elements out of fewer bits.
  bool pushUp(ConvertLayoutOp op, const LinearLayout &wanted) {
    Operation *def = op.getInput().getDefiningOp();
    if (!def || isPinned(def))
      return false;
    bool widens = isElementwise(def) && def->getNumOperands() == 1 &&
                  isa<RankedTensorType>(def->getOperand(0).getType()) &&
                  bitsOf(def->getOperand(0)) < bitsOf(op.getInput());
    bool onlyConverted = llvm::all_of(def->getUsers(), [](Operation *user) {
      auto convert = dyn_cast<ConvertLayoutOp>(user);
      return convert && !isHandedOver(convert);
    });
    if (!isa<BroadcastOp, ReshapeOp, TransposeOp>(def) && !(widens && onlyConverted))
      return false;
    // Where it was made, so that a conversion does not come into a loop with it.
    builder.setInsertionPoint(op);
    Value operand = def->getOperand(0);
    Value converted = convert(operand, *getOperandLayout(def, operand, wanted), def);
    return replace(op, cloneWith(def, converted, wanted));
  }

  /// Behind the op that makes narrower elements of it.
  bool pushDown(ConvertLayoutOp op) {
    if (!op->hasOneUse())
      return false;
    Operation *user = *op->user_begin();
    if (!isElementwise(user) || isPinned(user) || user->getNumOperands() != 1 ||
        bitsOf(user->getResult(0)) >= bitsOf(op.getResult()) || user->getBlock() != op->getBlock())
      return false;
    builder.setInsertionPoint(user);
    Value narrow = cloneWith(user, op.getInput(), getLayout(op.getInput()));
    Value converted = convert(narrow, getLayout(user->getResult(0)), user);
    user->getResult(0).replaceAllUsesWith(converted);
    return true;
  }

  /// Whether a conversion would carry elements from one copy of a role to another.
  static bool crossesCopies(LoadOp load, const LinearLayout &wanted) {
    RoleAttr role = lookUpRole(load);
    if (!role)
      return false;
    size_t own = llvm::Log2_64(role.getWarps());
    LinearLayout layout = getLayout(load);
    auto getCopies = [&](const LinearLayout &of) {
      ArrayRef<LinearLayout::Basis> warps = of.getBases(kWarp);
      return warps.drop_front(std::min(own, warps.size()));
    };
    return getCopies(layout) != getCopies(wanted);
  }

  /// A few elements, or what threads have left as they held it, each thread may as well load as
  /// they are wanted.
  bool loadDirectly(ConvertLayoutOp op, const LinearLayout &wanted) {
    auto load = op.getInput().getDefiningOp<LoadOp>();
    bool isLoadedAlike = load && !isPinned(load) && (isSmall(load.getType()) || isOfLaunch(load));
    return isLoadedAlike && loadAs(load, op, wanted);
  }

  bool loadAs(LoadOp load, ConvertLayoutOp op, const LinearLayout &wanted) {
    if (!llvm::all_of(load->getUsers(), [&](Operation *user) {
          return isa<ConvertLayoutOp>(user) && user->getResult(0).getType() == op.getType();
        }))
      return false;
    setLayout(load.getResult(), wanted);
    return true;
  }

  /// What is loaded, and what is made of it, has a layout in which memory is read as well, and
  /// lanes of a warp exchange at less cost what others want: a tile that is added to a product's
  /// sums needs no shared memory then. Copies of a role would have to exchange elements otherwise.
  bool loadNear(ConvertLayoutOp op, const LinearLayout &wanted) {
    auto load = op.getInput().getDefiningOp<LoadOp>();
    bool crosses = load && !isPinned(load) && !load.getAtomAttr() && crossesCopies(load, wanted);
    std::optional<NearLoads> near = findNearLoads(op, wanted, target, /*isNeeded=*/crosses);
    if (!near || !move(near->layouts, op))
      return crosses && loadAs(load, op, wanted);
    for (auto &[def, layout] : near->converted) {
      Value loaded = def->getResult(0);
      LinearLayout asked = getLayout(loaded);
      setLayout(loaded, layout);
      builder.setInsertionPointAfter(def);
      Value converted = convert(loaded, asked, op);
      loaded.replaceAllUsesExcept(converted, converted.getDefiningOp());
    }
    return true;
  }

  /// Out of a loop that does not make what is converted.
  bool hoist(ConvertLayoutOp op) {
    bool moved = false;
    while (auto loop = dyn_cast<LoopLikeOpInterface>(op->getParentOp())) {
      if (!loop.isDefinedOutsideOfLoop(op.getInput()))
        break;
      op->moveBefore(loop);
      moved = true;
    }
    return moved;
  }

  /// One conversion for all that convert a value alike, where the first one stands before them.
  bool mergeEqual() {
    DominanceInfo dominance(kernel);
    DenseMap<std::pair<Value, Type>, SmallVector<ConvertLayoutOp>> seen;
    bool changed = false;
    kernel.walk<WalkOrder::PreOrder>([&](ConvertLayoutOp op) {
      if (op.use_empty() || op.getHowAttr() || isHandedOver(op))
        return;
      auto &equal = seen[{op.getInput(), op.getType()}];
      for (ConvertLayoutOp other : equal)
        if (dominance.properlyDominates(other.getOperation(), op.getOperation())) {
          changed |= replace(op, other.getResult());
          return;
        }
      equal.push_back(op);
    });
    return changed;
  }

  /// What was made again may leave its first version without a use.
  void removeDead() {
    kernel->walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
      if (op->getNumResults() && op->use_empty() && isMemoryEffectFree(op) &&
          op->getNumRegions() == 0)
        op->erase();
    });
  }

  /// What lies in a buffer and is read in one layout alone has that.
  void readAsConverted() {
    SmallVector<LoadOp> loads;
    kernel->walk([&](LoadOp load) { loads.push_back(load); });
    for (LoadOp load : loads) {
      auto isAlike = [&](Operation *user) {
        auto conversion = dyn_cast<ConvertLayoutOp>(user);
        return conversion && isHandedOver(conversion) &&
               conversion.getType() == (*load->user_begin())->getResult(0).getType();
      };
      if (load->use_empty() || !isInBuffer(load) || isThroughRegisters(load) || isPinned(load) ||
          !llvm::all_of(load->getUsers(), isAlike))
        continue;
      setLayout(load, getLayout((*load->user_begin())->getResult(0)));
      for (Operation *user : llvm::make_early_inc_range(load->getUsers())) {
        user->replaceAllUsesWith(load);
        user->erase();
      }
    }
  }

  static unsigned bitsOf(Value value) {
    Type element = typeOf(value).getElementType();
    return element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  }

  KernelOp kernel;
  TargetInterface target;
  OpBuilder builder;
};

struct PlaceConversions : kiln::impl::PlaceConversionsBase<PlaceConversions> {
  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      ConversionPlacer(kernel, *target).run();
  }
};
} // namespace
