// Specialisations: finding them without a lock, adding them, and letting go of those that were used
// longest ago.
//
// A reader counts itself in before it looks and out when its launch has returned (InUse), in one of
// a few counters. What is taken out of the table waits until each of the counters has been seen at
// zero since: no reader from before is left, and none that came after can have found it. Then it
// goes, if the device is done with its code too.
#include "Table.h"
#include "kiln/Runtime/Error.h"
#include "llvm/ADT/STLExtras.h"
#include <cstdlib>
#include <cstring>

using namespace kiln;
using namespace llvm;

static constexpr uint64_t defaultMost = 4096;

std::atomic<uint64_t> Function::clock{1};

//===- All functions ------------------------------------------------------------------------===//

/// Its mutex comes before those of functions.
struct Function::Registry {
  std::mutex mutex;
  std::vector<Function *> functions;
  std::optional<uint64_t> most; ///< once it was asked for
  uint64_t evicted = 0;

  static Registry &get() {
    static auto *registry = new Registry;
    return *registry;
  }

  /// $KILN_MAX_SPECIALISATIONS, unless a caller has set another bound.
  Expected<uint64_t> bound() {
    if (most)
      return *most;
    const char *set = std::getenv("KILN_MAX_SPECIALISATIONS");
    uint64_t number = defaultMost;
    if (set && *set && StringRef(set).getAsInteger(10, number))
      return makeError(KILN_ERROR_INVALID_ARGUMENT,
                       "expected KILN_MAX_SPECIALISATIONS to be a number, 0 for no bound, got '" +
                           Twine(set) + "'");
    most = number;
    return number;
  }

  uint64_t loaded() {
    uint64_t sum = 0;
    for (Function *function : functions) {
      std::lock_guard<std::mutex> lock(function->mutex);
      sum += function->entries.size();
    }
    return sum;
  }

  /// Takes out what was used longest ago, of all functions, until the bound holds.
  void trim(uint64_t bound, const Entry *keep) {
    for (uint64_t count = loaded(); bound && count > bound; --count) {
      Function *owner = nullptr;
      const Entry *oldest = nullptr;
      uint64_t time = UINT64_MAX;
      for (Function *function : functions) {
        std::lock_guard<std::mutex> lock(function->mutex);
        for (const std::unique_ptr<Entry> &entry : function->entries)
          if (uint64_t used = entry->used.load(std::memory_order_relaxed);
              entry.get() != keep && used < time) {
            owner = function;
            oldest = entry.get();
            time = used;
          }
      }
      if (!owner || !owner->takeOut(oldest))
        return;
      ++evicted;
    }
  }
};

Function::Function(StringRef name) : name(name.str()) {
  Registry &registry = Registry::get();
  std::lock_guard<std::mutex> lock(registry.mutex);
  registry.functions.push_back(this);
}

Function::~Function() {
  Registry &registry = Registry::get();
  std::lock_guard<std::mutex> lock(registry.mutex);
  erase(registry.functions, this);
}

Expected<Function::Loaded> Function::describeLoaded() {
  Registry &registry = Registry::get();
  std::lock_guard<std::mutex> lock(registry.mutex);
  Expected<uint64_t> bound = registry.bound();
  if (!bound)
    return bound.takeError();
  return Loaded{registry.loaded(), *bound, registry.evicted};
}

void Function::setMost(uint64_t most) {
  Registry &registry = Registry::get();
  std::lock_guard<std::mutex> lock(registry.mutex);
  registry.most = most;
  registry.trim(most, nullptr);
  for (Function *function : registry.functions)
    function->collect();
}

std::vector<uint64_t> Function::variants() {
  std::vector<uint64_t> out;
  {
    std::lock_guard<std::mutex> lock(mutex);
    for (const std::unique_ptr<Entry> &entry : entries)
      out.push_back(entry->words[0]);
  }
  llvm::sort(out);
  out.erase(llvm::unique(out), out.end());
  return out;
}

