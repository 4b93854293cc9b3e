// Roles: each warp finds the one it has by its number, which is the same for all its lanes.
//
// Inside a role threads are counted anew: `warp` is that of one copy. A role that does nothing but
// start copies is run by one thread, which spares the others from walking through its loops.
#include "ThreadLowering.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static bool isOwn(Value channel) { return cast<ChannelType>(channel.getType()).getOwn(); }

/// Whether an op takes engines that work beside the warps, or barriers in memory to wait for them.
static bool needsEngines(Operation *op) {
  return TypeSwitch<Operation *, bool>(op)
      .Case<WarpGroupsOp, CopyIdOp, PartOp, WaitPutsOp>([](auto) { return false; })
      .Case<BarrierOp>([](BarrierOp barrier) { return barrier.getPublish(); })
      .Case<ChannelOp>([](ChannelOp channel) { return !isOwn(channel); })
      .Case<PutOp, GetOp, ReleaseOp, AdvanceOp>([](auto use) { return !isOwn(use.getChannel()); })
      .Case<CopyInOp>([](CopyInOp copy) { return isa<EngineAtomInterface>(copy.getAtom()); })
      .Default([](Operation *) { return true; });
}

LogicalResult ThreadLowering::lowerSchedule(Operation *op) {
  bool isOfProgram = isa<BarrierOp>(op) && !role;
  if (!isOfProgram && !async && (!waves || needsEngines(op)))
    return emitUnsupported(op, target,
                           waves ? "expected no engines, no products in flight and no channels "
                                   "between roles"
                                 : "expected a chip with roles and channels");
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<WarpGroupsOp>([&](WarpGroupsOp groups) { return lowerRoles(groups); })
      .Case<CopyIdOp>([&](CopyIdOp id) {
        set(id, arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), role->copy));
        return success();
      })
      .Case<BarrierOp>([&](BarrierOp barrier) { return lowerBarrier(barrier); })
      .Case<ChannelOp>([&](ChannelOp channel) {
        isOwn(channel) ? lowerOwnChannel(channel) : lowerChannel(channel);
        return success();
      })
      .Case<PutOp>(
          [&](PutOp put) { return isOwn(put.getChannel()) ? lowerOwnPut(put) : lowerPut(put); })
      .Case<GetOp>([&](GetOp get) {
        if (!isOwn(get.getChannel()))
          return lowerGet(get);
        lowerOwnGet(get);
        return success();
      })
      .Case<ReleaseOp>([&](ReleaseOp release) {
        isOwn(release.getChannel()) ? lowerOwnRelease(release) : lowerRelease(release);
        return success();
      })
      .Case<WaitPutsOp>([&](WaitPutsOp wait) {
        lowerWaitPuts(wait);
        return success();
      })
      .Case<AcquireOp>([&](AcquireOp acquire) {
        lowerAcquire(acquire);
        return success();
      })
      .Case<CommitOp>([&](CommitOp commit) {
        lowerCommit(commit);
        return success();
      })
      .Case<AdvanceOp>([&](AdvanceOp advance) { return lowerAdvance(advance); })
      .Case<CopyInOp>([&](CopyInOp copy) {
        return isa<EngineAtomInterface>(copy.getAtom()) ? lowerCopyIn(copy) : lowerDirectCopy(copy);
      })
      .Case<CopyOutOp>([&](CopyOutOp copy) { return lowerCopyOut(copy); })
      .Case<PartOp>([&](PartOp part) { return lowerPart(part); })
      .Case<PendOp>([&](PendOp pend) {
        set(pend, get(pend.getTensor()));
        return success();
      })
      .Case<StartDotOp>([&](StartDotOp dot) { return lowerStartDot(dot); })
      .Case<WaitOp>([&](WaitOp wait) { return lowerWait(wait); })
      .Case<FillOp>([&](FillOp fill) { return lowerFill(fill); })
      .Case<FetchOp>([&](FetchOp fetch) { return lowerFetch(fetch); })
      .Case<WaitStoresOp>([&](WaitStoresOp wait) {
        emitIf(isFirstThread(),
               [&] { async->waitStores(builder, loc, wait.getInFlight(), wait.getWritten()); });
        return success();
      });
}

void ThreadLowering::emitIf(Value condition, llvm::function_ref<void()> emit) {
  auto branch = scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&branch.getThenRegion().front());
  emit();
}

