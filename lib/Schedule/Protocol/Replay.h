// What of a realised schedule is ordered with what, by the clocks of kiln/Analysis/HappensBefore.h.
//
// All traces are gone through in an order in which they may happen. Which one does not matter: only
// what one tells another orders them. Of each copy of a role there are three threads, or two if it
// has one warp: the first, another lane of its warp, and the first lane of another warp. Those who
// do the same alike need no more, and what one thread does, or one of each warp, differs for these.
// What makes dots into tensor memory makes one after another, so it is a thread, too.
// Places are the barriers of slots, of each use its own, and those at which threads meet. Queues
// are the copies that count at a slot's barrier, a thread's own copies, its stores, and the dots of
// a warp.
//
// Memory is by buffers, not by bytes: of each slot or buffer every thread has a part, which it
// writes, and reads are of all parts. What lies on one another is written over.
//
// A barrier's parity tells a phase from the next one alone. Each phase of a slot's barrier is work
// that ends, so who waits for a phase must know that the one before it has. Who takes all uses of
// its slots has waited for that itself, so this is asked where a copy steps over uses of others.
#ifndef KILN_LIB_SCHEDULE_PROTOCOL_REPLAY_H
#define KILN_LIB_SCHEDULE_PROTOCOL_REPLAY_H

#include "Decoded.h"
#include "kiln/Analysis/AccessHistory.h"
#include <deque>

namespace kiln::protocol {

/// What has memory: a slot of a channel, a buffer of a copy or of the program, or an op's scratch.
struct Piece {
  mlir::Operation *owner;
  unsigned program;
  /// Of a slot, the channel that is captured.
  std::optional<unsigned> channel;
  bool isTensorMemory = false, isOfCopy = false;
  /// Its cells: of each of its buffers some, of which a writer has so many: as many as threads that
  /// write apart.
  size_t first = 0;
  unsigned cells = 0, ofBuffer = 0, ofWriter = 0;

  struct Access {
    analysis::Event event;
    bool isWrite;
    unsigned trace;
    mlir::Operation *op;
    bool isOfOther = false; ///< of what lies at the same place
  };
  std::vector<Access> accesses = {};
  /// By trace that writes here: how many barriers it had published by then, or by the last read of
  /// an engine.
  llvm::SmallVector<std::pair<unsigned, size_t>, 2> shown = {};
  /// Of a slot: what was written last, and for which use; its last release by each trace, and its
  /// last use.
  llvm::SmallVector<std::pair<unsigned, mlir::Operation *>> releases = {};
  llvm::SmallVector<std::pair<size_t, int64_t>, 2> filled = {};
  int64_t use = -1;
  /// Of a slot of a role's own ring: of each copy, the use that it has put last; and how many
  /// have put and not released.
  llvm::SmallVector<int64_t> puts = {};
  int64_t held = 0;
  /// Of a buffer of the program: whether it was ever written. And what has lain on it since.
  bool isWritten = false;
  mlir::Operation *lostTo = nullptr;
  /// What lands here.
  std::optional<analysis::Agent> queue = {};
  /// The pieces that lie where it does.
  llvm::SmallVector<unsigned, 2> covered = {};
};

class Replay {
public:
  Replay(const Decoded &decoded, llvm::ArrayRef<Trace> traces, const Instance &instance);
  mlir::LogicalResult run(const Order &events);
  /// The barriers that let an engine see what it has read.
  llvm::SetVector<mlir::Operation *> needed;

private:
  using Agent = analysis::Agent;
  using Place = analysis::HappensBefore::Place;
  enum Side { Full, Empty };
  enum QueueKind { Copies, OwnCopies, Stores, Dots, kNumQueues };
  struct Queue {
    std::optional<Agent> agent;
    bool isOpen = false;
    std::vector<analysis::Tick> closed;
  };
  /// One phase of a slot's barrier.
  struct Phase {
    Place place;
    int64_t arrivals = 0;
  };

  // Memory.
  void addSlots(unsigned capture);
  void addPiece(Piece piece);
  void addPieces();
  unsigned countCells(unsigned capture, unsigned &ofWriter);
  Piece &getPiece(unsigned trace, const Event &event);
  Piece &getSlot(unsigned program, unsigned channel, int64_t slot);
  /// The cells of a piece that a thread writes, as the first of those and their number.
  std::pair<size_t, size_t> getCells(const Piece &piece, unsigned trace, Agent agent,
                                     unsigned buffer, bool all);
  llvm::MutableArrayRef<analysis::ByteHistory> getHistory(size_t first, size_t count) {
    return llvm::MutableArrayRef(history).slice(first, count);
  }
  std::optional<analysis::Clash> writeCell(analysis::ByteHistory &cell, Agent agent,
                                           const analysis::Event &by) {
    return cell.write(*order, agent, by, /*isSame=*/false, analysis::Reads::NeedFences);
  }
  mlir::LogicalResult read(unsigned trace, Agent agent, const analysis::Event &event, Piece &piece,
                           const Event &what);
  mlir::LogicalResult write(unsigned trace, Agent agent, const analysis::Event &event, Piece &piece,
                            const Event &what, bool all);
  mlir::LogicalResult cover(unsigned trace, Agent agent, const analysis::Event &event, Piece &piece,
                            const Event &what);
  void need(Piece &piece);
  mlir::LogicalResult checkLast();