//===- Looking up ---------------------------------------------------------------------------===//

/// A sum of products, which need not wait for each other; the factors are odd.
static inline uint64_t hashWords(const uint64_t *words, size_t count) {
  uint64_t hash = count, factor = 0x9e3779b97f4a7c15;
  for (size_t i = 0; i < count; ++i, factor += 0xbf58476d1ce4e5b8)
    hash += words[i] * factor;
  hash = (hash ^ hash >> 32) * 0xff51afd7ed558ccd;
  return hash ^ hash >> 32;
}

const Function::Entry *Function::findInTable(const uint64_t *words, size_t count,
                                             const Entry *last) {
  const Table *now = table.load(std::memory_order_seq_cst);
  if (!now)
    return nullptr;
  uint64_t hash = hashWords(words, count);
  for (size_t at = hash & now->mask;; at = (at + 1) & now->mask) {
    const Entry *entry = now->slots[at].load(std::memory_order_acquire);
    if (!entry)
      return nullptr;
    if (entry->hash == hash && entry->count == count &&
        equalWords(entry->words.get(), words, count)) {
      // Not if it was set since: an entry may have been replaced meanwhile.
      recent.compare_exchange_strong(last, entry, std::memory_order_seq_cst,
                                     std::memory_order_relaxed);
      return entry;
    }
  }
}

//===- Changing -----------------------------------------------------------------------------===//

/// Where the key is, or else in the first empty slot. The table has one. Returns what was there.
Function::Entry *Function::place(Table &into, Entry *entry) {
  for (size_t at = entry->hash & into.mask;; at = (at + 1) & into.mask) {
    Entry *there = into.slots[at].load(std::memory_order_relaxed);
    bool isSame = there && there->hash == entry->hash && there->count == entry->count &&
                  equalWords(there->words.get(), entry->words.get(), entry->count);
    if (there && !isSame)
      continue;
    into.used += !there;
    into.slots[at].store(entry, std::memory_order_release);
    return there;
  }
}

/// Makes a table of all entries the current one.
void Function::rebuild(size_t capacity) {
  auto made = std::make_unique<Table>(capacity);
  for (const std::unique_ptr<Entry> &entry : entries)
    place(*made, entry.get());
  table.store(made.get(), std::memory_order_seq_cst);
  std::swap(current, made);
  if (made)
    retired.push_back({nullptr, std::move(made)});
}

void Function::retire(const Entry *entry) {
  auto found = find_if(entries, [&](const auto &one) { return one.get() == entry; });
  const Entry *expected = entry;
  recent.compare_exchange_strong(expected, nullptr, std::memory_order_seq_cst);
  retired.push_back({std::move(*found), nullptr});
  entries.erase(found);
}

