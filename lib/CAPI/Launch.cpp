// kiln-c/Launch.h.
#include "Objects.h"
#include "kiln/Runtime/Launch/DType.h"

using namespace kiln;
using namespace kiln::capi;
using namespace llvm;

KilnString kilnDTypeGetName(KilnDType dtype) { return string(dtypeInfo(dtype).name); }
KilnString kilnDTypeGetIRName(KilnDType dtype) { return string(dtypeInfo(dtype).irName); }
uint32_t kilnDTypeGetBits(KilnDType dtype) { return dtypeInfo(dtype).bits; }

void kilnLaunchOptionsInit(KilnLaunchOptions *options) {
  if (!options)
    return;
  *options = {};
  options->struct_size = sizeof(KilnLaunchOptions);
}

KilnError *kilnFunctionCreate(const char *name, const KilnParameter *parameters,
                              size_t num_parameters, KilnFunction **out) {
  if (!name || (num_parameters && !parameters) || !out)
    return reportNull("kilnFunctionCreate", "name, parameters and out");
  Expected<std::unique_ptr<Function>> function =
      Function::create(name, ArrayRef(parameters, num_parameters));
  if (!function)
    return report(function.takeError());
  *out = new KilnFunction{std::move(*function)};
  return nullptr;
}
void kilnFunctionDestroy(KilnFunction *function) { delete function; }

KilnLaunchStatus kilnFunctionLaunch(KilnFunction *function, const KilnArg *args, size_t num_args,
                                    const KilnLaunchOptions *options, KilnString *key,
                                    KilnError **error) {
  if (LLVM_UNLIKELY(!error))
    return KILN_LAUNCH_FAILED;
  if (LLVM_UNLIKELY(!function || (num_args && !args) || !key)) {
    *error = reportNull("kilnFunctionLaunch", "function, args and key");
    return KILN_LAUNCH_FAILED;
  }
  StringRef missed;
  Error failure = Error::success();
  KilnLaunchStatus status =
      function->function->launch(ArrayRef(args, num_args), options, missed, failure);
  if (LLVM_LIKELY(status == KILN_LAUNCH_OK)) {
    cantFail(std::move(failure));
    return status;
  }
  if (status == KILN_LAUNCH_MISS)
    *key = string(missed);
  KilnError *reported = report(std::move(failure));
  if (status == KILN_LAUNCH_FAILED)
    *error = reported;
  return status;
}

KilnError *kilnFunctionKey(KilnFunction *function, const KilnArg *args, size_t num_args,
                           const KilnLaunchOptions *options, KilnBuffer **key) {
  if (!function || (num_args && !args) || !key)
    return reportNull("kilnFunctionKey", "function, args and key");
  Expected<std::string> words = function->function->key(ArrayRef(args, num_args), options);
  if (!words)
    return report(words.takeError());
  *key = new KilnBuffer{std::move(*words)};
  return nullptr;
}

KilnError *kilnFunctionDescribeKey(KilnFunction *function, const void *key, size_t key_size,
                                   KilnBuffer **json) {
  if (!function || !key || !json)
    return reportNull("kilnFunctionDescribeKey", "function, key and json");
  Expected<std::string> text = describeKey(function->function->parameters(),
                                           StringRef(static_cast<const char *>(key), key_size));
  if (!text)
    return report(text.takeError());
  *json = new KilnBuffer{std::move(*text)};
  return nullptr;
}

KilnError *kilnFunctionInsert(KilnFunction *function, const void *key, size_t key_size,
                              KilnExecutable *executable) {
  if (!function || !key || !executable)
    return reportNull("kilnFunctionInsert", "function, key and executable");
  return report(function->function->insert(StringRef(static_cast<const char *>(key), key_size),
                                           ExecutablePtr(unwrap(executable))));
}

KilnError *kilnFunctionVariants(KilnFunction *function, KilnBuffer **variants) {
  if (!function || !variants)
    return reportNull("kilnFunctionVariants", "function and variants");
  std::vector<uint64_t> loaded = function->function->variants();
  *variants = new KilnBuffer{
      std::string(reinterpret_cast<const char *>(loaded.data()), loaded.size() * sizeof(uint64_t))};
  return nullptr;
}

void kilnFunctionClear(KilnFunction *function) {
  if (function)
    function->function->clear();
}

void kilnSpecialisationsSetMax(uint64_t max) { Function::setMost(max); }

KilnError *kilnSpecialisationsDescribe(KilnBuffer **json) {
  if (!json)
    return reportNull("kilnSpecialisationsDescribe", "json");
  Expected<Function::Loaded> loaded = Function::describeLoaded();
  if (!loaded)
    return report(loaded.takeError());
  return give(
      json::Object{{"loaded", loaded->now}, {"max", loaded->most}, {"evicted", loaded->evicted}},
      json);
}

KilnError *kilnExecutableLaunch(KilnExecutable *executable, const KilnArg *args, size_t num_args,
                                const KilnLaunchOptions *options) {
  if (!executable || (num_args && !args))
    return reportNull("kilnExecutableLaunch", "executable and args");
  return report(launchExecutable(*unwrap(executable), ArrayRef(args, num_args), options));
}
