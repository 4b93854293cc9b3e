// One launch, from a Python call to the C API. See Launcher.h for the steps.
#include "GIL.h"
#include "Launcher.h"

#include <cstring>

using namespace kiln::python;

int kiln::python::activeHooks = 0;

LauncherState::~LauncherState() {
  for (Specialiser &s : functions)
    kilnFunctionDestroy(s.function);
  for (KilnFunction *function : retired)
    kilnFunctionDestroy(function);
}

void LaunchTraits::writeTo(KilnLaunchOptions &options) const {
  std::memcpy(options.cluster, cluster, sizeof options.cluster);
  options.cooperative = cooperative;
  options.overlap = overlap;
  options.has_priority = hasPriority;
  options.priority = priority;
}

namespace {

/// A launch that misses more often than this right after it was compiled is a defect; other threads
/// may push out what one has just made, where few specialisations may stay.
constexpr int mostMisses = 16;

/// What a vector call was given, as Python functions take it.
std::pair<nb::list, nb::dict> callArguments(PyObject *const *args, size_t numArgs,
                                            PyObject *names) {
  nb::list positional;
  for (size_t i = 0; i < numArgs; ++i)
    positional.append(nb::handle(args[i]));
  nb::dict keywords;
  for (Py_ssize_t i = 0, n = names ? PyTuple_Size(names) : 0; i < n; ++i)
    keywords[nb::handle(PyTuple_GetItem(names, i))] = nb::handle(args[numArgs + i]);
  return {positional, keywords};
}

/// Raises Python's own error for a call that does not fit.
void setSignatureError(LauncherState &state, PyObject *const *args, size_t numArgs,
                       PyObject *names) {
  auto [positional, keywords] = callArguments(args, numArgs, names);
  state.half.attr("raise_signature_error")(positional, keywords);
  PyErr_SetString(PyExc_TypeError, "expected other arguments");
}

/// What stands in a place, null if nothing does; the reference is the place's.
static PyObject *standsIn(const Watch &watch) {
  if (PyDict_Check(watch.scope.ptr()))
    return PyDict_GetItemWithError(watch.scope.ptr(), watch.name.ptr());
  PyObject *now = PyObject_GetAttr(watch.scope.ptr(), watch.name.ptr());
  Py_XDECREF(now);
  return now;
}

/// Tells the Python half if something that is captured is no longer what it was.
void checkWatches(LauncherState &state) {
  for (const Watch &watch : state.watches) {
    if (standsIn(watch) != watch.value.ptr()) {
      PyErr_Clear();
      state.half.attr("captured_changed")();
      return;
    }
  }
}

/// Whether the launch says which programs run, or which run side by side: then each runs its own
/// tile, unless the author says otherwise.
bool saysPrograms(const KilnLaunchOptions &options) {
  const int64_t *cluster = options.cluster;
  return options.has_grid || cluster[0] > 1 || cluster[1] > 1 || cluster[2] > 1;
}

uint64_t newVariant(LauncherState &state, const BoundCall &bound, PyObject *options,
                    const ArgumentSet &readOnly, bool isAlone) {
  nb::list constants;
  for (const SignatureEntry &entry : state.signature.entries)
    if (entry.constant >= 0) {
      PyObject *given = bound.constants[entry.constant];
      constants.append(nb::handle(given ? given : entry.defaultValue));
    }
  nb::object key = options ? nb::borrow(options) : nb::none();
  return nb::cast<uint64_t>(
      state.half.attr("new_variant")(constants, key, readOnly.mask(), isAlone));
}

uint64_t variantOf(LauncherState &state, const BoundCall &bound, PyObject *options,
                   const ArgumentSet &readOnly, bool isAlone) {
  if (!bound.anyConstant && !options && readOnly.empty()) {
    std::optional<uint64_t> &variant = state.defaultVariants[isAlone];
    if (!variant)
      variant = newVariant(state, bound, nullptr, readOnly, isAlone);
    return *variant;
  }
  size_t n = state.signature.numConstants;
  nb::object key = nb::steal(PyTuple_New(Py_ssize_t(n + 3)));
  for (const SignatureEntry &entry : state.signature.entries)
    if (entry.constant >= 0) {
      PyObject *given = bound.constants[entry.constant];
      nb::object part = constantKey(given ? given : entry.defaultValue);
      PyTuple_SetItem(key.ptr(), entry.constant, part.release().ptr());
    }
  nb::object optionsKey = options ? nb::borrow(options) : nb::none();
  PyTuple_SetItem(key.ptr(), Py_ssize_t(n), optionsKey.release().ptr());
  PyTuple_SetItem(key.ptr(), Py_ssize_t(n + 1), readOnly.mask().release().ptr());
  PyTuple_SetItem(key.ptr(), Py_ssize_t(n + 2), nb::bool_(isAlone).release().ptr());
  PyObject *known = PyDict_GetItemWithError(state.variants.ptr(), key.ptr());
  if (known)
    return PyLong_AsUnsignedLongLong(known);
  bool hashable = !PyErr_Occurred(); // else the compile will say what is wrong with it
  PyErr_Clear();
  uint64_t number = newVariant(state, bound, options, readOnly, isAlone);
  if (!hashable)
    return number;
  state.variants[key] = number;
  return number;
}

/// Of how many calls it is kept what was chosen for them.
constexpr Py_ssize_t mostChoices = 4096;

/// What a choice hangs on of the arguments: the kinds, types and shapes, and whole numbers.
nb::bytes sizesOf(const LauncherState &state, const ArgumentFrame &frame) {
  std::string sizes;
  auto add = [&](const void *from, size_t bytes) {
    sizes.append(static_cast<const char *>(from), bytes);
  };
  for (size_t i = 0, n = state.signature.runtime.size(); i < n; ++i) {
    const KilnArg &arg = frame.args[i];
    add(&arg.kind, sizeof arg.kind);
    if (arg.kind == KILN_ARG_INTEGER)
      add(&arg.value.integer, sizeof arg.value.integer);
    if (arg.kind != KILN_ARG_TENSOR)
      continue;
    const KilnTensor &tensor = arg.value.tensor;
    add(&tensor.dtype, sizeof tensor.dtype);
    add(&tensor.rank, sizeof tensor.rank);
    add(tensor.shape, tensor.rank * sizeof *tensor.shape);
  }
  return nb::bytes(sizes.data(), sizes.size());
}

/// Gives the constants that the model chooses, where the call leaves one open, their values.
void choose(LauncherState &state, Configured *config, PyObject *const *args, size_t numArgs,
            PyObject *names, PreparedLaunch &out) {
  std::vector<int32_t> open;
  nb::list parts;
  for (const SignatureEntry &entry : state.signature.entries)
    if (entry.constant >= 0) {
      PyObject *given = out.bound.constants[entry.constant];
      if (!given && entry.defaultValue == state.signature.chosen)
        open.push_back(entry.constant);
      else
        parts.append(constantKey(given ? given : entry.defaultValue));
    }
  if (open.empty())
    return;
  nb::object base = config ? nb::borrow(reinterpret_cast<PyObject *>(config)) : nb::none();
  nb::object options = config && config->options ? nb::borrow(config->options) : nb::none();
  nb::bool_ isAlone(saysPrograms(out.options));
  nb::object key = nb::make_tuple(sizesOf(state, out.frame), nb::tuple(parts), options, isAlone,
                                  int64_t(reinterpret_cast<intptr_t>(out.options.device)));
  PyObject *known = PyDict_GetItemWithError(state.choices.ptr(), key.ptr());
  bool isHashable = !PyErr_Occurred();
  PyErr_Clear();
  if (known) {
    out.chosen = nb::borrow(known);
  } else {
    auto [positional, keywords] = callArguments(args, numArgs, names);
    out.chosen = state.half.attr("choose_tunables")(base, positional, keywords);
    if (PyDict_Size(state.choices.ptr()) >= mostChoices)
      state.choices.clear();
    if (isHashable)
      state.choices[key] = out.chosen;
  }
  for (size_t i = 0; i < open.size(); ++i)
    out.bound.constants[open[i]] = PyTuple_GetItem(out.chosen.ptr(), Py_ssize_t(i));
  out.bound.anyConstant = true;
}

/// The KilnFunction for the kinds of these arguments.
size_t functionOf(LauncherState &state, const ArgumentFrame &frame) {
  if (state.signature.kindsAreFixed && !state.functions.empty())
    return 0;
  const auto &runtime = state.signature.runtime;
  auto fits = [&](const Specialiser &s) {
    for (size_t i = 0, n = runtime.size(); i < n; ++i)
      if (runtime[i].kind < 0 && s.kinds[i] != frame.args[i].kind)
        return false;
    return true;
  };
  if (state.lastFunction < state.functions.size() && fits(state.functions[state.lastFunction]))
    return state.lastFunction;
  for (size_t i = 0; i < state.functions.size(); ++i)
    if (fits(state.functions[i]))
      return state.lastFunction = i;
  Specialiser made{};
  std::vector<KilnParameter> parameters;
  for (size_t i = 0; i < runtime.size(); ++i) {
    made.kinds.push_back(runtime[i].kind < 0 ? frame.args[i].kind : runtime[i].kind);
    parameters.push_back({runtime[i].name.c_str(), made.kinds[i], runtime[i].dtype, runtime[i].rank,
                          runtime[i].facts});
  }
  check(
      kilnFunctionCreate(state.name.c_str(), parameters.data(), parameters.size(), &made.function));
  state.functions.push_back(made);
  return state.lastFunction = state.functions.size() - 1;
}

/// Further options in the call itself: the Python half makes a Configured of them.
nb::object withOptions(LauncherState &state, Configured *config, PyObject *const *values,
                       PyObject *names) {
  nb::dict extra;
  for (Py_ssize_t i = 0, n = PyTuple_Size(names); i < n; ++i) {
    nb::str name = nb::borrow<nb::str>(PyTuple_GetItem(names, i));
    bool parameter = false;
    for (const SignatureEntry &entry : state.signature.entries)
      parameter |= PyUnicode_Compare(entry.name, name.ptr()) == 0;
    std::string text = nb::cast<std::string>(name);
    if (!parameter && text[0] == '_' && text != "_stream" && text != "_device")
      extra[nb::str(text.c_str() + 1)] = nb::handle(values[i]);
  }
  nb::object base = config ? nb::borrow(reinterpret_cast<PyObject *>(config)) : nb::none();
  return state.half.attr("configured")(base, extra);
}

bool isStructure(PyObject *object) {
  return object == Py_None || PyTuple_Check(object) || PyList_Check(object);
}

/// A launch by the Python half: `method(config, arguments, keywords)`.
PyObject *launchByHalf(LauncherState &state, const char *method, Configured *config,
                       PyObject *const *args, size_t numArgs, PyObject *names) {
  auto [positional, keywords] = callArguments(args, numArgs, names);
  nb::object base = config ? nb::borrow(reinterpret_cast<PyObject *>(config)) : nb::none();
  return state.half.attr(method)(base, positional, keywords).release().ptr();
}

/// The thread state of a launch that runs without the GIL, and what a signal's handler raised.
struct Released {
  PyThreadState *thread;
  bool raised = false;

