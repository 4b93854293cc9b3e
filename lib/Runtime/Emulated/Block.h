// The blocks of a cluster of an emulated chip, or a single one, on one thread of the host.
//
// Each thread of a block is a fibre with a stack of its own. It runs until it comes to a barrier
// or to an instruction that its warp executes together, and goes on when all who must be there have
// come; so every run of a program takes the same course. What threads may not do is found on the
// way: for the lanes of a warp to meet at different places, to leave while others wait, to touch
// memory that no argument covers, to read shared memory that nobody wrote, and to use a byte of it
// that another thread or an engine writes when nothing orders the two.
#ifndef KILN_LIB_RUNTIME_EMULATED_BLOCK_H
#define KILN_LIB_RUNTIME_EMULATED_BLOCK_H

#include "Engines.h"
#include "GlobalMemory.h"
#include "Instructions.h"
#include "Profile.h"
#include "SharedMemory.h"
#include "TensorMemory.h"
#include "Turns.h"
#include "llvm/ADT/DenseMap.h"
#include <csetjmp>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kiln::emulated {

struct Thread;

/// What the block runs, and where it may read and write.
struct Launch {
  void (*kernel)(const uint64_t *slots);
  const uint64_t *slots;
  unsigned threads, warpSize;
  const char *chip = ""; ///< by its name
  uint64_t sharedBytes = 0;
  size_t stackBytes = 0; ///< of a thread, for the kernel's own frames
  uint32_t grid[3];
  /// How many programs the chip keeps at once.
  uint64_t cores = 1, blocksPerCore = 1;
  std::vector<Range> ranges; ///< of global memory
  bool checksGlobal = true;
  bool hasBareBarriers = false; ///< that order no accesses to global memory
  bool blockFencesWait = true;  ///< for writes, which others than the block then find
  /// Whether it may begin before the launch in front of it has ended.
  bool overlaps = false;
  Names names; ///< of what reports tell
  /// Accesses, instructions and trips of loops, of all threads of a block together, after which a
  /// program counts as one that never ends.
  uint64_t mostSteps = uint64_t(1) << 30;
  uint64_t seed = 0;          ///< of the order in which programs and threads go on; 0 is in turn
  Profile *profile = nullptr; ///< if there is to be one
  /// Orders that are watched, if there are any.
  std::shared_ptr<analysis::Watch> watch = nullptr;
};

class Block {
public:
  Block(const Launch &launch, SharedMemory &shared, GlobalMemory &global);
  ~Block();
  /// Whether there was memory for the threads' stacks.
  bool isComplete() const { return complete; }

  // What its cluster asks for (Cluster.h).
  /// The blocks of a cluster know one another from then on.
  static void joinCluster(const std::vector<std::unique_ptr<Block>> &cluster);
  void begin(const uint32_t program[3], const std::shared_ptr<analysis::HappensBefore> &order,
             analysis::Run run, unsigned number);
  /// Runs all threads to where they wait for other blocks, or end; whether any could go on.
  bool advance();
  bool isDone() const { return ended == threads.size(); }
  /// What is wrong up to now, and when all threads have ended, or nothing.
  const std::string &getError() const { return error; }
  std::string finish();
  /// Threads that wait for what nobody can bring any more, the first of each thing that is waited
  /// for, and what all of the cluster do; or nothing.
  std::string describeBlocked() const;
  /// Where each warp of the cluster is and what it waits for, a line each, that begins so.
  std::string describeState(const std::string &prefix = "") const;
  std::string describeProgram() const;
  /// Whether a thread looks at global memory for others to change it; whether they have; and it
  /// looks again.
  bool looks(bool atomically) const;
  bool hasNews() const;
  void lookAgain() { ++lookRound; }
  uint64_t countSteps() const { return steps; }
  std::string describeLook() const;

