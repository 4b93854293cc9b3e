// Which instructions make the products and copies of a kernel that decides nothing, and which warps
// run them. Where none run on beside their warps, a role fills rings of its own
// (DecideOwnRings.cpp).
//
// Products that run on beside their warps, of operands that a copy engine can bring, are given to a
// role of their own, and so is the engine: one warp starts its copies. All other ops run where the
// products do. Programs run tiles in turn then, if the kernel computes its grid and a core has room
// for one program alone.
#include "RoleDecider.h"
#include "Decisions.h"
#include "Differences.h"
#include "LoopProblem.h"
#include "Slice.h"
#include "kiln/Dialect/Tile/IR/ArgumentViews.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Dialect/Tile/IR/Proposals.h"
#include "kiln/Layout/Transforms/AccessFacts.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Schedule/TryOut.h"
#include "kiln/Target/Common/ABI.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static constexpr StringLiteral kCompute = "compute", kLoad = "load";
/// Smaller tiles are not worth a slot of a ring.
static constexpr int64_t kFewestBytes = 2048;
/// How much of k an instruction sums up that keeps few bits of a sum (docs/rationale/parts.md).
static constexpr int64_t kPromoted = 128;
/// Accumulators and operands of so many of a thread's registers have the warps that multiply given
/// those of the warps that load.
static constexpr int64_t kManyRegisters = 96;
/// Sums that begin at zero in their trip are used up in it: so many of them are there at once.
static constexpr unsigned kMostAtOnce = 2;

bool RoleDecider::arePlain() {
  WalkResult result = kernel.getBody().walk([&](Operation *op) -> WalkResult {
    StringRef name = op->getName().getStringRef();
    return success(
        isPlain(op) ||
        leave(op, isa<scf::WhileOp>(op)
                      ? "no numbers that each role has tell whether '" + name + "' has another trip"
                      : "roles and their copies might run '" + name + "' twice or late"));
  });
  return !result.wasInterrupted();
}

LoadOp kiln::findLoad(Value operand) {
  if (auto transpose = operand.getDefiningOp<TransposeOp>())
    operand = transpose.getInput();
  auto reshape = operand.getDefiningOp<ReshapeOp>();
  auto load = (reshape ? reshape.getInput() : operand).getDefiningOp<LoadOp>();
  return load && (!reshape || findDroppedUnits(load)) ? load : LoadOp();
}

/// What a load's users are, past reshapes that take dimensions of one element away.
static SmallVector<OpOperand *> getUses(LoadOp load) {
  SmallVector<OpOperand *> uses;
  bool isReshaped = findDroppedUnits(load).has_value();
  for (OpOperand &use : load.getResult().getUses())
    if (isReshaped)
      for (OpOperand &next : use.getOwner()->getResult(0).getUses())
        uses.push_back(&next);
    else
      uses.push_back(&use);
  return uses;
}

/// The products that read what a load brings.
static SmallVector<OperandUse> findProducts(LoadOp load) {
  SmallVector<OperandUse> products;
  auto add = [&](OpOperand &use, bool isTransposed) {
    auto dot = dyn_cast<DotOp>(use.getOwner());
    unsigned number = use.getOperandNumber();
    if (dot && number < 2)
      products.push_back(
          {&use, (number == 0 ? dot.getTransposeA() : dot.getTransposeB()) != isTransposed});
  };
  for (OpOperand *use : getUses(load)) {
    auto transpose = dyn_cast<TransposeOp>(use->getOwner());
    bool isMatrix =
        transpose && transpose.getType().getRank() == 2 && transpose.getPermutation()[0] == 1;
    if (!isMatrix)
      add(*use, false);
    else
      for (OpOperand &next : transpose.getResult().getUses())
        add(next, true);
  }
  return products;
}

