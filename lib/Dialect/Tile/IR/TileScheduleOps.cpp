// Verifiers of roles, channels, copies and dots in flight, and the form of tile.warp_groups.
#include "Checks.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Layout/Algebra/LinearLayout.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

//===- Types --------------------------------------------------------------------------------===//

Type ChannelType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  int64_t depth = 0;
  if (parser.parseLess() || parser.parseInteger(depth))
    return {};
  bool hasMore = succeeded(parser.parseOptionalComma());
  bool isOwn = hasMore && succeeded(parser.parseOptionalKeyword("own"));
  bool isPair = hasMore && !isOwn && succeeded(parser.parseOptionalKeyword("pair"));
  SmallVector<Type> buffers;
  // A pair's slots may be of nothing.
  bool hasBuffers = hasMore && (!isPair || succeeded(parser.parseOptionalComma()));
  if ((isOwn && parser.parseComma()) || (hasBuffers && parser.parseTypeList(buffers)) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<ChannelType>(loc, parser.getContext(), depth, isOwn, isPair,
                                        ArrayRef<Type>(buffers));
}

void ChannelType::print(AsmPrinter &printer) const {
  printer << '<' << getDepth() << (getOwn() ? ", own" : "") << (getPair() ? ", pair" : "");
  for (Type buffer : getBuffers())
    printer << ", " << buffer;
  printer << '>';
}

LogicalResult ChannelType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t depth,
                                  bool own, bool pair, ArrayRef<Type> buffers) {
  if (depth < 1)
    return emitError() << "expected a channel of at least one slot, got " << depth;
  auto isAccumulator = [](Type type) {
    auto pending = dyn_cast<PendingType>(type);
    return pending && pending.getInTensorMemory();
  };
  bool hasAccumulator = !own && buffers.size() == 1 && isAccumulator(buffers.front());
  for (Type type : buffers)
    if (!hasAccumulator && !isa<BufferType>(type))
      return emitError() << "expected buffers in a channel, or one accumulator in tensor memory, "
                            "got "
                         << type;
  return success();
}

PendingType ChannelType::getAccumulator() const {
  return getBuffers().empty() ? PendingType() : dyn_cast<PendingType>(getBuffers().front());
}

static constexpr StringLiteral kTensorMemory = "tensor_memory";

Type PendingType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  RankedTensorType tensor;
  if (parser.parseLess() || parser.parseType(tensor))
    return {};
  bool inTensorMemory = succeeded(parser.parseOptionalComma());
  if ((inTensorMemory && parser.parseKeyword(kTensorMemory)) || parser.parseGreater())
    return {};
  return parser.getChecked<PendingType>(loc, parser.getContext(), tensor, inTensorMemory);
}

void PendingType::print(AsmPrinter &printer) const {
  printer << '<' << getTensor();
  if (getInTensorMemory())
    printer << ", " << kTensorMemory;
  printer << '>';
}

LogicalResult PendingType::verify(function_ref<InFlightDiagnostic()> emitError,
                                  RankedTensorType tensor, bool inTensorMemory) {
  if (isTileType(tensor))
    return success();
  return emitError() << "expected a tile to be pending, got " << tensor;
}

//===- Roles --------------------------------------------------------------------------------===//

ParseResult WarpGroupsOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> captures;
  SmallVector<Type> types;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLParen())
    return failure();
  if (failed(parser.parseOptionalRParen()) &&
      (parser.parseOperandList(captures) || parser.parseColonTypeList(types) ||
       parser.parseRParen()))
    return failure();
  if (parser.resolveOperands(captures, types, loc, result.operands) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) || parser.parseLBrace())
    return failure();
  SmallVector<OpAsmParser::Argument> arguments;
  for (auto [capture, type] : llvm::zip_equal(captures, types)) {
    arguments.emplace_back();
    arguments.back().ssaName = capture;
    arguments.back().type = type;
  }
  SmallVector<Attribute> roles;
  while (succeeded(parser.parseOptionalKeyword("role"))) {
    RoleAttr role;
    if (parser.parseAttribute(role) ||
        parser.parseRegion(*result.addRegion(), arguments, /*enableNameShadowing=*/true))
      return failure();
    if (Region &body = *result.regions.back(); body.empty()) { // a role that does nothing
      Block &block = body.emplaceBlock();
      for (Type type : types)
        block.addArgument(type, result.location);
    }
    roles.push_back(role);
  }
  result.addAttribute(getRolesAttrName(result.name), parser.getBuilder().getArrayAttr(roles));
  return parser.parseRBrace();
}

