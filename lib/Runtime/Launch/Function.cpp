// The warm path of a launch.
#include "kiln/Runtime/Launch/Function.h"
#include "Table.h"
#include "kiln/Runtime/Launch/DType.h"
#include "kiln/Runtime/Structure.h"
#include "llvm/ADT/SmallVector.h"
#include <alloca.h>
#include <cstring>

using namespace kiln;
using namespace llvm;

/// What one call needs lives on its stack; this bounds it, at about 120 bytes an argument.
static constexpr size_t maxArguments = 512;

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
    if (!fits || given.rank < -1 || given.rank > KILN_MAX_RANK)
      return makeError(KILN_ERROR_INVALID_ARGUMENT,
                       "kernel '" + name + "': parameter '" + parameter.name +
                           "': expected a kind, a type of that kind and a rank of -1 to " +
                           Twine(KILN_MAX_RANK));
    function->params.push_back(std::move(parameter));
  }
  return std::move(function);
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

/// The first version ended before `cancelled`; it is what a caller has who says nothing.
static inline Error checkOptions(const KilnLaunchOptions *options) {
  if (LLVM_LIKELY(!options || options->struct_size == sizeof(KilnLaunchOptions)) ||
      options->struct_size == 0)
    return Error::success();
  return checkStructure(options, options->struct_size, offsetof(KilnLaunchOptions, cancelled),
                        sizeof(KilnLaunchOptions), "KilnLaunchOptions");
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
    if (plan.ownCluster && traits.cluster[i] != plan.traits.cluster[i])
      return makeError(KILN_ERROR_INVALID_ARGUMENT,
                       "kernel '" + plan.kernel +
                           "': expected the clusters that the kernel is compiled for, of " +
                           Twine(plan.traits.cluster[i]) + " programs along axis " + Twine(i) +
                           ", got " + Twine(traits.cluster[i]));
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
    if (LLVM_UNLIKELY(plan.ownGrid))
      return makeError(KILN_ERROR_INVALID_ARGUMENT,
                       "kernel '" + plan.kernel +
                           "': expected no grid, because the kernel alone knows how many programs "
                           "or blocks make its tiles");
    std::memcpy(grid, options->grid, sizeof(grid));
    // Of clusters the launch makes as many of the grid's as are wanted.
    if (LLVM_UNLIKELY((plan.programs || plan.programsPerCore) && !plan.ownCluster &&
                      (grid[1] > 1 || grid[2] > 1)))
      return makeError(KILN_ERROR_INVALID_ARGUMENT,
                       "kernel '" + plan.kernel +
                           "': expected a grid along x alone, because its programs take all tiles "
                           "in turn, got " +
                           Twine(grid[0]) + ", " + Twine(grid[1]) + ", " + Twine(grid[2]));
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
  if (Error wrong = checkOptions(options)) {
    error = std::move(wrong);
    return KILN_LAUNCH_FAILED;
  }
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
  InUse inUse(*this);
  const Entry *entry = find(words, count);
  if (LLVM_UNLIKELY(!entry)) {
    static thread_local SmallVector<uint64_t, 32> missed;
    missed.assign(words, words + count);
    key = StringRef(reinterpret_cast<const char *>(missed.data()), count * sizeof(uint64_t));
    return KILN_LAUNCH_MISS;
  }
  touch(*entry);
  Error result = launchChecked(*entry->executable, checked, options);
  if (LLVM_LIKELY(!result))
    return KILN_LAUNCH_OK;
  error = std::move(result);
  return KILN_LAUNCH_FAILED;
}

Expected<std::string> Function::key(ArrayRef<KilnArg> args, const KilnLaunchOptions *options) {
  if (Error wrong = checkOptions(options))
    return std::move(wrong);
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
  if (Error wrong = checkOptions(options))
    return wrong;
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
