// A kernel of a front end: its parameters and the table of its specialisations.
//
// The table is open-addressed, its entries are never changed once a reader can see them, and one
// that has grown leaves the one before alive, so a launch reads it without a lock: an atomic load
// of the table, one of the entry, a comparison of a few words.
#ifndef KILN_RUNTIME_LAUNCH_FUNCTION_H
#define KILN_RUNTIME_LAUNCH_FUNCTION_H

#include "kiln/Runtime/Launch/Facts.h"
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

private:
  struct Entry;
  struct Table;
  explicit Function(llvm::StringRef name);
  const Entry *find(const uint64_t *words, size_t count);
  const Entry *findInTable(const uint64_t *words, size_t count, const Entry *last);
  void place(Table &table, Entry *entry);

  std::string name;
  std::vector<Parameter> params;
  std::atomic<Table *> table{nullptr};
  std::atomic<const Entry *> recent{nullptr}; ///< what was found or inserted last
  std::mutex mutex;                           ///< of writers
  std::vector<std::unique_ptr<Entry>> entries;
  std::vector<std::unique_ptr<Table>> tables;
};

/// Launches with arguments that were checked: packs, asks for the grid, runs.
llvm::Error launchChecked(Executable &executable, const Checked *checked,
                          const KilnLaunchOptions *options);

/// A launch without a table: parameters and promises come from the executable's own metadata.
llvm::Error launchExecutable(Executable &executable, llvm::ArrayRef<KilnArg> args,
                             const KilnLaunchOptions *options);

} // namespace kiln

#endif // KILN_RUNTIME_LAUNCH_FUNCTION_H