  // What threads ask for; see lib/Target/Emulated/LowerToHost.h.
  uint32_t getRegister(int number) const;
  void meet(int site);
  void execute(const char *name, const void *operands, void *result, int site);
  void access(uint64_t address, int64_t bytes, int kind, const void *value);
  void accessRow(uint64_t address, int64_t bytes, int kind, unsigned rows);
  /// A step of the running thread, at a site.
  void enter(int site);
  /// It is at a site, where its step comes later.
  void place(int site);
  /// What is wrong with an access to global memory by a thread, at an event, or nothing.
  std::string accessGlobal(unsigned thread, const analysis::Event &event, uint64_t address,
                           int64_t bytes, int kind, const void *value);
  /// A fence of the running thread; the bits are those of accesses.
  void fence(int kind);
  /// One of the proxy, for global memory.
  void fenceProxy();
  /// The running thread waits for the launches in front of this one.
  void waitForLaunch() { global.waitForLaunch(run, shared.agentOf(currentThread())); }
  /// The lanes have waited for what they wrote to global memory.
  void publish(const Lanes &lanes);

  /// The barrier of the cluster's threads, those that have ended not counted.
  void arriveAtCluster();
  void waitForCluster();
  /// The first or the second block of the pair that this one is of, if the cluster has it.
  Block *getOfPair(unsigned place);
  /// Ends products, of any block, whose commits a barrier waits for.
  std::string landCommits(uint64_t barrier);
  /// Where shared memory begins.
  void *getSharedBase() const { return shared.data(); }

  /// A copy of a few bytes that a thread has started and that lands in shared memory only when its
  /// warp has waited for it.
  struct Copy {
    unsigned thread;
    uint64_t address;
    unsigned bytes;
    uint8_t data[16];
  };
  /// The copies of one instruction, a group of their own, of the warp whose first thread this is.
  void startCopies(const Lanes &lanes, const std::vector<Copy> &copies);
  /// One copy of the running thread, which is of no group until the thread ends one.
  void startCopy(const Copy &copy);
  void endGroup(unsigned thread);
  /// Lands all copies of the running thread and tells of that who waits for a barrier.
  void tellOfCopies(unsigned thread, uint64_t barrier);
  /// Until at most so many groups of this thread, or of the warp that it is the first of, are under
  /// way; those who wait know of the others that they have landed.
  void waitForCopies(const Lanes &lanes, unsigned inFlight);

  /// Where products of a warp group that a warp has a part of are in flight: what they read, the
  /// end of a group of them, and the wait for all but so many groups.
  analysis::Event startProduct(unsigned warp);
  void endProducts(unsigned warp);
  void waitForProducts(const Lanes &lanes, unsigned inFlight);
  /// A product reads registers of a warp, which hold these bits, until it has ended. Whether the
  /// same instruction, and so the same registers, still has a product in flight that reads others.
  bool useRegisters(unsigned warp, const analysis::Event &reader, size_t bits);
  /// What a warp's products read and add to in registers was there before; whether it has said so
  /// since its last wait.
  void fenceRegisters(unsigned warp);
  bool hasFencedRegisters(unsigned warp) const;
  /// Where a warp reads tensor memory into registers, and the wait for all of it.
  analysis::Event startReads(unsigned warp);
  void waitForReads(const Lanes &lanes);
  /// Until then a thread's registers hold no values but tags of them, which are no numbers. A
  /// product takes what it adds to by its tag; a wait puts the values of what has ended in their
  /// place.
  uint32_t tagValue(unsigned thread, const analysis::Event &maker, uint32_t bits);
  uint32_t takeValue(unsigned thread, uint32_t bits) const;
  uint32_t fetchValue(unsigned thread, uint32_t bits) const;

  /// The running thread goes on once this holds; `what` says what it waits for.
  void waitUntil(std::function<bool()> mayGo, std::function<std::string()> what);
  Engines engines;
  TensorMemory tensors{engines};

  /// The thread stops here and the program with it.
  [[noreturn]] void fail(const std::string &what);

