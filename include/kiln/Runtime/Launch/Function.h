// A kernel of a front end: its parameters and the table of its specialisations.
//
// The table is open-addressed, its entries are never changed once a reader can see them, and what
// is taken out of it lives until no reader can be using it, so a launch reads it without a lock: an
// atomic load of the table, one of the entry, a comparison of a few words.
//
// The specialisations of all functions together have a bound, over which the one that was used
// longest ago goes.
#ifndef KILN_RUNTIME_LAUNCH_FUNCTION_H
#define KILN_RUNTIME_LAUNCH_FUNCTION_H

#include "kiln/Runtime/Launch/Facts.h"
#include <array>
#include <atomic>
#include <mutex>

namespace kiln {

class Function {
public:
  static llvm::Expected<std::unique_ptr<Function>> create(llvm::StringRef name,
                                                          llvm::ArrayRef<KilnParameter> parameters);
  ~Function();

  /// On a miss `key` gets the words, in memory of the calling thread.
  KilnLaunchStatus launch(llvm::ArrayRef<KilnArg> args, const KilnLaunchOptions *options,
                          llvm::StringRef &key, llvm::Error &error);
  llvm::Expected<std::string> key(llvm::ArrayRef<KilnArg> args, const KilnLaunchOptions *options);
  llvm::Error insert(llvm::StringRef key, ExecutablePtr executable);
  void clear();

  const std::vector<Parameter> &parameters() const { return params; }

  /// Of all functions: how many specialisations are loaded, how many may be (0: any number), and
  /// how many went because of that.
  struct Loaded {
    uint64_t now, most, evicted;
  };
  static llvm::Expected<Loaded> describeLoaded();
  static void setMost(uint64_t most);
  /// The variants that a specialisation of this function is loaded of, ascending, each once.
  std::vector<uint64_t> variants();

private:
  struct Entry;
  struct Table;
  struct Registry;
  static constexpr size_t kCounters = 8;
  /// Launches that are between their look-up and their end. Each thread has its counter.
  struct alignas(64) Counter {
    std::atomic<uint64_t> launches{0};
  };
  class InUse {
  public:
    explicit InUse(Function &function) : counter(function.counters[index()]) {
      counter.launches.fetch_add(1, std::memory_order_seq_cst);
    }
    ~InUse() { counter.launches.fetch_sub(1, std::memory_order_release); }

  private:
    static size_t index() {
      static std::atomic<size_t> threads{0};
      static thread_local size_t mine = threads.fetch_add(1) % kCounters;
      return mine;
    }
    Counter &counter;
  };
  /// Taken out, and which counters have been seen at zero since.
  struct Retired {
    std::unique_ptr<Entry> entry;
    std::unique_ptr<Table> table;
    unsigned seenAtRest = 0;
  };
  explicit Function(llvm::StringRef name);
  const Entry *find(const uint64_t *words, size_t count);
  const Entry *findInTable(const uint64_t *words, size_t count, const Entry *last);
  static void touch(const Entry &entry);
  static Entry *place(Table &table, Entry *entry);
  void rebuild(size_t capacity);
  void retire(const Entry *entry);
  bool takeOut(const Entry *entry);
  void collect();

  /// Ticks with each specialisation that is made.
  static std::atomic<uint64_t> clock;

  std::string name;
  std::vector<Parameter> params;
  std::atomic<Table *> table{nullptr};
  std::atomic<const Entry *> recent{nullptr}; ///< what was found or inserted last
  std::mutex mutex;                           ///< of writers
  std::array<Counter, kCounters> counters;
  std::vector<std::unique_ptr<Entry>> entries;
  std::unique_ptr<Table> current; ///< what `table` points to
  std::vector<Retired> retired;
};

/// Launches with arguments that were checked: packs, asks for the grid, runs.
llvm::Error launchChecked(Executable &executable, const Checked *checked,
                          const KilnLaunchOptions *options);

/// A launch without a table: parameters and promises come from the executable's own metadata.
llvm::Error launchExecutable(Executable &executable, llvm::ArrayRef<KilnArg> args,
                             const KilnLaunchOptions *options);

} // namespace kiln

#endif // KILN_RUNTIME_LAUNCH_FUNCTION_H