  /// KilnLaunchOptions::cancelled. Handlers run here; one that returns lets the launch go on.
  static int32_t checkSignals(void *self) {
    auto &released = *static_cast<Released *>(self);
    kilnTakeGIL(released.thread);
    released.raised = PyErr_CheckSignals() != 0;
    released.thread = PyEval_SaveThread();
    return released.raised;
  }
};

} // namespace

bool kiln::python::prepareLaunch(Launcher *self, Configured *config, PyObject *const *args,
                                 size_t numArgs, PyObject *names, PreparedLaunch &out) {
  LauncherState &state = *self->state;
  if (!bindCall(state.signature, args, numArgs, names, out.bound)) {
    setSignatureError(state, args, numArgs, names);
    return false;
  }
  nb::object holder;
  if (out.bound.otherOptions) {
    holder = withOptions(state, config, args + numArgs, names);
    config = reinterpret_cast<Configured *>(holder.ptr());
  }
  checkWatches(state);
  const auto &runtime = state.signature.runtime;
  if (state.signature.takesStructures)
    for (size_t i = 0, n = runtime.size(); i < n && !out.structured; ++i)
      out.structured = isStructure(out.bound.runtime[i]);
  if (out.structured)
    return true;
  for (size_t i = 0, n = runtime.size(); i < n; ++i)
    if (!convertArgument(out.frame, i, out.bound.runtime[i], runtime[i], state.name.c_str()))
      return false;
  KilnLaunchOptions &options = out.options;
  options = KilnLaunchOptions{};
  options.struct_size = sizeof(KilnLaunchOptions);
  if (config) {
    options.has_grid = config->hasGrid;
    std::memcpy(options.grid, config->grid, sizeof options.grid);
    options.device = config->device;
    config->traits.writeTo(options);
  }
  if (out.bound.device && !deviceOf(out.bound.device, options.device))
    return false;
  if (out.bound.stream) {
    if (!streamOf(out.bound.stream, options.stream))
      return false;
  } else if (config && config->hasStream) {
    options.stream = config->stream;
  } else if (out.frame.hasStream) {
    options.stream = out.frame.stream;
  }
  if (config && config->options)
    out.compileOptions = nb::borrow(config->options);
  if (state.signature.chosen)
    choose(state, config, args, numArgs, names, out);
  options.variant = variantOf(state, out.bound, out.compileOptions.ptr(), out.frame.readOnly,
                              saysPrograms(options));
  out.function = functionOf(state, out.frame);
  return true;
}