/// The engine that can bring what a load loads, as these products read it.
std::optional<Attribute> RoleDecider::findEngine(LoadOp load, ArrayRef<OperandUse> products) {
  std::optional<ArgumentView> view = findArgumentView(load.getView());
  auto kernelOf = [](BlockArgument argument) {
    return dyn_cast<KernelOp>(argument.getOwner()->getParentOp());
  };
  if (!view || !kernelOf(view->argument) || load.getPadding() || load.getExtents())
    return std::nullopt;
  FactsAttr facts = kernel.getFacts(view->argument.getArgNumber());
  // What lies farther than 32 bits reach may have strides that no map can say.
  if (!facts || !facts.getIndex32())
    return std::nullopt;
  // The engine wants rows whose elements lie together.
  ViewType type = load.getView().getType();
  SmallVector<int64_t> order = findRowOrder(type);
  if (order.empty())
    return std::nullopt;
  ViewType turned = turnType(type, order);
  bool isTurned = !llvm::is_sorted(order);
  std::optional<DroppedUnits> dropped = findDroppedUnits(load);
  SmallVector<int64_t> shape;
  for (int64_t dim : order)
    shape.push_back(load.getType().getDimSize(dim));
  if (dropped && isTurned)
    return std::nullopt;
  if (dropped)
    shape.assign(dropped->type.getShape().begin(), dropped->type.getShape().end());
  FactsAttr turnedFacts = turnFacts(turnFacts(facts, view->dims), order);
  for (Attribute atom : target.getAtoms(load)) {
    auto engine = dyn_cast<EngineAtomInterface>(atom);
    if (!engine || engine.whyUnfit(turned, turnedFacts, /*isWritten=*/false) ||
        !engine.follows(load.getCache(), load.getEviction()))
      continue;
    auto canRead = [&](const OperandUse &use) {
      AsyncMmaAtomInterface async = dots.lookup(cast<DotOp>(use.operand->getOwner()));
      return llvm::any_of(async.getSharedLayouts(use.operand->getOperandNumber(), shape,
                                                 use.isTransposed != isTurned),
                          [&](const LinearLayout &layout) {
                            return engine.getBoxes(shape, type.getElementType(), &layout);
                          });
    };
    bool isFit = products.empty()
                     ? engine.getBoxes(shape, type.getElementType(), nullptr).has_value()
                     : llvm::all_of(products, canRead);
    // A tile that is not a product's is turned by nobody.
    if (isFit && (!products.empty() || !isTurned))
      return atom;
  }
  return std::nullopt;
}

bool kiln::sumsExactly(DotOp dot, AsyncMmaAtomInterface atom) {
  return atom.sumsExactly() || dot.getPromote();
}

AsyncMmaAtomInterface kiln::findAsyncAtom(DotOp dot, TargetInterface target, bool *hasOther) {
  for (Attribute atom : target.getAtoms(dot)) {
    auto async = dyn_cast<AsyncMmaAtomInterface>(atom);
    if (!async)
      continue;
    if (dot.getType().getRank() == 2 && dot.getPrecision() == DotPrecision::IEEE &&
        (sumsExactly(dot, async) || dot.getType().getElementType().isF32()))
      return async;
    if (hasOther)
      *hasOther = true;
  }
  return {};
}

int64_t kiln::countCopies(const llvm::MapVector<DotOp, AsyncMmaAtomInterface> &dots) {
  std::optional<int64_t> copies;
  for (auto [dot, atom] : dots) {
    int64_t own = chooseCopies(dot.getM(), atom.getExtents()[0]);
    copies = copies.value_or(own) == own ? own : 1;
  }
  return copies.value_or(1);
}

/// Whether a product can be started beside its warps. Its sums must be those of the source, or are
/// promoted before they lose much.
bool RoleDecider::findDot(DotOp dot) {
  bool hasOther = false;
  AsyncMmaAtomInterface atom = findAsyncAtom(dot, target, &hasOther);
  if (atom && ofPairs)
    atom = findPairAtom(dot, atom, target);
  if (!atom)
    return hasOther && leave(dot, "what runs on beside its warps makes no such product");
  dots.insert({dot, atom});
  bool isExact = sumsExactly(dot, atom);
  if (!isExact)
    promoted.push_back(dot);
  if (!isExact && !dot.getParts() && dot.getK() > kPromoted)
    cut.push_back(dot);
  return true;
}

