// The warm path of a launch, and the table behind it.
#include "kiln/Runtime/Launch/Function.h"
#include "kiln/Runtime/Error.h"
#include "kiln/Runtime/Launch/DType.h"
#include "llvm/ADT/SmallVector.h"
#include <alloca.h>
#include <cstring>

using namespace kiln;
using namespace llvm;

/// What one call needs lives on its stack; this bounds it, at about 120 bytes an argument.
static constexpr size_t maxArguments = 512;

struct Function::Entry {
  uint64_t hash;
  size_t count;
  std::unique_ptr<uint64_t[]> words;
  ExecutablePtr executable;
};

struct Function::Table {
  explicit Table(size_t capacity)
      : mask(capacity - 1), slots(new std::atomic<Entry *>[capacity]()) {}
  size_t mask, used = 0;
  std::unique_ptr<std::atomic<Entry *>[]> slots;
};

/// A sum of products, which need not wait for each other; the factors are odd.
static inline uint64_t hashWords(const uint64_t *words, size_t count) {
  uint64_t hash = count, factor = 0x9e3779b97f4a7c15;
  for (size_t i = 0; i < count; ++i, factor += 0xbf58476d1ce4e5b8)
    hash += words[i] * factor;
  hash = (hash ^ hash >> 32) * 0xff51afd7ed558ccd;
  return hash ^ hash >> 32;
}

static inline bool equalWords(const uint64_t *left, const uint64_t *right, size_t count) {
  uint64_t differ = 0;
  for (size_t i = 0; i < count; ++i)
    differ |= left[i] ^ right[i];
  return differ == 0;
}

//===- Making -------------------------------------------------------------------------------===//

Expected<std::unique_ptr<Function>> Function::create(StringRef name,
                                                     ArrayRef<KilnParameter> parameters) {
  std::unique_ptr<Function> function(new Function(name));
  if (parameters.size() > maxArguments)
    return makeError(KILN_ERROR_INVALID_ARGUMENT, "kernel '" + name + "': expected at most " +
                                                      Twine(maxArguments) + " arguments, got " +
                                                      Twine(parameters.size()));
  for (const KilnParameter &given : parameters) {
    Parameter parameter{given.name ? given.name : "", KilnArgKind(given.kind), given.dtype,
                        given.rank, given.facts};
    DTypeInfo::Kind kind = dtypeInfo(given.dtype).kind;
    bool isNone = given.dtype == KILN_NONE;
    bool fits = isNone || kind != DTypeInfo::None;
    switch (given.kind) {
    case KILN_ARG_TENSOR:
      break;
    case KILN_ARG_POINTER:
      parameter.dtype = isNone ? int32_t(KILN_U8) : given.dtype;
      break;
    case KILN_ARG_INTEGER:
      parameter.dtype = isNone ? int32_t(KILN_I64) : given.dtype;
      fits &= isNone || kind == DTypeInfo::Signed || kind == DTypeInfo::Unsigned;
      break;
    case KILN_ARG_FLOAT:
      parameter.dtype = isNone ? int32_t(KILN_F32) : given.dtype;
      fits &= isNone || kind == DTypeInfo::Float;
      break;
    case KILN_ARG_BOOL:
      parameter.dtype = KILN_BOOL;
      fits &= isNone || kind == DTypeInfo::Bool;
      break;
    default:
      fits = false;
    }
    if (!fits || given.rank > KILN_MAX_RANK)
      return makeError(KILN_ERROR_INVALID_ARGUMENT,
                       "kernel '" + name + "': parameter '" + parameter.name +
                           "': expected a kind, a type of that kind and a rank of at most " +
                           Twine(KILN_MAX_RANK));
    function->params.push_back(std::move(parameter));
  }
  return std::move(function);
}

Function::Function(StringRef name) : name(name.str()) {}
Function::~Function() = default;

//===- The table ----------------------------------------------------------------------------===//

/// Mostly it is what the launch before it found, which needs no hash.
inline const Function::Entry *Function::find(const uint64_t *words, size_t count) {
  const Entry *last = recent.load(std::memory_order_acquire);
  bool again = last && last->count == count && equalWords(last->words.get(), words, count);
  return LLVM_LIKELY(again) ? last : findInTable(words, count, last);
}

const Function::Entry *Function::findInTable(const uint64_t *words, size_t count,
                                             const Entry *last) {
  const Table *now = table.load(std::memory_order_acquire);
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
      recent.compare_exchange_strong(last, entry, std::memory_order_acq_rel,
                                     std::memory_order_relaxed);
      return entry;
    }
  }
}