  /// The same for an instruction that the lanes of a warp execute together.
  void stop(const std::string &what) { error = what; }
  SharedMemory &getShared() { return shared; }
  const SharedMemory &getShared() const { return shared; }
  /// All lanes of a warp have met.
  void meetLanes(const Lanes &lanes);
  /// What an instruction writes to shared memory for a thread; what is wrong, or nothing.
  std::string writeShared(unsigned thread, uint64_t address, const void *data, int64_t bytes);

  unsigned currentThread() const;
  /// What the running thread accessed last of shared memory, and how many phases of barriers that
  /// are words had ended by then.
  struct Look {
    uint64_t address = 0, ended = 0;
  };
  Look getLastLook() const;
  const Launch &launch;
  /// AMD's hidden arguments start with the number of blocks.
  uint32_t hidden[64] = {};

  static Block *current();

private:
  static void runThread();
  void meetAll();
  /// An access to global memory: one that always finds the same waits for others.
  void look(uint64_t address, int64_t bytes, bool isAtomic);
  void resume(Thread &thread);
  void yield();
  bool step(unsigned warp);
  void executeTogether(unsigned warp);
  /// Whether a thread waits for what another one, or an engine, must bring.
  bool isBlocked() const;
  std::string describe(const Thread &thread) const;
  void blame(const std::string &who, int site, const std::string &what);
  /// Of a step that must be looked at.
  void countStep();

  SharedMemory &shared;
  GlobalMemory &global;
  analysis::Run run = 0;
  llvm::DenseMap<const char *, const Instruction *> instructions; ///< by their names' addresses
  std::vector<Block *> cluster = {this};
  std::vector<std::unique_ptr<Thread>> threads;
  size_t ended = 0; ///< of the threads
  /// Work of one kind of a thread, or of a warp: groups, oldest first, each with the tick at whose
  /// end it has ended.
  struct InFlight {
    bool isUsed = false, isFenced = false;
    bool isFencedByWatched = false; ///< by an order that is watched
    analysis::Agent queue = 0;
    std::vector<Copy> ungrouped;
    std::deque<std::pair<analysis::Tick, std::vector<Copy>>> groups;
    size_t landed = 0; ///< of the oldest groups, which the thread has not waited for yet
  };
  InFlight &use(InFlight &work, const char *what);
  InFlight &useCopies(unsigned thread);
  InFlight &useProducts(unsigned warp);
  InFlight &useReads(unsigned warp);
  void land(std::vector<Copy> &group);
  std::string startOne(const InFlight &work, const Copy &copy);
  /// By thread, or by a warp's first thread; by warp; by warp.
  std::vector<InFlight> copies, products, reads;
  /// What a product reads of registers, by its warp and its site.
  struct Registers {
    analysis::Event reader;
    size_t bits = 0;
  };
  llvm::DenseMap<std::pair<unsigned, unsigned>, Registers> registers;
  /// Values that a thread may hold tags of, by the lower bits of their tags.
  struct Value {
    uint32_t tag = 0, bits = 0;
    analysis::Event maker;
  };
  struct Values {
    uint32_t last = 0;
    std::vector<Value> byTag;
  };
  const Value *findValue(unsigned thread, uint32_t tag) const;
  std::vector<Values> values; ///< by thread
  Turns turns;
  Thread *running = nullptr;
  jmp_buf scheduler; ///< where it goes on when a thread waits
  /// Of the cluster's barrier: arrivals, and rounds that have ended. The first block has them.
  unsigned clusterArrivals = 0;
  uint64_t clusterRound = 0;
  analysis::HappensBefore::Place clusterOpen, clusterEnded;
  uint64_t lookRound = 0; ///< of those who wait for global memory to change
  uint32_t program[3] = {0, 0, 0};
  /// And from how many on they are looked at.
  uint64_t steps = 0, quietSteps = 0;
  std::string error;
  bool complete = true;
};

} // namespace kiln::emulated

#endif // KILN_LIB_RUNTIME_EMULATED_BLOCK_H