PyObject *kiln::python::launch(Launcher *self, Configured *config, PyObject *const *args,
                               size_t numArgs, PyObject *names, bool hooks) {
  LauncherState &state = *self->state;
  try {
    if (hooks && activeHooks)
      return launchByHalf(state, "launch_with_hooks", config, args, numArgs, names);
    PreparedLaunch prepared;
    if (!prepareLaunch(self, config, args, numArgs, names, prepared))
      return nullptr;
    if (prepared.structured)
      return launchByHalf(state, "launch_structured", config, args, numArgs, names);
    size_t generation = state.generation;
    bool isNoted = false;
    for (int attempt = 0;; ++attempt) {
      // Of a variant that nothing is compiled for, the launch is a miss.
      auto noted = state.written.find(prepared.options.variant);
      if (!isNoted && noted != state.written.end()) {
        isNoted = true;
        std::vector<uint32_t> written = noted->second; // what is asked runs Python
        if (!noteWrites(prepared.frame, prepared.bound.runtime, state.signature.runtime, written,
                        state.name.c_str()))
          return nullptr;
      }
      if (attempt > 0) { // another thread may have made the kernel forget
        prepared.function = functionOf(state, prepared.frame);
        prepared.options.variant =
            variantOf(state, prepared.bound, prepared.compileOptions.ptr(), prepared.frame.readOnly,
                      saysPrograms(prepared.options));
      }
      KilnFunction *function = state.functions[prepared.function].function;
      KilnString key{};
      KilnError *error = nullptr;
      ++state.launching;
      Released released{PyEval_SaveThread()};
      prepared.options.cancelled = Released::checkSignals;
      prepared.options.user_data = &released;
      KilnLaunchStatus status =
          kilnFunctionLaunch(function, prepared.frame.args, state.signature.runtime.size(),
                             &prepared.options, &key, &error);
      kilnTakeGIL(released.thread);
      --state.launching;
      if (released.raised) { // before anything that failed beside it
        if (status == KILN_LAUNCH_FAILED)
          kilnErrorDestroy(error);
        return nullptr;
      }
      if (status == KILN_LAUNCH_OK)
        Py_RETURN_NONE;
      if (status == KILN_LAUNCH_FAILED) {
        setError(error, state.name.c_str());
        return nullptr;
      }
      if (generation != state.generation) // another thread made the kernel start afresh
        generation = state.generation, attempt = 0;
      if (attempt == mostMisses) {
        setLaunchError(state.name.c_str(), nullptr,
                       "expected the compiled kernel to be found, got a miss again");
        return nullptr;
      }
      nb::bytes copy = toBytes(key);
      nb::object specialise = state.half.attr("specialise");
      nb::tuple arguments =
          nb::make_tuple(state.numberOf(prepared.function), copy, prepared.options.variant);
      nb::object made = nb::steal(kilnCallPython(specialise.ptr(), arguments.ptr()));
      if (!made.is_valid())
        throw nb::python_error();
      if (made.is_none()) // another thread let go of the variant meanwhile
        attempt = 0;
    }
  } catch (nb::python_error &failed) {
    failed.restore();
    return nullptr;
  } catch (const std::exception &failed) {
    PyErr_SetString(PyExc_RuntimeError, failed.what());
    return nullptr;
  }
}

nb::object kiln::python::constantKey(PyObject *value) {
  PyObject *type = reinterpret_cast<PyObject *>(Py_TYPE(value));
  if (PyLong_CheckExact(value) || PyUnicode_CheckExact(value))
    return nb::borrow(value);
  if (PyFloat_CheckExact(value)) {
    double number = PyFloat_AsDouble(value);
    return nb::bytes(reinterpret_cast<const char *>(&number), sizeof number);
  }
  if (PyTuple_Check(value)) {
    Py_ssize_t size = PyTuple_Size(value);
    nb::object out = nb::steal(PyTuple_New(size + 1));
    PyTuple_SetItem(out.ptr(), 0, nb::borrow(type).release().ptr());
    for (Py_ssize_t i = 0; i < size; ++i)
      PyTuple_SetItem(out.ptr(), i + 1, constantKey(PyTuple_GetItem(value, i)).release().ptr());
    return out;
  }
  return nb::make_tuple(nb::borrow(type), nb::borrow(value));
}