/// Where the key is, or else in the first empty slot. The table has one.
void Function::place(Table &into, Entry *entry) {
  for (size_t at = entry->hash & into.mask;; at = (at + 1) & into.mask) {
    Entry *there = into.slots[at].load(std::memory_order_relaxed);
    bool isSame = there && there->hash == entry->hash && there->count == entry->count &&
                  equalWords(there->words.get(), entry->words.get(), entry->count);
    if (there && !isSame)
      continue;
    into.used += !there;
    into.slots[at].store(entry, std::memory_order_release);
    return;
  }
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

  std::lock_guard<std::mutex> lock(mutex);
  Table *now = table.load(std::memory_order_relaxed);
  if (!now || (now->used + 1) * 2 > now->mask + 1) {
    tables.push_back(std::make_unique<Table>(now ? (now->mask + 1) * 2 : 16));
    Table *larger = tables.back().get();
    for (size_t i = 0; now && i <= now->mask; ++i)
      if (Entry *old = now->slots[i].load(std::memory_order_relaxed))
        place(*larger, old);
    now = larger;
  }
  place(*now, entry.get());
  table.store(now, std::memory_order_release);
  recent.store(entry.get(), std::memory_order_release);
  entries.push_back(std::move(entry));
  return Error::success();
}

void Function::clear() {
  std::lock_guard<std::mutex> lock(mutex);
  table.store(nullptr, std::memory_order_release);
  recent.store(nullptr, std::memory_order_release);
  tables.clear();
  entries.clear();
}

//===- Launching ----------------------------------------------------------------------------===//

/// Whether the caller's structure reaches to the end of that member.
template <typename Member>
static inline bool has(const KilnLaunchOptions *options, Member KilnLaunchOptions::*member) {
  if (LLVM_UNLIKELY(!options))
    return false;
  auto *end = reinterpret_cast<const char *>(&(options->*member) + 1);
  return LLVM_LIKELY(size_t(end - reinterpret_cast<const char *>(options)) <= options->struct_size);
}

static inline bool asksForTraits(const KilnLaunchOptions &options) {
  const int64_t *cluster = options.cluster;
  return (cluster[0] | cluster[1] | cluster[2]) || options.cooperative || options.overlap ||
         options.has_priority;
}

/// What the call asks for on top of what the artifact says. An extent that is not given is 1.
static Error mergeTraits(const LaunchPlan &plan, const KilnLaunchOptions &options,
                         LaunchTraits &traits) {
  const int64_t *cluster = options.cluster;
  for (int i = 0; i < 3 && (cluster[0] | cluster[1] | cluster[2]); ++i) {
    if (cluster[i] < 0 || cluster[i] > maxClusterExtent)
      return makeError(KILN_ERROR_INVALID_ARGUMENT,
                       "kernel '" + plan.kernel + "': expected clusters of extents from 1 to " +
                           Twine(maxClusterExtent) + ", got " + Twine(cluster[i]));
    traits.cluster[i] = std::max(cluster[i], int64_t(1));
  }
  traits.cooperative |= options.cooperative != 0;
  traits.overlap |= options.overlap != 0;
  traits.hasPriority = options.has_priority != 0;
  traits.priority = options.priority;
  return Error::success();
}

Error kiln::launchChecked(Executable &executable, const Checked *checked,
                          const KilnLaunchOptions *options) {
  const LaunchPlan &plan = executable.plan;
  auto *slots = static_cast<uint64_t *>(alloca((plan.slots.size() + 1) * sizeof(uint64_t)));
  packSlots(plan, checked, slots);
  int64_t grid[3] = {1, 1, 1};
  if (options && options->has_grid) {
    std::memcpy(grid, options->grid, sizeof(grid));
    if (LLVM_UNLIKELY(grid[0] < 0 || grid[1] < 0 || grid[2] < 0))
      return makeError(KILN_ERROR_INVALID_ARGUMENT,
                       "kernel '" + plan.kernel +
                           "': expected a grid of extents of at least 0, "
                           "got " +
                           Twine(grid[0]) + ", " + Twine(grid[1]) + ", " + Twine(grid[2]));
  } else if (LLVM_LIKELY(plan.hasGrid)) {
    executable.computeGrid(slots, grid);
  } else {
    return makeError(KILN_ERROR_INVALID_ARGUMENT, "kernel '" + plan.kernel +
                                                      "': expected a grid, because the kernel "
                                                      "has none of its own");
  }
  LaunchContext context;
  LaunchTraits traits;
  auto cancelled = [&] { return options->cancelled(options->user_data) != 0; };
  if (options)
    context.stream = options->stream;
  // A caller of an older library's headers has no such members.
  if (has(options, &KilnLaunchOptions::user_data) && options->cancelled)
    context.cancelled = cancelled;
  if (has(options, &KilnLaunchOptions::priority) && asksForTraits(*options)) {
    traits = plan.traits;
    if (Error error = mergeTraits(plan, *options, traits))
      return error;
    context.traits = &traits;
  }
  return executable.run(slots, grid, context);
}