Error Function::insert(StringRef key, ExecutablePtr executable) {
  auto entry = std::make_unique<Entry>();
  entry->count = key.size() / 8;
  if (key.size() % 8 || entry->count < 2)
    return makeError(KILN_ERROR_INVALID_ARGUMENT, "kernel '" + name +
                                                      "': expected a launch key, "
                                                      "got " +
                                                      Twine(key.size()) + " bytes");
  entry->words.reset(new uint64_t[entry->count]);
  std::memcpy(entry->words.get(), key.data(), key.size());
  if (deviceByNumber(uint32_t(entry->words[1])) != &executable->device)
    return makeError(KILN_ERROR_INVALID_ARGUMENT,
                     "kernel '" + name +
                         "': expected an executable of the key's device, got one "
                         "of '" +
                         executable->device.name + "'");
  // The packer reads arguments by the executable's word: they must be those of this function.
  const LaunchPlan &plan = executable->plan;
  bool fits = plan.arguments.size() == params.size();
  for (size_t i = 0; fits && i < params.size(); ++i) {
    bool isScalar =
        plan.arguments[i].kind != KILN_ARG_TENSOR && plan.arguments[i].kind != KILN_ARG_POINTER;
    bool wantsScalar = params[i].kind != KILN_ARG_TENSOR && params[i].kind != KILN_ARG_POINTER;
    fits = isScalar ? wantsScalar : plan.arguments[i].kind == params[i].kind;
  }
  // A tensor's rank is in its key; the executable must not look beyond it.
  size_t at = 2;
  for (size_t i = 0; fits && i < params.size(); ++i) {
    bool isTensor = params[i].kind == KILN_ARG_TENSOR;
    fits = at < entry->count &&
           (!isTensor || (entry->words[at] >> 12 & 15) == plan.arguments[i].shape.size());
    at += isTensor ? 2 : 1;
  }
  if (!fits || at != entry->count)
    return makeError(KILN_ERROR_INVALID_ARGUMENT,
                     "kernel '" + name +
                         "': expected an executable that takes the arguments of "
                         "the key, got kernel '" +
                         plan.kernel + "' with others");
  entry->hash = hashWords(entry->words.get(), entry->count);
  entry->executable = std::move(executable);
  entry->used = ++clock;

  Registry &registry = Registry::get();
  std::lock_guard<std::mutex> all(registry.mutex);
  Expected<uint64_t> bound = registry.bound();
  if (!bound)
    return bound.takeError();
  const Entry *added = entry.get();
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!current || (current->used + 1) * 2 > current->mask + 1)
      rebuild(current ? (current->mask + 1) * 2 : 16);
    Entry *before = place(*current, entry.get());
    entries.push_back(std::move(entry));
    if (before)
      retire(before);
    recent.store(added, std::memory_order_seq_cst);
  }
  registry.trim(*bound, added);
  collect();
  return Error::success();
}

/// A table of a quarter of the slots is enough for those that are left, if it is far too large.
bool Function::takeOut(const Entry *entry) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (none_of(entries, [&](const auto &one) { return one.get() == entry; }))
      return false;
    retire(entry);
    size_t capacity = current->mask + 1;
    rebuild(capacity > 16 && entries.size() * 8 < capacity ? capacity / 2 : capacity);
  }
  collect();
  return true;
}

/// Lets go of what nobody can be using. Destroyed without the mutex: a device may have to be waited
/// for.
void Function::collect() {
  std::vector<Retired> quiet;
  {
    std::lock_guard<std::mutex> lock(mutex);
    unsigned atRest = 0;
    for (size_t i = 0; i < counters.size(); ++i)
      if (counters[i].launches.load(std::memory_order_seq_cst) == 0)
        atRest |= 1u << i;
    constexpr unsigned allAtRest = (1u << kCounters) - 1;
    for (size_t i = 0; i < retired.size();) {
      Retired &one = retired[i];
      one.seenAtRest |= atRest;
      // A reader of the old table may have made it the recent one; then it takes another round.
      const Entry *expected = one.entry.get();
      if (one.seenAtRest == allAtRest && expected &&
          recent.compare_exchange_strong(expected, nullptr, std::memory_order_seq_cst))
        one.seenAtRest = 0;
      if (one.seenAtRest != allAtRest) {
        ++i;
        continue;
      }
      quiet.push_back(std::move(one));
      retired.erase(retired.begin() + i);
    }
  }
  // What a graph holds, or a device is not done with, waits on.
  erase_if(quiet, [](Retired &one) { return !one.entry || one.entry->executable->settle(); });
  std::lock_guard<std::mutex> lock(mutex);
  for (Retired &one : quiet)
    retired.push_back(std::move(one));
}

void Function::clear() {
  std::lock_guard<std::mutex> lock(mutex);
  table.store(nullptr, std::memory_order_seq_cst);
  recent.store(nullptr, std::memory_order_seq_cst);
  current.reset();
  retired.clear();
  entries.clear();
}