void WarpGroupsOp::print(OpAsmPrinter &printer) {
  printer << '(';
  if (!getCaptures().empty())
    printer << getCaptures() << " : " << getCaptures().getTypes();
  printer << ')';
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {getRolesAttrName()});
  printer << " {";
  printer.increaseIndent();
  for (auto [i, region] : llvm::enumerate(getBodies())) {
    printer.printNewline();
    printer << "role " << getRole(i) << ' ';
    printer.shadowRegionArgs(region, getCaptures());
    printer.printRegion(region, /*printEntryBlockArgs=*/false);
  }
  printer.decreaseIndent();
  printer.printNewline();
  printer << '}';
}

LogicalResult WarpGroupsOp::verify() {
  if (getRoles().empty() || getRoles().size() != getBodies().size() ||
      !llvm::all_of(getRoles(), llvm::IsaPred<RoleAttr>))
    return emitOpError("expected one #tile.role a region, and at least one");
  if (failed(verifyRoleNames(*this, getRoles())))
    return failure();
  if (!isa_and_nonnull<KernelOp>((*this)->getParentOp()))
    return emitOpError("expected to stand in the body of a kernel");
  for (Region &region : getBodies())
    if (!llvm::equal(region.getArgumentTypes(), getCaptures().getTypes()))
      return emitOpError("expected each region to take the captured values");
  return success();
}

RoleAttr WarpGroupsOp::getRoleOf(Operation *op) {
  for (Region *region = op->getParentRegion(); region; region = region->getParentRegion())
    if (auto groups = dyn_cast_or_null<WarpGroupsOp>(region->getParentOp()))
      return groups.getRole(region->getRegionNumber());
  return {};
}

LogicalResult tile::verifyInRole(Operation *op) {
  auto kernel = op->getParentOfType<KernelOp>();
  if (WarpGroupsOp::getRoleOf(op) || (kernel && kernel->hasAttr(kRolesAttrName)))
    return success();
  return op->emitOpError("expected to stand in a role of tile.warp_groups");
}

LogicalResult CopyIdOp::verify() { return verifyInRole(*this); }
LogicalResult BarrierOp::verify() {
  return getPublish() || getAllCopies() ? verifyInRole(*this) : success();
}

//===- Channels -----------------------------------------------------------------------------===//

LogicalResult ChannelOp::verify() {
  // Of operands in tensor memory nobody waits to be told.
  bool mayBeUntold = getResult().getType().getAccumulator() != nullptr;
  if (failed(verifyCount(*this, "full", getFull(), mayBeUntold ? 0 : 1)))
    return failure();
  return verifyCount(*this, "empty", getEmpty(), 1);
}

LogicalResult PutOp::verifyRegions() {
  if (!llvm::equal(getBody().getArgumentTypes(), getChannel().getType().getBuffers()))
    return emitOpError("expected the region to take the buffers of ") << getChannel().getType();
  return verifyCount(*this, "bytes", getBytes(), 0);
}

LogicalResult GetOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange operands,
                                      DictionaryAttr, OpaqueProperties, RegionRange,
                                      SmallVectorImpl<Type> &types) {
  auto channel = operands.empty() ? ChannelType() : dyn_cast<ChannelType>(operands[0].getType());
  if (!channel)
    return failure();
  llvm::append_range(types, channel.getBuffers());
  return success();
}

LogicalResult ReleaseOp::verify() {
  if (getLanes() && getCommit())
    return emitOpError("expected lanes that have read the slot or dots that read it, got 'lanes' "
                       "and 'commit'");
  ChannelType type = getChannel().getType();
  if (getCommit() && type.getOwn())
    return emitOpError("expected a channel of buffers that another role fills, since dots read "
                       "them, got ")
           << type;
  if (!getPeers().empty() && (type.getOwn() || (type.getAccumulator() && !type.getPair())))
    return emitOpError("expected a channel of buffers that another role fills, since other "
                       "programs fill its slots, too, got ")
           << type;
  return success();
}

LogicalResult ScheduleGroupOp::verify() {
  return failure(failed(verifyCount(*this, "count", getCount(), 1)) ||
                 failed(verifyCount(*this, "pipeline", getPipeline(), 0)));
}

LogicalResult WaitPutsOp::verify() { return verifyCount(*this, "in_flight", getInFlight(), 0); }

//===- Copies -------------------------------------------------------------------------------===//

/// A buffer's worth of a view: one rank and element type, one offset a dimension.
static LogicalResult verifyCopy(Operation *op, ViewType view, BufferType buffer, size_t offsets,
                                std::optional<ArrayRef<int64_t>> dropped) {
  int64_t rank = view.getRank(), own = buffer.getShape().size();
  if (dropped && failed(verifyDropped(op, view, own, dropped)))
    return failure();
  if ((!dropped && own != rank) || int64_t(offsets) != rank)
    return op->emitOpError("expected a buffer and offsets of the view's rank ")
           << rank << ", got " << buffer.getShape().size() << " and " << offsets;
  if (buffer.getElementType() == view.getElementType())
    return success();
  return op->emitOpError("expected a buffer of the view's element type ")
         << view.getElementType() << ", got " << buffer.getElementType();
}