KilnLaunchStatus Function::launch(ArrayRef<KilnArg> args, const KilnLaunchOptions *options,
                                  StringRef &key, Error &error) {
  Expected<Device *> device = chooseDevice(args, options);
  if (LLVM_UNLIKELY(!device)) {
    error = device.takeError();
    return KILN_LAUNCH_FAILED;
  }
  size_t n = params.size();
  auto *words = static_cast<uint64_t *>(alloca(keyWords(n) * sizeof(uint64_t)));
  auto *checked = static_cast<Checked *>(alloca((n + 1) * sizeof(Checked)));
  auto *strides = static_cast<int64_t *>(alloca((n + 1) * KILN_MAX_RANK * sizeof(int64_t)));
  size_t count = computeKey(name, params, args, options ? options->variant : 0, **device, words,
                            checked, strides, error);
  if (LLVM_UNLIKELY(count == 0))
    return KILN_LAUNCH_FAILED;
  const Entry *entry = find(words, count);
  if (LLVM_UNLIKELY(!entry)) {
    static thread_local SmallVector<uint64_t, 32> missed;
    missed.assign(words, words + count);
    key = StringRef(reinterpret_cast<const char *>(missed.data()), count * sizeof(uint64_t));
    return KILN_LAUNCH_MISS;
  }
  Error result = launchChecked(*entry->executable, checked, options);
  if (LLVM_LIKELY(!result))
    return KILN_LAUNCH_OK;
  error = std::move(result);
  return KILN_LAUNCH_FAILED;
}

Expected<std::string> Function::key(ArrayRef<KilnArg> args, const KilnLaunchOptions *options) {
  Expected<Device *> device = chooseDevice(args, options);
  if (!device)
    return device.takeError();
  size_t n = params.size();
  std::vector<uint64_t> words(keyWords(n));
  std::vector<Checked> checked(n);
  std::vector<int64_t> strides(n * KILN_MAX_RANK);
  Error error = Error::success();
  size_t count = computeKey(name, params, args, options ? options->variant : 0, **device,
                            words.data(), checked.data(), strides.data(), error);
  if (count == 0)
    return std::move(error);
  cantFail(std::move(error));
  return std::string(reinterpret_cast<const char *>(words.data()), count * sizeof(uint64_t));
}

Error kiln::launchExecutable(Executable &executable, ArrayRef<KilnArg> args,
                             const KilnLaunchOptions *options) {
  const LaunchPlan &plan = executable.plan;
  if (options && options->device &&
      reinterpret_cast<Device *>(options->device) != &executable.device)
    return makeError(KILN_ERROR_INVALID_ARGUMENT, "kernel '" + plan.kernel +
                                                      "': expected the executable's device '" +
                                                      executable.device.name + "', got another");
  std::vector<Parameter> parameters;
  for (auto [i, argument] : enumerate(plan.arguments)) {
    int32_t dtype = dtypeOfIR(argument.type);
    // The IR has no signs: a caller's unsigned type stands for the same bits.
    if (argument.kind == KILN_ARG_TENSOR && i < args.size() && args[i].kind == KILN_ARG_TENSOR) {
      int32_t given = args[i].value.tensor.dtype;
      if (StringRef(dtypeInfo(given).irName) == argument.type ||
          (given == KILN_BOOL && dtype == KILN_BOOL))
        dtype = given;
    }
    parameters.push_back({argument.name, argument.kind, dtype,
                          argument.kind == KILN_ARG_TENSOR ? int32_t(argument.shape.size()) : -1,
                          KILN_FACTS_DEFAULT});
  }
  size_t n = parameters.size();
  std::vector<uint64_t> words(keyWords(n));
  std::vector<Checked> checked(n);
  std::vector<int64_t> strides(n * KILN_MAX_RANK);
  Error error = Error::success();
  if (computeKey(plan.kernel, parameters, args, 0, executable.device, words.data(), checked.data(),
                 strides.data(), error) == 0)
    return error;
  cantFail(std::move(error));
  if (Error broken = checkPromises(plan, args, checked.data()))
    return broken;
  std::vector<uint64_t> slots(plan.slots.size() + 1);
  packSlots(plan, checked.data(), slots.data());
  int64_t grid[3] = {1, 1, 1};
  if (options && options->has_grid)
    std::memcpy(grid, options->grid, sizeof(grid));
  else if (plan.hasGrid)
    executable.computeGrid(slots.data(), grid);
  if (grid[0] && grid[1] && grid[2])
    if (Error broken = checkNotEmpty(plan, checked.data()))
      return broken;
  return launchChecked(executable, checked.data(), options);
}