Operation *kiln::getLoopAround(Operation *op) {
  while (isa<scf::IfOp>(op->getParentOp()))
    op = op->getParentOp();
  return findTrips(op);
}

/// Whether two accesses come in this order in a program, or in a loop's next trip.
static bool comesBefore(Operation *first, Operation *second) {
  for (Operation *op = first->getParentOp(); op; op = op->getParentOp())
    if (isa<scf::ForOp, scf::WhileOp>(op) && !op->hasAttr(kProgramsAttrName) &&
        op->isProperAncestor(second))
      return true;
  Operation *common = first;
  while (common && !common->getBlock()->findAncestorOpInBlock(*second))
    common = common->getParentOp();
  return common && common->isBeforeInBlock(common->getBlock()->findAncestorOpInBlock(*second));
}

/// Whether something computes with a value in front of a store.
static bool isUsedInFront(Value value, Operation *store) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    bool isView = isa<ReshapeOp, TransposeOp>(user);
    return isView ? isUsedInFront(user->getResult(0), store) : comesBefore(user, store);
  });
}

/// What a load, a gather, a store or a scatter accesses.
static Value getViewOf(Operation *access) {
  for (Value operand : access->getOperands())
    if (isa<ViewType>(operand.getType()))
      return operand;
  return {};
}

/// Whether what comes behind an atomic access may have to see what others wrote before theirs.
static bool acquires(AtomicRMWOp atomic) {
  return atomic.getOrder() == MemoryOrder::Acquire || atomic.getOrder() == MemoryOrder::AcqRel;
}

/// Whether the order in which the source touches memory can be kept. No load by an engine, or of a
/// number that says what it loads, comes behind an atomic access that orders it. No load comes
/// behind a store that may reach its memory.
/// What an engine brings has come when some user in front of the store has waited for it. Other
/// loads and stores are those of one role, whose order is kept.
bool RoleDecider::isOrdered() {
  SmallVector<Operation *> reads, writes;
  SmallVector<AtomicRMWOp> atomics;
  kernel.getBody().walk([&](Operation *op) {
    if (isa<LoadOp, GatherOp>(op))
      reads.push_back(op);
    if (isa<StoreOp, ScatterOp>(op))
      writes.push_back(op);
    if (auto atomic = dyn_cast<AtomicRMWOp>(op))
      atomics.push_back(atomic);
  });
  // The role that has the engine load makes these as early as it can, too.
  auto isEarly = [&](Operation *read) {
    auto load = dyn_cast<LoadOp>(read);
    return load && (loads.contains(load) || load.getType().getNumElements() == 1);
  };
  auto isByEngine = [&](Operation *write) {
    auto store = dyn_cast<StoreOp>(write);
    return store && stores.contains(store);
  };
  for (AtomicRMWOp atomic : atomics)
    for (Operation *read : reads)
      if (isEarly(read) && comesBefore(atomic, read) &&
          (acquires(atomic) || !areOfOtherMemory(atomic.getView(), getViewOf(read))))
        return leave(read, "roles would not order it and an atomic access in front of it");
  for (Operation *write : writes) {
    for (Operation *read : reads) {
      if (areOfOtherMemory(getViewOf(write), getViewOf(read)) ||
          (!isEarly(read) && !isByEngine(write)))
        continue;
      auto load = dyn_cast<LoadOp>(read);
      if (comesBefore(write, read) ||
          (load && loads.contains(load) && !isUsedInFront(load.getResult(), write)))
        return leave(read, "roles would not order it and a store that may reach the same memory");
    }
    for (Operation *other : writes)
      if (other != write && !areOfOtherMemory(getViewOf(write), getViewOf(other)))
        if (auto store = dyn_cast<StoreOp>(write))
          stores.erase(store);
  }
  return true;
}

/// The first of the products that add to one sum, one behind another.
static DotOp findFirst(Operation *product) {
  auto dot = cast<DotOp>(product);
  while (auto before = dot.getAccumulator().getDefiningOp<DotOp>())
    dot = before;
  return dot;
}

