// What of a program's memory is read and written, and what clashes there.
#include "Replay.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Target/Common/SharedPieces.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::protocol;
using namespace kiln::tile;
using analysis::Clash;
using analysis::Proxy;

/// The threads of a copy that write apart.
static constexpr unsigned kWriters = 3;

//===- Pieces -------------------------------------------------------------------------------===//

void Replay::addPiece(Piece piece) {
  piece.first = cells;
  cells += piece.cells;
  byOwner[{piece.owner, piece.program}].push_back(pieces.size());
  pieces.push_back(std::move(piece));
}

/// Of a slot: how many copies fill it, each with one part, or with one for each thread.
unsigned Replay::countCells(unsigned capture, unsigned &ofWriter) {
  unsigned copies = 1;
  ofWriter = kWriters;
  for (Region &region : groups.getBodies())
    for (Operation *user : region.getArgument(capture).getUsers())
      if (auto put = dyn_cast<PutOp>(user)) {
        copies = groups.getRole(region.getRegionNumber()).getCopies();
        ofWriter = put.getBytes() > 0 ? 1 : kWriters;
      }
  return copies * programs * ofWriter;
}

void Replay::addSlots(unsigned capture) {
  ChannelOp channel = channels[capture].op;
  bool isOfSums = channel.getType().getAccumulator() != nullptr;
  unsigned ofWriter = kWriters, count = isOfSums ? kWriters : countCells(capture, ofWriter);
  for (unsigned program = 0; program < programs; ++program) {
    firstSlot[program * channels.size() + capture] = pieces.size();
    for (int64_t slot = 0; slot < int64_t(channel.getType().getDepth()); ++slot) {
      Piece piece{channel, program, capture, isOfSums};
      piece.ofBuffer = count;
      piece.cells = count * std::max<size_t>(channel.getType().getBuffers().size(), 1);
      piece.ofWriter = ofWriter;
      piece.puts.assign(count / ofWriter / programs, -1);
      addPiece(std::move(piece));
    }
  }
}

void Replay::addPieces() {
  firstSlot.resize(programs * channels.size());
  for (unsigned i = 0; i < channels.size(); ++i)
    if (channels[i].op)
      addSlots(i);
  for (Value capture : groups.getCaptures())
    if (auto alloc = capture.getDefiningOp<AllocOp>())
      for (unsigned program = 0; program < programs; ++program)
        addPiece({alloc, program, {}, false, false, 0, kWriters, kWriters, kWriters});
  for (auto [op, role] : ownMemory)
    for (auto [i, trace] : llvm::enumerate(traces))
      if (trace.role == role) {
        byTrace[{op, unsigned(i)}] = pieces.size();
        addPiece({op, trace.program, {}, false, true, 0, kWriters, kWriters, kWriters});
      }
  for (Piece &piece : pieces)
    for (Operation *other : overlaps.of(piece.owner))
      llvm::append_range(piece.covered, byOwner[{other, piece.program}]);
}

Piece &Replay::getSlot(unsigned program, unsigned channel, int64_t slot) {
  return pieces[firstSlot[program * channels.size() + channel] + slot];
}

Piece &Replay::getPiece(unsigned trace, const Event &event) {
  if (!event.piece)
    return getSlot(traces[trace].program, event.channel, event.slot);
  auto at = byTrace.find({event.piece, trace});
  return pieces[at != byTrace.end() ? at->second
                                    : byOwner[{event.piece, traces[trace].program}].front()];
}

std::pair<size_t, size_t> Replay::getCells(const Piece &piece, unsigned trace, Agent agent,
                                           unsigned buffer, bool all) {
  size_t first = piece.first + buffer * piece.ofBuffer;
  if (piece.channel && !piece.isTensorMemory) {
    unsigned writers = piece.ofBuffer / piece.ofWriter;
    unsigned writer = traces[trace].program * (writers / programs) + traces[trace].copy;
    first += writer % writers * piece.ofWriter;
  }
  if (all || piece.ofWriter == 1)
    return {first, piece.ofWriter};
  return {first + (agent - firstThread[trace]), 1};
}

Overlaps::Overlaps(WarpGroupsOp groups) {
  PlacedPieces placed = findPlacedPieces(cast<KernelOp>(groups->getParentOp()));
  for (auto [one, other] : placed.overlaps) {
    others[placed.found.ops[one]].push_back(placed.found.ops[other]);
    others[placed.found.ops[other]].push_back(placed.found.ops[one]);
  }
}

//===- Accesses -----------------------------------------------------------------------------===//