LogicalResult CopyInOp::verify() {
  if (!(*this)->getParentOfType<PutOp>())
    return emitOpError("expected to stand in a tile.put");
  if (getMulticast() && getMask())
    return emitOpError("expected axes to share the tile out along, or a mask, got both");
  if (failed(verifyMulticast(*this, getMulticast())))
    return failure();
  return verifyCopy(*this, getView().getType(), getBuffer().getType(), getOffsets().size(),
                    getDropped());
}

LogicalResult CopyOutOp::verify() {
  if (failed(verifyInRole(*this)))
    return failure();
  return verifyCopy(*this, getView().getType(), getBuffer().getType(), getOffsets().size(),
                    getDropped());
}

LogicalResult WaitStoresOp::verify() {
  if (failed(verifyInRole(*this)))
    return failure();
  return verifyCount(*this, "in_flight", getInFlight(), 0);
}

/// Whether a part's extent along a dimension, which is no power of two, is as far from each of the
/// parts to the next: what counts its odd factor, and the parts, are the highest bits of the
/// offset.
static bool areEquallyFar(ArrayRef<LinearLayout::Basis> bases, unsigned dim, int64_t extent) {
  int64_t unit = extent & -extent;
  const auto *first =
      llvm::find_if(bases, [&](const LinearLayout::Basis &basis) { return basis[dim] >= unit; });
  for (const LinearLayout::Basis &basis : llvm::make_range(first, bases.end())) {
    for (auto [other, value] : llvm::enumerate(basis))
      if (value != (other == dim ? unit : 0))
        return false;
    unit *= 2;
  }
  return true;
}

BufferType kiln::tile::getPartType(BufferType whole, ArrayRef<int64_t> shape) {
  auto layout = dyn_cast_or_null<LayoutAttr>(whole.getLayout());
  if (!layout)
    return BufferType::get(whole.getContext(), shape, whole.getElementType(), whole.getLayout());
  SmallVector<LinearLayout::InDim> ins;
  LinearLayout linear = layout.toLinear(whole.getShape());
  for (const LinearLayout::InDim &in : linear.getIns()) {
    ins.push_back({in.name, {}});
    for (auto [bit, basis] : llvm::enumerate(in.bases)) {
      auto isBeyond = [](auto pair) { return std::get<0>(pair) >= std::get<1>(pair); };
      if (llvm::any_of(llvm::zip_equal(basis, shape), isBeyond)) {
        // Which part it is must not permute what is in it.
        for (auto [dim, value] : llvm::enumerate(basis))
          if (value % shape[dim] &&
              (value < shape[dim] || !areEquallyFar(in.bases, dim, shape[dim])))
            return {};
        continue;
      }
      // Behind a gap it would not lie where the layout says.
      if (ins.back().bases.size() != bit)
        return {};
      ins.back().bases.push_back(basis);
    }
  }
  std::optional<LinearLayout> part = LinearLayout::create(ins, getTensorOuts(shape));
  if (!part || !part->isInvertible() || !part->isExact())
    return {};
  return BufferType::get(whole.getContext(), shape, whole.getElementType(),
                         LayoutAttr::get(whole.getContext(), *part));
}

/// Whether offsets of so many along a dimension add up to places in memory.
static bool areAddedUp(ArrayRef<LinearLayout::Basis> places, int64_t extent) {
  ArrayRef<LinearLayout::Basis> beyond = places.drop_front(llvm::countr_zero(uint64_t(extent)));
  bool mustFollow = !llvm::isPowerOf2_64(extent);
  for (auto [number, place] : llvm::enumerate(beyond))
    if (!llvm::isPowerOf2_64(place.front()) ||
        (mustFollow && place.front() != beyond.front().front() << number))
      return false;
  return true;
}

BufferType kiln::tile::getWindowType(BufferType whole, ArrayRef<int64_t> shape) {
  if (BufferType part = getPartType(whole, shape))
    return part;
  std::optional<LinearLayout> places =
      cast<LayoutAttr>(whole.getLayout()).toLinear(whole.getShape()).invert();
  if (!places)
    return {};
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (extent != whole.getShape()[dim] && !areAddedUp(places->getBases(getDimName(dim)), extent))
      return {};
  return BufferType::get(whole.getContext(), shape, whole.getElementType(), whole.getLayout(),
                         whole.getShape());
}