/// The ring that a load fills with those in front of it: one of which a product of its own sum
/// reads, if nothing uses any of them before it is loaded. Else the next.
int64_t RoleDecider::findRing(LoadOp load) {
  int64_t rings = 0;
  llvm::SmallDenseSet<int64_t> fitting, unfit;
  for (auto &[other, decided] : loads) {
    rings = std::max(rings, decided.ring + 1);
    bool isTogether = other->getBlock() == load->getBlock();
    bool isShared = false;
    for (OpOperand *use : getUses(other)) {
      Operation *here = load->getBlock()->findAncestorOpInBlock(*use->getOwner());
      isTogether &= here && load->isBeforeInBlock(here);
    }
    for (const OperandUse &use : findProducts(other))
      isShared |= llvm::any_of(findProducts(load), [&](const OperandUse &its) {
        return findFirst(its.operand->getOwner()) == findFirst(use.operand->getOwner());
      });
    if (!isTogether)
      unfit.insert(decided.ring);
    else if (isShared)
      fitting.insert(decided.ring);
  }
  for (int64_t ring = 0; ring < rings; ++ring)
    if (fitting.contains(ring) && !unfit.contains(ring))
      return ring;
  return rings;
}

/// Of a thread, for accumulators and the operands that lie in registers. Of the sums that are used
/// up in their trip `atOnce` count, the largest.
int64_t RoleDecider::countRegisters(unsigned atOnce) {
  int64_t lanes = target.getChipRecord().warpSize, words = 0;
  SmallVector<int64_t> passing;
  for (auto &[dot, atom] : dots) {
    int64_t threads = cast<MmaAtomInterface>(atom).getWarps() * lanes * copies;
    // A dot that adds to another's sum does so in its place.
    bool isAdded = dot.getAccumulator().getDefiningOp<DotOp>();
    bool isPromoted = dot.isPromoted() || llvm::is_contained(promoted, dot);
    if (cast<MmaAtomInterface>(atom).getAccumulatorPlace() == Place::Registers)
      (matchPattern(dot.getAccumulator(), m_Constant()) ? passing.emplace_back(0) : words) +=
          (!isAdded + isPromoted) * dot.getM() * dot.getN() / threads;
    LoadOp load = findLoad(dot.getA());
    if (!load || !loads.contains(load))
      words += dot.getM() * dot.getK() * getElementTypeOrSelf(dot.getA()).getIntOrFloatBitWidth() /
               (32 * threads);
  }
  llvm::sort(passing, std::greater<>());
  for (int64_t sum : ArrayRef(passing).take_front(atOnce))
    words += sum;
  return words;
}

int64_t RoleDecider::countAtOnce() { return countRegisters(kMostAtOnce); }

/// Of a thread, for the largest sum that lies in tensor memory until its trip computes with it.
/// What is only added to stays there.
int64_t RoleDecider::countFetched() {
  int64_t lanes = target.getChipRecord().warpSize, words = 0;
  for (auto &[dot, atom] : dots) {
    auto mma = cast<MmaAtomInterface>(atom);
    bool isFetched = findTrips(dot) && !isa<BlockArgument>(dot.getAccumulator());
    if (mma.getAccumulatorPlace() == Place::Tensor && isFetched)
      words = std::max(words, dot.getM() * dot.getN() / (mma.getWarps() * lanes * copies));
  }
  return words;
}

/// One warp loads. If registers are to be handed over, as many warps load as do so together: they
/// come first, and keep the least that they may.
SmallVector<Attribute> RoleDecider::makeRoles() {
  const Chip &chip = target.getChipRecord();
  auto role = [&](StringRef name, int64_t warps, int64_t copies, int64_t registers) -> Attribute {
    return RoleAttr::get(kernel.getContext(), name, warps, copies, /*skew=*/0, registers);
  };
  int64_t warps = countWarpsOfProduct();
  const RoleRegisters &rule = chip.roleRegisters;
  // A thread of one copy has all that it may have beside one warp more.
  int64_t taken = countRegisters(/*atOnce=*/dots.size()) + (copies > 1 ? countFetched() : 0);
  if (!rule.step || taken <= kManyRegisters)
    return {role(kCompute, warps, copies, 0), role(kLoad, 1, 1, 0)};
  int64_t loading = std::max<int64_t>(llvm::alignTo(countLoading(), rule.step), rule.least);
  while (loading > rule.least && countHad(loading) < taken + kOtherRegisters)
    loading -= rule.step;
  return {role(kLoad, rule.warps, 1, loading), role(kCompute, warps, copies, countHad(loading))};
}