Value ThreadLowering::isFirstThread() {
  Value thread = arith::OrIOp::create(builder, loc, lane, warp);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, thread, i32(0));
}

//===- Groups -------------------------------------------------------------------------------===//

/// Whether all that the role does is to start copies that count bytes.
static bool onlyStartsCopies(Region &region) {
  bool starts = false;
  WalkResult result = region.walk([&](Operation *op) {
    auto put = dyn_cast<PutOp>(op);
    starts |= put != nullptr;
    bool allowed = (put && put.getBytes() > 0) || isMemoryEffectFree(op) ||
                   isa<CopyInOp, scf::ForOp, scf::WhileOp, scf::IfOp>(op);
    return allowed ? WalkResult::advance() : WalkResult::interrupt();
  });
  return starts && !result.wasInterrupted();
}

/// Whether its warps copy into shared memory themselves.
static bool copiesDirectly(Region &region) {
  return region
      .walk([](CopyInOp copy) {
        return isa<DirectAtomInterface>(copy.getAtom()) ? WalkResult::interrupt()
                                                        : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult ThreadLowering::lowerRoles(WarpGroupsOp op) {
  int64_t total = 0;
  for (auto attr : op.getRoles().getAsRange<RoleAttr>())
    total += attr.getTotalWarps();
  if (total != warps)
    return op.emitOpError("expected roles of the kernel's ") << warps << " warps, got " << total;
  Value place = waves ? waves.makeUniform(builder, loc, warp) : shuffleFrom(warp, i32(0));
  // As many as there are: whoever reads the code back knows how far addresses go.
  if (llvm::isPowerOf2_64(total))
    place = arith::AndIOp::create(builder, loc, place, i32(total - 1));
  return lowerTensorMemory(op, [&] { return lowerRole(op, 0, place); });
}

LogicalResult ThreadLowering::lowerRole(WarpGroupsOp op, unsigned number, Value place) {
  RoleAttr attr = op.getRole(number);
  Region &region = op.getBodies()[number];
  bool isLast = number + 1 == op.getBodies().size();
  auto branch = scf::IfOp();
  OpBuilder::InsertionGuard guard(builder);
  if (!isLast) {
    Value mine = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, place,
                                       i32(attr.getTotalWarps()));
    branch = scf::IfOp::create(builder, loc, mine, /*withElseRegion=*/true);
    builder.setInsertionPoint(branch.getThenRegion().front().getTerminator());
  }

  // What the program's threads are to the outside, this role's are to its region.
  Value outerLane = lane, outerWarp = warp;
  OpBuilder::InsertPoint outerPrologue = prologue.saveInsertionPoint();
  auto outerCoordinates = std::exchange(threadCoordinates, decltype(threadCoordinates)());
  // Barriers: one a copy of each role, then one a role.
  Role mine{attr, 1, 1 + number, {}, onlyStartsCopies(region), copiesDirectly(region)};
  for (unsigned i = 0; i < op.getBodies().size(); ++i) {
    mine.firstBarrier += i < number ? op.getRole(i).getCopies() : 0;
    mine.sharedBarrier += op.getRole(i).getCopies();
  }
  int64_t before = chip.getRegistersAtEntry(warps);
  if (attr.getRegisters() && attr.getRegisters() != before) {
    if (!async)
      return op.emitOpError("expected roles of ")
             << before << " registers, which warps of " << target.getSpelling()
             << " keep from the start, got " << attr.getRegisters();
    async->setRegisters(builder, loc, before, attr.getRegisters());
  }
  mine.copy = arith::DivUIOp::create(builder, loc, place, i32(attr.getWarps()));
  warp = arith::RemUIOp::create(builder, loc, place, i32(attr.getWarps()));
  mine.place = place;
  role = mine;
  if (mine.oneThread) {
    auto one = scf::IfOp::create(builder, loc, isFirstThread(), /*withElseRegion=*/false);
    builder.setInsertionPointToStart(&one.getThenRegion().front());
  }
  Value end = index(0);
  prologue.setInsertionPoint(end.getDefiningOp());
  for (auto [capture, argument] : llvm::zip(op.getCaptures(), region.getArguments())) {
    if (isa<ViewType, PointerType>(capture.getType()))
      views[argument] = View(views.find(capture)->second);
    else
      set(argument, get(capture));
  }
  if (failed(lower(region.front())))
    return failure();
  role.reset();
  shareCoordinates.clear();
  lane = outerLane;
  warp = outerWarp;
  prologue.restoreInsertionPoint(outerPrologue);
  threadCoordinates = std::move(outerCoordinates);
  if (isLast)
    return success();
  builder.setInsertionPoint(branch.getElseRegion().front().getTerminator());
  Value rest = arith::SubIOp::create(builder, loc, place, i32(attr.getTotalWarps()));
  return lowerRole(op, number + 1, rest);
}

/// Whether a barrier stands between reads of shared memory and writes of it, or the other way
/// round.
static bool guardsWrites(BarrierOp op) {
  auto isWrite = [](Operation *other) { return isa<WriteOp>(other); };
  Operation *before = op->getPrevNode(), *after = op->getNextNode();
  while (before && !isa<BarrierOp, WriteOp>(before))
    before = before->getPrevNode();
  while (after && !isa<BarrierOp, WriteOp>(after))
    after = after->getNextNode();
  return (before && isWrite(before)) || (after && isWrite(after));
}

/// Whether a barrier tells of what a loop wrote to a ring at the end of the turn before. LLVM (22)
/// forgets this: a wait of its own at the head of a loop goes if nothing is outstanding where the
/// loop is entered.
static bool comesRound(BarrierOp op) {
  auto writes = [](Operation &other) {
    auto put = dyn_cast<PutOp>(other);
    return isa<WriteOp>(other) || (put && !put.getBody().front().getOps<WriteOp>().empty());
  };
  Block &block = *op->getBlock();
  return isa<scf::ForOp>(block.getParentOp()) &&
         llvm::none_of(llvm::make_range(block.begin(), op->getIterator()), writes) &&
         llvm::any_of(llvm::make_range(op->getIterator(), block.end()), writes) &&
         isa<PutOp>(*llvm::find_if(llvm::reverse(block), writes));
}

/// Of all threads of the program.
void ThreadLowering::lowerMeeting(BarrierOp op) {
  meetAll();
  if (op.getGlobal())
    builder.getInsertionBlock()->back().setAttr(kOrdersGlobalAttrName, builder.getUnitAttr());
}

LogicalResult ThreadLowering::lowerBarrier(BarrierOp op) {
  if (!role) {
    lowerMeeting(op);
    return success();
  }
  // Copies that do not lag behind one another come to each barrier together, so where fewer warps
  // have none of their own, all may meet.
  bool meetAlike =
      op.getAllCopies() || role->attr.getCopies() == 1 || (!async && role->attr.getSkew() == 0);
  bool isOfAllWarps = role->attr.getTotalWarps() == warps && meetAlike;
  if (!async && !isOfAllWarps)
    return emitUnsupported(op, target,
                           "expected one role, without a skew, where its copies exchange elements");
  if (op.getPublish())
    async->publishShared(builder, loc);
  if (op.getPublish() && op.getGlobal())
    async->publishGlobal(builder, loc);
  bool ends = comesRound(op);
  if (waves && isOfAllWarps && (op.getGlobal() || !(role->copiesDirectly || ends))) {
    lowerMeeting(op);
    return success();
  }
  if (waves && isOfAllWarps) {
    if (ends || guardsWrites(op) || frees(op))
      waves.waitForShared(builder, loc);
    waves.meet(builder, loc);
    return success();
  }
  if (op.getAllCopies())
    async->groupBarrier(builder, loc, i32(role->sharedBarrier),
                        role->attr.getTotalWarps() * chip.warpSize);
  else
    meetCopy();
  return success();
}

void ThreadLowering::meetCopy() {
  Value number = arith::AddIOp::create(builder, loc, role->copy, i32(role->firstBarrier));
  async->groupBarrier(builder, loc, number, role->attr.getWarps() * chip.warpSize);
}

//===- Buffers of a role --------------------------------------------------------------------===//

LogicalResult ThreadLowering::lowerRoleBuffer(Operation *op) {
  if (auto alloc = dyn_cast<AllocOp>(op)) {
    Value base = getShared(op);
    if (role->attr.getCopies() > 1) {
      BufferType type = alloc.getResult().getType();
      int64_t bytes = ShapedType::getNumElements(type.getShape()) *
                      int64_t(getSharedElementBytes(type.getElementType()));
      Value step = i32(llvm::alignTo(bytes, kEngineAlignment));
      base = getSharedAt(base, arith::MulIOp::create(builder, loc, role->copy, step));
    }
    set(alloc, base);
    return success();
  }
  if (auto write = dyn_cast<WriteOp>(op)) {
    Value base = get(write.getBuffer());
    LinearLayout offsets =
        getBufferOffsets(getLayout(write.getValue()), write.getBuffer().getType());
    SmallVector<Value> elements = getElements(write.getValue());
    accessSlot(write.getBuffer(), [&] {
      if (!writeMatrices(base, offsets, elements))
        writeShared(base, offsets, elements);
    });
    return success();
  }
  auto read = cast<ReadOp>(op);
  BufferType type = read.getBuffer().getType();
  LinearLayout offsets = getBufferOffsets(getLayout(read.getResult()), type);
  int64_t start = getStart(read);
  if (Attribute given = read.getAtomAttr()) {
    auto atom = dyn_cast<WarpCopyAtomInterface>(given);
    if (!atom || !canMove(atom, offsets, start) ||
        !llvm::is_contained(target.getCopyAtoms(type.getElementType()), given))
      return read.emitOpError("expected an atom of ")
             << target.getSpelling() << " that reads " << read.getType() << " from " << type
             << ", got " << given;
    accessSlot(read.getBuffer(), [&] {
      setElements(read.getResult(),
                  readRows(get(read.getBuffer()), offsets, start, type.getElementType(), atom));
    });
    return success();
  }
  accessSlot(read.getBuffer(), [&] {
    setElements(read.getResult(),
                readShared(get(read.getBuffer()), offsets, start, type.getElementType()));
  });
  return success();
}

/// By the lanes of a warp together, if rows of eight elements of 16 bits are spread over four
/// lanes each, in pairs. Each of the 32 lanes names one row: 8 rows of up to 4 matrices.
bool ThreadLowering::writeMatrices(Value base, const LinearLayout &offsets,
                                   ArrayRef<Value> elements) {
  if (!async)
    return false;
  Type type = elements.front().getType();
  ArrayRef<LinearLayout::Basis> registers = offsets.getBases(kRegister);
  ArrayRef<LinearLayout::Basis> lanes = offsets.getBases(kLane);
  if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() != 16 || registers.empty() ||
      lanes.size() != 5 || registers[0][0] != 1 || lanes[0][0] != 2 || lanes[1][0] != 4)
    return false;
  auto startsRow = [](const LinearLayout::Basis &basis) { return basis[0] % 8 == 0; };
  if (!llvm::all_of(lanes.drop_front(2), startsRow) ||
      !llvm::all_of(registers.drop_front(), startsRow) ||
      !llvm::all_of(offsets.getBases(kWarp), startsRow))
    return false;
  unsigned matrixBits = std::min<unsigned>(2, registers.size() - 1);
  // Where rows begin: a lane's low bits are its row, the next ones the matrix.
  LinearLayout::InDim rowLanes{kLane.str(), {}}, rest{kRegister.str(), {}},
      warpBits{kWarp.str(), {}};
  llvm::append_range(rowLanes.bases, lanes.drop_front(2));
  for (unsigned bit = 0; bit < 2; ++bit)
    rowLanes.bases.push_back(bit < matrixBits ? registers[1 + bit] : LinearLayout::Basis{0});
  llvm::append_range(rest.bases, registers.drop_front(1 + matrixBits));
  llvm::append_range(warpBits.bases, offsets.getBases(kWarp));
  std::optional<LinearLayout> rows =
      LinearLayout::create({rest, rowLanes, warpBits}, offsets.getOuts());
  if (!rows)
    return false;
  Place place = getPlace(*rows);
  int64_t matrices = int64_t(1) << matrixBits;
  for (int64_t group = 0; group < rows->getInSize(kRegister); ++group) {
    SmallVector<Value> words;
    for (int64_t matrix = 0; matrix < matrices; ++matrix) {
      int64_t reg = 2 * (group * matrices + matrix);
      Value both = makeVector(builder, loc, elements.slice(reg, 2));
      words.push_back(
          elementAt(builder, loc, castVector(builder, loc, both, builder.getI32Type()), 0));
    }
    Value at = arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                          getCoordinate(place, 0, group));
    at = arith::MulIOp::create(builder, loc, at, i32(2));
    async->storeMatrices(builder, loc, getSharedAt(base, at), words);
  }
  return true;
}