/// Some of the columns of an accumulator in tensor memory: of its own elements, or as what is
/// written over it has them.
static LogicalResult verifyColumns(PartOp op, PendingType whole, PendingType part) {
  if (!whole.getInTensorMemory() || !part || !part.getInTensorMemory())
    return op.emitOpError("expected a part in tensor memory of an accumulator there, got ")
           << op.getType() << " of " << whole;
  ArrayRef<int64_t> from = whole.getTensor().getShape(), to = part.getTensor().getShape();
  unsigned bits = whole.getTensor().getElementTypeBitWidth();
  unsigned own = part.getTensor().getElementTypeBitWidth();
  bool isColumns = from.size() == 2 && to.size() == 2 && op.getOffsets().size() == 2 &&
                   from[0] == to[0] && from[1] * bits % (to[1] * own) == 0;
  if (isColumns)
    return success();
  return op.emitOpError("expected columns of ")
         << whole << ", so many that they divide its own, and two offsets, got " << part << " and "
         << op.getOffsets().size();
}

LogicalResult PartOp::verify() {
  if (auto sum = dyn_cast<PendingType>(getBuffer().getType()))
    return verifyColumns(*this, sum, dyn_cast<PendingType>(getType()));
  auto whole = cast<BufferType>(getBuffer().getType());
  auto part = dyn_cast<BufferType>(getType());
  if (!part)
    return emitOpError("expected a part of ") << whole << " to be a buffer, got " << getType();
  if (part.getShape().size() != whole.getShape().size() ||
      getOffsets().size() != whole.getShape().size())
    return emitOpError("expected a part and offsets of the buffer's rank ")
           << whole.getShape().size() << ", got " << part.getShape().size() << " and "
           << getOffsets().size();
  for (auto [of, extent] : llvm::zip_equal(whole.getShape(), part.getShape()))
    if (of % extent)
      return emitOpError("expected extents that divide the buffer's, got ")
             << part << " of " << whole;
  BufferType expected = getWindowType(whole, part.getShape());
  if (!expected)
    return emitOpError("expected a part whose place does not permute what is in it, got ")
           << part << " of " << whole;
  if (part == expected)
    return success();
  return emitOpError("expected a part of type ") << expected << ", got " << part;
}

//===- Dots in flight -----------------------------------------------------------------------===//

/// Of what one thread does: it says so itself, or a region around it does.
static LogicalResult verifyOneThread(Operation *op, bool oneThread) {
  if (!oneThread || !OneThreadOp::encloses(op))
    return success();
  return op->emitOpError("expected no 'one_thread', since it stands in '")
         << OneThreadOp::getOperationName() << "'";
}

LogicalResult GetOp::verify() {
  if (getOneThread() && !getToStart())
    return emitOpError("expected 'to_start', since 'one_thread' is of what one thread waits for");
  return verifyOneThread(*this, getOneThread());
}

LogicalResult AcquireOp::verify() { return verifyOneThread(*this, getOneThread()); }

LogicalResult StartDotOp::verify() {
  if (getOneThread() && !getType().getInTensorMemory())
    return emitOpError("expected an accumulator in tensor memory, since one thread starts the dot, "
                       "got ")
           << getType();
  if (failed(verifyOneThread(*this, getOneThread())))
    return failure();
  Type a = getA().getType();
  if (auto written = dyn_cast<PendingType>(a)) {
    if (!written.getInTensorMemory() || getTransposeA())
      return emitOpError("expected operand a in tensor memory by rows, got ")
             << written << (getTransposeA() ? " and 'transpose_a'" : "");
    a = written.getTensor();
  }
  SmallVector<Type> scales;
  for (Type type : getScales().getTypes()) {
    auto written = dyn_cast<PendingType>(type);
    if (written && !written.getInTensorMemory())
      return emitOpError("expected scales in tensor memory, got ") << written;
    scales.push_back(written ? Type(written.getTensor()) : type);
  }
  return verifyDot(*this, a, getTransposeA(), getB().getType(), getTransposeB(),
                   getType().getTensor(), scales, getUnsignedA() || getUnsignedB(), getPrecision(),
                   {cast<MmaAtomInterface>(getAtom()).getPrograms()});
}

static LogicalResult verifyInTensorMemory(Operation *op, PendingType pending) {
  if (pending.getInTensorMemory())
    return success();
  return op->emitOpError("expected an accumulator in tensor memory, got ") << pending;
}

LogicalResult FillOp::verify() { return verifyInTensorMemory(*this, getType()); }
LogicalResult FetchOp::verify() { return verifyInTensorMemory(*this, getPending().getType()); }

LogicalResult WaitOp::verify() {
  RankedTensorType tensor = getPending().getType().getTensor();
  auto pending = dyn_cast<PendingType>(getType());
  if ((pending ? pending.getTensor() : getType()) != tensor)
    return emitOpError("expected a result of ") << tensor << ", pending or not, got " << getType();
  return verifyCount(*this, "in_flight", getInFlight(), 0);
}