/// Registers of a thread that has an engine load: a number along each dimension, and of those in
/// front of a tile's two what is divided to find it; a slot and a phase of each ring; and what all
/// of it takes besides.
int64_t RoleDecider::countLoading() {
  constexpr int64_t kBesides = 16;
  int64_t numbers = 0;
  DenseSet<int64_t> rings;
  for (auto &[load, decided] : loads) {
    int64_t rank = load.getView().getType().getRank();
    numbers += rank + 2 * std::max<int64_t>(rank - 2, 0);
    rings.insert(decided.ring);
  }
  return kBesides + numbers + 2 * int64_t(rings.size());
}

int64_t RoleDecider::countHad() { return countHad(target.getChipRecord().roleRegisters.least); }

int64_t RoleDecider::countHad(int64_t loading) {
  const Chip &chip = target.getChipRecord();
  const RoleRegisters &rule = chip.roleRegisters;
  if (!rule.step)
    return chip.registersPerThread;
  int64_t warps = countWarpsOfProduct() * copies, atEntry = rule.warps + warps;
  int64_t left = chip.getRegistersAtEntry(atEntry) * atEntry - rule.warps * loading;
  return std::min<int64_t>(left / warps / rule.step * rule.step,
                           chip.registersPerThread / rule.step * rule.step);
}

int64_t RoleDecider::countWarpsOfProduct() {
  int64_t warps = 1;
  for (auto &[dot, atom] : dots)
    warps = std::max<int64_t>(warps, cast<MmaAtomInterface>(atom).getWarps());
  return warps;
}

bool RoleDecider::canStore(StoreOp store) {
  auto argument = dyn_cast<BlockArgument>(store.getView());
  FactsAttr facts = argument ? kernel.getFacts(argument.getArgNumber()) : FactsAttr();
  if (!facts || !facts.getIndex32() || store.getExtents() ||
      store.getValue().getType().getRank() < 2)
    return false;
  for (Attribute atom : target.getAtoms(store)) {
    auto engine = dyn_cast<EngineAtomInterface>(atom);
    if (!engine || engine.whyUnfit(store.getView().getType(), facts, /*isWritten=*/true) ||
        !engine.follows(store.getCache(), store.getEviction()))
      continue;
    stores.insert({store, atom});
    return true;
  }
  return false;
}

/// The axes of the kernel's clusters along which all programs load the same tile.
SmallVector<StringRef> RoleDecider::findSharedAxes(LoadOp load) {
  SmallVector<StringRef> axes;
  for (auto [axis, extent] : llvm::enumerate(getClusterExtents(kernel)))
    if (extent > 1 && isSameAlong(kernel, load, axis))
      axes.push_back(stringifyAxis(Axis(axis)));
  return axes;
}

