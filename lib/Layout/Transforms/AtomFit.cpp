// What instructions ask of the ops that they are decided for.
#include "kiln/Layout/Transforms/AtomFit.h"
#include "kiln/Dialect/Tile/IR/ArgumentViews.h"
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "kiln/Layout/Transforms/AccessFacts.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Layout/Transforms/Layouts.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

using Reason = std::optional<std::string>;

std::array<int64_t, 3> kiln::countParts(DotOp dot) {
  if (std::optional<ArrayRef<int64_t>> parts = dot.getParts())
    return {(*parts)[0], (*parts)[1], (*parts)[2]};
  return {1, 1, 1};
}

Attribute kiln::findForParts(DotOp dot, int64_t columns, function_ref<Attribute(int64_t)> find) {
  int64_t parts = countParts(dot)[1];
  Attribute ofPart = columns % parts == 0 ? find(columns / parts) : Attribute();
  return ofPart ? ofPart : find(columns);
}

/// Of lanes that copy pieces of a tile's rows.
static Reason whyUnfit(LoadOp load, DirectAtomInterface atom, const Chip &chip) {
  RankedTensorType type = load.getType();
  Type element = type.getElementType();
  if (sharesByte(element))
    return "expected elements of at least a byte";
  FactsAttr facts = getViewFacts(load.getView());
  if (atom.countsIn32Bits() && !(facts && facts.getIndex32()))
    return "expected a view that facts say is addressable in 32 bits";
  int dim = getAccessFacts(load).dim;
  bool isLast = type.getRank() > 0 && dim == int(getViewDim(type.getRank() - 1, load.getDropped()));
  if (atom.getGranularity() > getElementBytes(element) && !isLast && findTurn(load).empty())
    return "expected a view of stride 1 along the last dimension of the tile";
  int64_t each = atom.getGranularity();
  std::string text;
  llvm::raw_string_ostream os(text);
  if (!isAligned(load, atom)) {
    os << "expected rows that begin at multiples of " << each << " bytes"
       << (atom.fillsInPart() ? "" : " and are as long") << ", by what facts say of them";
    return text;
  }
  RoleAttr role = lookUpRole(load);
  int64_t warps = role ? role.getTotalWarps() : 1;
  if (canShareOut(load, atom, warps, chip))
    return std::nullopt;
  os << "expected a tile that " << warps << " warps, of all copies of its role, share out by "
     << each << " bytes a lane"
     << (atom.getCompletion() == Completion::Instructions ? ", each warp as many" : "") << ", got "
     << type.getNumElements() * getElementBytes(element) << " bytes for " << warps * chip.warpSize
     << " lanes";
  return text;
}

/// Of an engine, which copies between buffers and whole arguments. What it brings of one whose rows
/// lie otherwise is turned first, if nothing that is decided of the tile says how it lies.
template <typename Access>
static Reason whyUnfit(Access access, EngineAtomInterface engine) {
  constexpr bool isWritten = std::is_same_v<Access, StoreOp>;
  TypedValue<ViewType> view = access.getView();
  if (sharesByte(view.getType().getElementType()))
    return "expected elements of at least a byte";
  std::optional<ArgumentView> argument = findArgumentView(view);
  auto kernel = access->template getParentOfType<KernelOp>();
  if (!argument || argument->argument.getOwner()->getParentOp() != kernel)
    return "expected a view that is an argument of the kernel";
  ViewType type = view.getType();
  FactsAttr facts = turnFacts(kernel.getFacts(argument->argument.getArgNumber()), argument->dims);
  SmallVector<int64_t> order;
  if constexpr (!isWritten)
    order = findTurn(access);
  Reason ofView = order.empty()
                      ? engine.whyUnfit(type, facts, isWritten)
                      : engine.whyUnfit(turnType(type, order), turnFacts(facts, order), isWritten);
  if (ofView)
    return ofView;
  // A box that begins elsewhere in a row is no error that a program can catch: the chip stops.
  int64_t bytes = getElementBytes(type.getElementType());
  if (getAccessFacts(access).aligned * bytes >= int64_t(engine.getGranularity()))
    return std::nullopt;
  return "expected a tile that begins at a multiple of " + std::to_string(engine.getGranularity()) +
         " bytes along its rows, by what is known of its offsets";
}

/// The rows that each copy of a role makes of a product.
static int64_t countOwnRows(DotOp dot, MmaAtomInterface atom) {
  RoleAttr role = lookUpRole(dot);
  int64_t copies = role ? role.getCopies() : 1;
  auto [m, n, k] = atom.getExtents();
  return dot.getM() / (getSharedDim(dot.getM(), dot.getN(), m, n, copies) == 0 ? copies : 1);
}

/// Whether there is no place for the sums of further rows than an instruction has.
static bool isOfOwnRowsAlone(AsyncMmaAtomInterface atom) {
  auto [m, n, k] = atom.getExtents();
  int64_t columns = llvm::bit_floor(uint64_t(n));
  return atom.getAccumulatorLayout({m, columns}, atom.getWarps()) != LinearLayout() &&
         atom.getAccumulatorLayout({2 * m, columns}, atom.getWarps()) == LinearLayout();
}