  // Threads.
  llvm::SmallVector<Agent, 3> getThreads(unsigned trace, Event::Who who);
  Agent getDots(unsigned trace) { return firstThread[trace + 1] - 1; }
  Queue &getQueue(Agent agent, QueueKind kind);
  analysis::Event start(Agent agent, QueueKind kind, analysis::Proxy proxy);
  void waitFor(unsigned trace, const Event &event, QueueKind kind);
  Phase &getPhase(unsigned program, Side side, unsigned channel, int64_t position);
  void arrive(unsigned program, Side side, const Event &event, int64_t arrivals);
  mlir::LogicalResult wait(unsigned trace, const Event &event, Side side, int64_t position);
  mlir::LogicalResult get(unsigned trace, const Event &event);
  mlir::LogicalResult copy(unsigned trace, const Event &event);
  void fill(unsigned trace, const Event &event);
  void release(unsigned trace, const Event &event);
  void meet(unsigned trace, const Event &event);
  void meetLanes(unsigned trace);
  void tellDots(unsigned trace);
  void commit(unsigned trace, Place &place);
  mlir::LogicalResult access(unsigned trace, const Event &event);
  mlir::LogicalResult take(unsigned trace, const Event &event);

  // Errors.
  mlir::LogicalResult blame(std::optional<unsigned> trace, mlir::Operation *op, const Piece &piece,
                            const analysis::Clash &clash, bool isWrite);
  mlir::LogicalResult refuse(mlir::Operation *op, const llvm::Twine &expected, const Piece &piece,
                             llvm::ArrayRef<std::pair<mlir::Operation *, std::string>> notes);
  mlir::LogicalResult refuseOther(mlir::Operation *op, const Piece &piece, mlir::Operation *other);
  const Piece::Access *findAccess(const Piece &piece, const analysis::Event &event,
                                  std::optional<bool> isWrite = std::nullopt);

  bool isOwn(const Piece &piece) { return piece.channel && channels[*piece.channel].isOwn; }
  unsigned getCounting(unsigned program, unsigned channel) {
    return channels[channel].isOfPair ? getFirstOfPair(program) : program;
  }

  tile::WarpGroupsOp groups;
  llvm::ArrayRef<ChannelFacts> channels;
  llvm::ArrayRef<Trace> traces;
  const Overlaps &overlaps;
  llvm::ArrayRef<std::pair<mlir::Operation *, unsigned>> ownMemory;
  const Instance &instance;
  unsigned programs = 1;
  std::vector<Piece> pieces;
  llvm::SmallVector<unsigned> firstSlot; ///< by program and capture
  /// By the op that has it and its program; of buffers that each copy has, by trace.
  llvm::DenseMap<std::pair<mlir::Operation *, unsigned>, llvm::SmallVector<unsigned, 2>> byOwner;
  llvm::DenseMap<std::pair<mlir::Operation *, unsigned>, unsigned> byTrace;
  /// By trace: its first thread, and behind them the first agent that is none of theirs; and the
  /// barriers that it has come to that publish.
  llvm::SmallVector<Agent> firstThread;
  llvm::SmallVector<bool> hasWarps; ///< more than one in each copy
  std::vector<std::vector<mlir::Operation *>> publishes;
  std::vector<std::array<Queue, kNumQueues>> queues; ///< by thread
  std::vector<std::deque<Phase>> phases;             ///< by program, capture and side
  llvm::SmallVector<Agent> barriers;                 ///< by piece and side, if they are asked for
  llvm::DenseSet<std::pair<unsigned, int64_t>> met;  ///< by program and role, and meeting
  bool asksPhases = false;
  /// Who would fill a slot behind its last use, and one who is told nothing.
  Agent ghost = 0, stranger = 0;
  size_t cells = 0;
  std::unique_ptr<analysis::HappensBefore> order;
  std::vector<analysis::ByteHistory> history; ///< by cell
};

} // namespace kiln::protocol

#endif // KILN_LIB_SCHEDULE_PROTOCOL_REPLAY_H