bool RoleDecider::find() {
  if (!decidesNothing(kernel))
    return false;
  bool areAllAsync = true;
  kernel.getBody().walk([&](DotOp dot) { areAllAsync &= findDot(dot); });
  if (dots.empty() || !areAllAsync || !arePlain())
    return false;
  copies = countCopies(dots);
  reason.reset(); // an instruction may fit where another does not

  bool isInLoop = false, isRead = true;
  kernel.getBody().walk([&](LoadOp load) {
    SmallVector<OperandUse> products = findProducts(load);
    bool isLooped = getLoopAround(load) != nullptr;
    int64_t bytes = load.getType().getNumElements() *
                    load.getType().getElementType().getIntOrFloatBitWidth() / 8;
    // Warps write scales to tensor memory, whoever brings them.
    bool areScales = llvm::any_of(load->getUses(), [](OpOperand &use) {
      auto dot = dyn_cast<DotOp>(use.getOwner());
      return dot && llvm::is_contained(dot.getScales(), use.get());
    });
    if (products.empty() && (!isLooped || areScales || bytes < kFewestBytes))
      return;
    std::optional<Attribute> atom = findEngine(load, products);
    // A product whose operand comes neither by an engine nor out of registers has none.
    isRead &= atom || products.empty() ||
              leave(load, "no copy engine brings this operand as its product reads it");
    if (!atom)
      return;
    isRead &= !findNumberOfTrip(load) ||
              leave(load, "a role that loads it would wait for a number of each trip's tensors");
    loads.insert({load, {*atom, findRing(load)}});
    isInLoop |= isLooped && !products.empty();
  });
  if (!isRead)
    return false;
  for (auto &[dot, atom] : dots)
    for (unsigned number : {0, 1}) {
      LoadOp load = findLoad(dot->getOperand(number));
      if ((load && loads.contains(load)) || takesComputed(cast<MmaAtomInterface>(atom), number))
        continue;
      if (load || !paysToWrite(dot, atom, number))
        return leave(dot, Twine("it reads operand ") + (number ? "b" : "a") +
                              " from shared memory alone, where no copy engine brings it" +
                              (load ? "" : " and warps that write it gain too little"));
      isInLoop |= isMadeOfLoaded(dot->getOperand(number));
    }
  if (!isInLoop)
    return leave(kernel, "no product in a loop reads what a copy engine brings there");
  kernel.getBody().walk([&](StoreOp store) { (void)canStore(store); });
  if (!isOrdered())
    return false;
  int64_t registers = countAtOnce();
  return registers <= kMostRegisters ||
         leave(kernel, "accumulators and operands take " + Twine(registers) +
                           " registers of a thread, more than " + Twine(kMostRegisters));
}

void RoleDecider::undo() {
  undoRoles(kernel);
  for (DotOp dot : promoted)
    dot.removePromoteAttr();
  for (DotOp dot : cut)
    dot.removePartsAttr();
}

void RoleDecider::write(bool storesByEngine, bool overlaps, bool sharesTiles) {
  Builder builder(kernel.getContext());
  for (DotOp dot : promoted)
    dot.setPromote(true);
  for (DotOp dot : cut) {
    int64_t parts = 1, k = dot.getK();
    while (k / parts > kPromoted || k % parts)
      ++parts;
    dot.setParts(ArrayRef<int64_t>{1, 1, parts});
  }
  for (auto &[dot, atom] : dots) {
    dot.setAtomAttr(atom);
    if (!overlaps && findTrips(dot))
      dot.setStage(0);
  }
  kernel.getBody().walk([&](Operation *op) {
    auto load = dyn_cast<LoadOp>(op);
    // Each role loads the numbers that it needs.
    bool isShared = load && load.getType().getNumElements() == 1;
    if (isa<DotOp, GatherOp, StoreOp, ScatterOp, AtomicRMWOp>(op) || (load && !isShared))
      setRoleName(op, kCompute);
  });
  for (auto &[load, decided] : loads) {
    load.setAtomAttr(decided.atom);
    load.setRing("ring" + std::to_string(decided.ring));
    setRoleName(load, kLoad);
    for (OpOperand *use : getUses(load))
      if (!isa<ReshapeOp, TransposeOp>(use->getOwner()) &&
          !use->getOwner()->hasTrait<OpTrait::IsTerminator>())
        setRoleName(use->getOwner(), kCompute);
  }
  if (sharesTiles)
    for (auto &[load, decided] : loads)
      if (SmallVector<StringRef> axes = findSharedAxes(load); !axes.empty())
        load.setMulticastAttr(builder.getStrArrayAttr(axes));
  if (storesByEngine)
    for (auto &[store, atom] : stores)
      store.setAtomAttr(atom);
  kernel->setAttr(kRolesAttrName, builder.getArrayAttr(makeRoles()));
  // Where roles take many warps an instruction may have fewer columns.
  for (auto &[dot, atom] : dots)
    if (!ofPairs)
      dot.setAtomAttr(findAsyncAtom(dot, target));
}