/// Of blocks with scales, which an instruction reads where they can be written for it.
static Reason whyUnfit(std::pair<Type, Type> elements, Type sum, ValueRange scales,
                       AsyncMmaAtomInterface atom) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto [a, b] = elements;
  Type scale = getElementTypeOrSelf(scales[0]), other = getElementTypeOrSelf(scales[1]);
  if (scale != other || !atom.multipliesScaled(a, b, sum, scale)) {
    os << "expected types that it multiplies by scales, got '" << a << "' and '" << b << "' by '"
       << scale << "' and '" << other << "' into '" << sum << "'";
    return text;
  }
  for (auto [operand, value] : llvm::enumerate(scales)) {
    auto type = cast<RankedTensorType>(value.getType());
    auto grown = llvm::map_to_vector(
        type.getShape(), [](int64_t extent) { return int64_t(llvm::PowerOf2Ceil(extent)); });
    if (atom.getScaleLayout(operand, grown, atom.getWarps()))
      continue;
    os << "expected one, two or a multiple of four blocks along k, whose scales are columns of "
          "tensor memory, got "
       << type.getDimSize(1);
    return text;
  }
  return std::nullopt;
}

template <typename Dot>
static void explainExtents(llvm::raw_ostream &os, Dot dot, std::array<int64_t, 3> extents) {
  auto [m, n, k] = extents;
  os << "expected rows, columns and a depth that are multiples of " << m << ", " << n << " and "
     << k << ", got " << dot.getM() << ", " << dot.getN() << " and " << dot.getK();
}

template <typename Dot>
static bool hasExtents(Dot dot, std::array<int64_t, 3> extents) {
  auto [m, n, k] = extents;
  return dot.getM() % m == 0 && dot.getN() % n == 0 && dot.getK() % k == 0;
}

Value kiln::findStored(Value operand) {
  if (!isa<Float4E2M1FNType>(getElementTypeOrSelf(operand)))
    return operand;
  auto cast = operand.getDefiningOp<BitcastOp>();
  bool isWhole = cast && getElementTypeOrSelf(cast.getInput()).isInteger(8) && !cast.getExtents() &&
                 findDecision(cast).empty();
  return isWhole ? cast.getInput() : Value();
}

static Reason whyUnfit(DotScaledOp dot, AsyncMmaAtomInterface atom) {
  auto elementOf = [](Value value) { return getElementTypeOrSelf(value); };
  bool isAcross = isa<Float4E2M1FNType>(elementOf(dot.getB())) && !dot.getTransposeB();
  if (isAcross || !findStored(dot.getA()) || !findStored(dot.getB()))
    return "expected operands of four bits to be bitcasts of bytes, two elements along k in each, "
           "and b by rows of k, 'transpose_b'";
  if (Reason reason =
          whyUnfit({elementOf(dot.getA()), elementOf(dot.getB())}, elementOf(dot.getResult()),
                   {dot.getScaleA(), dot.getScaleB()}, atom))
    return reason;
  // As they will be: none of its extents stays that is no power of two.
  auto [m, n, k] = atom.getExtents();
  auto fits = [](int64_t extent, int64_t step) { return llvm::PowerOf2Ceil(extent) % step == 0; };
  if (fits(dot.getM(), m) && fits(dot.getN(), n) && fits(dot.getK(), k))
    return std::nullopt;
  std::string text;
  llvm::raw_string_ostream os(text);
  explainExtents(os, dot, atom.getExtents());
  return text;
}

/// Of a product in flight.
static Reason whyUnfit(DotOp dot, AsyncMmaAtomInterface atom) {
  auto [a, b] = getDotTypes(dot);
  if (dot.getPrecision() == DotPrecision::TF32)
    a = b = FloatTF32Type::get(dot.getContext());
  Type sum = dot.getType().getElementType();
  auto [m, n, k] = atom.getExtents();
  bool isScaled = !dot.getScales().empty();
  if (isScaled)
    if (Reason reason = whyUnfit({a, b}, sum, dot.getScales(), atom))
      return reason;
  std::string text;
  llvm::raw_string_ostream os(text);
  if (dot.getType().getRank() != 2)
    os << "expected a product of two matrices, got " << dot.getType();
  else if (!isScaled && !atom.multiplies(a, b, sum))
    os << "expected types that it multiplies, got '" << a << "' and '" << b << "' into '" << sum
       << "'";
  else if (atom.getPrograms() > 1 && dot.getN() != n)
    os << "expected as many columns as it multiplies for several programs, " << n << ", got "
       << dot.getN();
  else if (!hasExtents(dot, {m, n, k}))
    explainExtents(os, dot, {m, n, k});
  else if (int64_t rows = countOwnRows(dot, atom); rows != m && isOfOwnRowsAlone(atom))
    os << "expected " << m << " rows for each copy of its role, got " << rows;
  return text.empty() ? Reason() : Reason(text);
}

std::optional<std::string> kiln::whyUnfit(Operation *op, Attribute atom, TargetInterface target) {
  auto load = dyn_cast<LoadOp>(op);
  auto store = dyn_cast<StoreOp>(op);
  if (auto direct = dyn_cast<DirectAtomInterface>(atom); direct && load)
    return ::whyUnfit(load, direct, target.getChipRecord());
  if (auto engine = dyn_cast<EngineAtomInterface>(atom); engine && (load || store))
    return load ? ::whyUnfit(load, engine) : ::whyUnfit(store, engine);
  auto dot = dyn_cast<DotOp>(op);
  auto product = dyn_cast<AsyncMmaAtomInterface>(atom);
  if (auto scaled = dyn_cast<DotScaledOp>(op); scaled && product)
    return ::whyUnfit(scaled, product);
  return dot && product ? ::whyUnfit(dot, product) : std::nullopt;
}

bool kiln::canBeStarted(DotScaledOp dot, TargetInterface target) {
  auto fits = [&](Attribute atom) {
    return isa<AsyncMmaAtomInterface>(atom) && !whyUnfit(dot, atom, target);
  };
  Attribute said = dot.getAtomAttr();
  return said ? fits(said) : llvm::any_of(target.getAtoms(dot), fits);
}