/// What an engine finds it finds by the barriers that have published since it was written.
void Replay::need(Piece &piece) {
  for (auto &[trace, shown] : piece.shown) {
    needed.insert_range(ArrayRef(publishes[trace]).drop_front(shown));
    shown = publishes[trace].size();
  }
}

LogicalResult Replay::read(unsigned trace, Agent agent, const analysis::Event &by, Piece &piece,
                           const Event &event) {
  if (piece.lostTo)
    return refuse(event.op,
                  "expected the buffer to hold what was written to it, got one that shares its "
                  "place of shared memory with what was used since",
                  piece, {{piece.lostTo, "its place is used here"}});
  if (!piece.channel && !piece.isOfCopy && !piece.isWritten)
    return refuse(event.op,
                  "expected the buffer to be written in front of a tile.barrier all_copies before "
                  "it is read",
                  piece, {});
  // Of sums each fetches its own rows.
  bool isOwnPart = piece.isTensorMemory && event.kind == Event::Read;
  auto [first, count] =
      isOwnPart
          ? getCells(piece, trace, agent, event.buffer, /*all=*/false)
          : std::pair<size_t, size_t>(piece.first + event.buffer * piece.ofBuffer, piece.ofBuffer);
  for (analysis::ByteHistory &cell : getHistory(first, count))
    if (std::optional<Clash> clash = cell.read(*order, agent, by))
      return blame(trace, event.op, piece, *clash, /*isWrite=*/false);
  piece.accesses.push_back({by, false, trace, event.op});
  if (by.proxy == Proxy::Async)
    need(piece);
  return success();
}

LogicalResult Replay::write(unsigned trace, Agent agent, const analysis::Event &by, Piece &piece,
                            const Event &event, bool all) {
  for (unsigned number : piece.covered)
    if (pieces[number].held > 0)
      return refuse(event.op,
                    "expected a place of shared memory that nobody needs, got that of a ring "
                    "with slots that are filled and not released",
                    pieces[number], {});
  auto [first, count] = getCells(piece, trace, agent, event.buffer, all);
  // Several copies of one put each fill a part of theirs.
  if (isa<PutOp>(event.op->getParentOp())) {
    auto at =
        llvm::find_if(piece.filled, [&, first = first](auto &it) { return it.first == first; });
    if (at == piece.filled.end())
      at = piece.filled.insert(at, {first, -1});
    if (std::exchange(at->second, event.position) == event.position)
      return success();
  }
  for (analysis::ByteHistory &cell : getHistory(first, count))
    if (std::optional<Clash> clash = writeCell(cell, agent, by))
      return blame(trace, event.op, piece, *clash, /*isWrite=*/true);
  piece.accesses.push_back({by, true, trace, event.op});
  piece.isWritten = true;
  piece.lostTo = nullptr;
  if (by.proxy == Proxy::Generic) {
    auto at = llvm::find_if(piece.shown, [&](auto &it) { return it.first == trace; });
    if (at == piece.shown.end())
      at = piece.shown.insert(at, {trace, 0});
    at->second = publishes[trace].size();
  }
  return cover(trace, agent, by, piece, event);
}

/// What lies where this piece does is written over, in whatever parts.
LogicalResult Replay::cover(unsigned trace, Agent agent, const analysis::Event &by, Piece &piece,
                            const Event &event) {
  for (unsigned number : piece.covered) {
    Piece &covered = pieces[number];
    for (analysis::ByteHistory &cell : getHistory(covered.first, covered.cells))
      if (std::optional<Clash> clash = cell.update(*order, agent, by)) {
        const Piece::Access *access = findAccess(covered, clash->other);
        return refuseOther(event.op, covered, access ? access->op : covered.owner);
      }
    covered.accesses.push_back({by, true, trace, event.op, /*isOfOther=*/true});
    covered.lostTo = event.op;
  }
  return success();
}

/// Nobody fills a slot again behind its last use; who would finds all that read it done.
LogicalResult Replay::checkLast() {
  for (Piece &piece : pieces) {
    if (!piece.channel || isOwn(piece) || piece.use < 0)
      continue;
    Agent thread = ghost;
    order->know(thread, stranger);
    order->acquire(thread, getPhase(piece.program, Empty, *piece.channel, piece.use).place);
    analysis::Event by = order->now(thread);
    by.proxy = channels[*piece.channel].isFilledByEngine ? Proxy::Async : Proxy::Generic;
    for (analysis::ByteHistory &cell : getHistory(piece.first, piece.cells))
      if (std::optional<Clash> clash = writeCell(cell, thread, by))
        return blame(std::nullopt, nullptr, piece, *clash, /*isWrite=*/true);
  }
  return success();
}
