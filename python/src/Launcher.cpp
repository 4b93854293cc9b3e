// The two callable types, written against CPython's C API: a class of nanobind's would be called
// through a slower path.
#include "Launcher.h"
#include "Objects.h"

#include <cstddef>
#include <cstring>
#include <structmember.h>
#include <unordered_set>

using namespace kiln::python;

PyTypeObject *kiln::python::launcherType = nullptr;
PyTypeObject *kiln::python::configuredType = nullptr;

bool kiln::python::streamOf(PyObject *object, KilnStream &out) {
  nb::object handle = nb::borrow(object);
  if (!PyLong_Check(object)) {
    // Frameworks name the handle after their driver: whatever ends so and is an integer.
    nb::object native = nb::getattr(handle, "native_handle", nb::none());
    if (native.is_none())
      for (nb::handle name : nb::list(nb::module_::import_("builtins").attr("dir")(handle)))
        if (nb::cast<std::string>(name).size() > 7 &&
            nb::cast<bool>(name.attr("endswith")("_stream"))) {
          nb::object value = nb::getattr(handle, nb::str(name), nb::none());
          if (PyLong_Check(value.ptr()))
            native = value;
        }
    if (!PyLong_Check(native.ptr())) {
      setLaunchError(nullptr, "_stream",
                     "expected a stream or its handle as an integer, got " +
                         nb::cast<std::string>(nb::repr(handle)));
      return false;
    }
    handle = native;
  }
  unsigned long long value = PyLong_AsUnsignedLongLong(handle.ptr());
  if (value == (unsigned long long)-1 && PyErr_Occurred())
    return false;
  out = reinterpret_cast<void *>(uintptr_t(value));
  return true;
}

bool kiln::python::deviceOf(PyObject *object, KilnDevice *&out) {
  nb::object name = nb::borrow(object);
  if (!PyUnicode_Check(object))
    name = nb::str(nb::getattr(name, "name", name));
  check(kilnDeviceOpen(nb::cast<std::string>(name).c_str(), &out));
  return true;
}

bool kiln::python::gridOf(PyObject *object, int64_t out[3], const char *what, int64_t least) {
  out[0] = out[1] = out[2] = 1;
  PyObject *items[3] = {object, nullptr, nullptr};
  Py_ssize_t size = 1;
  if (PyTuple_Check(object) || PyList_Check(object)) {
    size = PySequence_Size(object);
    if (size < 1 || size > 3) {
      setLaunchError(nullptr, nullptr,
                     "expected a " + std::string(what) + " of one to three extents, got " +
                         std::to_string(size));
      return false;
    }
  }
  for (Py_ssize_t i = 0; i < size; ++i) {
    nb::object item = object != items[0] || PyTuple_Check(object) || PyList_Check(object)
                          ? nb::steal(PySequence_GetItem(object, i))
                          : nb::borrow(object);
    nb::object integer = nb::steal(PyNumber_Index(item.ptr()));
    if (!integer.is_valid()) {
      PyErr_Clear();
      setLaunchError(nullptr, nullptr,
                     "expected integers for the " + std::string(what) + ", got " +
                         nb::cast<std::string>(nb::repr(item)));
      return false;
    }
    out[i] = PyLong_AsLongLong(integer.ptr());
    if (out[i] == -1 && PyErr_Occurred())
      return false;
    if (out[i] < least) {
      setLaunchError(nullptr, nullptr,
                     "expected extents of at least " + std::to_string(least) + " for the " + what +
                         ", got " + std::to_string(out[i]));
      return false;
    }
  }
  return true;
}

namespace {

/// Runs what may throw, as a slot of CPython's.
template <typename Body>
auto guarded(Body body) -> decltype(body()) {
  try {
    return body();
  } catch (nb::python_error &failed) {
    failed.restore();
  } catch (const std::exception &failed) {
    PyErr_SetString(PyExc_RuntimeError, failed.what());
  }
  return {};
}

Launcher *asLauncher(PyObject *object) { return reinterpret_cast<Launcher *>(object); }
Configured *asConfigured(PyObject *object) { return reinterpret_cast<Configured *>(object); }

PyObject *callLauncher(PyObject *self, PyObject *const *args, size_t flags, PyObject *names) {
  return launch(asLauncher(self), nullptr, args, size_t(PyVectorcall_NARGS(flags)), names, true);
}

PyObject *callConfigured(PyObject *self, PyObject *const *args, size_t flags, PyObject *names) {
  return launch(asConfigured(self)->launcher, asConfigured(self), args,
                size_t(PyVectorcall_NARGS(flags)), names, true);
}

template <typename T>
T *allocate(PyTypeObject *type) {
  auto *alloc = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  return reinterpret_cast<T *>(alloc(type, 0));
}

void release(PyObject *self, PyTypeObject *type) {
  auto *free = reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free));
  free(self);
  Py_DECREF(reinterpret_cast<PyObject *>(type));
}

/// Launcher(half, name, parameters)
PyObject *newLauncher(PyTypeObject *type, PyObject *args, PyObject *) {
  PyObject *half, *parameters;
  const char *name;
  if (!PyArg_ParseTuple(args, "OsO!", &half, &name, &PyList_Type, &parameters))
    return nullptr;
  return guarded([&]() -> PyObject * {
    auto state = std::make_unique<LauncherState>();
    state->half = nb::borrow(half);
    state->name = name;
    state->signature.parse(nb::borrow<nb::list>(parameters));
    auto *self = allocate<Launcher>(type);
    if (!self)
      return nullptr;
    self->vectorcall = callLauncher;
    self->state = state.release();
    return reinterpret_cast<PyObject *>(self);
  });
}

int traverseLauncher(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(reinterpret_cast<PyObject *>(Py_TYPE(self)));
  if (LauncherState *state = asLauncher(self)->state) {
    Py_VISIT(state->half.ptr());
    for (const Watch &watch : state->watches) {
      Py_VISIT(watch.scope.ptr());
      Py_VISIT(watch.value.ptr());
    }
    for (const SignatureEntry &entry : state->signature.entries)
      Py_VISIT(entry.defaultValue);
  }
  return 0;
}

int clearLauncher(PyObject *self) {
  if (LauncherState *state = asLauncher(self)->state) {
    state->half = nb::none();
    state->watches.clear();
  }
  return 0;
}

void destroyLauncher(PyObject *self) {
  PyObject_GC_UnTrack(self);
  if (asLauncher(self)->weakrefs)
    PyObject_ClearWeakRefs(self);
  delete asLauncher(self)->state;
  release(self, Py_TYPE(self));
}

Configured *makeConfigured(Launcher *launcher, Configured *base) {
  auto *made = allocate<Configured>(configuredType);
  if (!made)
    return nullptr;
  made->vectorcall = callConfigured;
  Py_INCREF(reinterpret_cast<PyObject *>(launcher));
  made->launcher = launcher;
  made->options = base ? base->options : nullptr;
  made->described = base ? base->described : nullptr;
  Py_XINCREF(made->options);
  Py_XINCREF(made->described);
  if (base) {
    made->hasGrid = base->hasGrid;
    std::memcpy(made->grid, base->grid, sizeof made->grid);
    made->hasStream = base->hasStream;
    made->stream = base->stream;
    made->device = base->device;
    made->traits = base->traits;
  }
  return made;
}

PyObject *subscript(Launcher *launcher, Configured *base, PyObject *grid) {
  return guarded([&]() -> PyObject * {
    int64_t extents[3];
    if (!gridOf(grid, extents))
      return nullptr;
    Configured *made = makeConfigured(launcher, base);
    if (made) {
      made->hasGrid = 1;
      std::memcpy(made->grid, extents, sizeof extents);
    }
    return reinterpret_cast<PyObject *>(made);
  });
}

PyObject *subscriptLauncher(PyObject *self, PyObject *grid) {
  return subscript(asLauncher(self), nullptr, grid);
}

PyObject *subscriptConfigured(PyObject *self, PyObject *grid) {
  return subscript(asConfigured(self)->launcher, asConfigured(self), grid);
}

/// What is not found on the launcher is the Python half's.
PyObject *getAttribute(PyObject *self, PyObject *name) {
  PyObject *found = PyObject_GenericGetAttr(self, name);
  if (found || !PyErr_ExceptionMatches(PyExc_AttributeError))
    return found;
  PyErr_Clear();
  return PyObject_GetAttr(asLauncher(self)->state->half.ptr(), name);
}

PyObject *reprLauncher(PyObject *self) {
  return PyUnicode_FromFormat("<kiln.kernel %s>", asLauncher(self)->state->name.c_str());
}

PyObject *reprConfigured(PyObject *self) {
  return PyUnicode_FromFormat("<kiln.kernel %s with launch options>",
                              asConfigured(self)->launcher->state->name.c_str());
}

/// Copies a list of arguments and a dict of keywords into what vectorcall takes.
struct Call {
  std::vector<PyObject *> values;
  nb::object names;
  size_t numArgs = 0;

  Call(PyObject *args, PyObject *keywords) {
    for (Py_ssize_t i = 0, n = PySequence_Size(args); i < n; ++i)
      values.push_back(PySequence_GetItem(args, i));
    numArgs = values.size();
    names = nb::steal(PyTuple_New(PyDict_Size(keywords)));
    PyObject *key, *value;
    Py_ssize_t position = 0, i = 0;
    while (PyDict_Next(keywords, &position, &key, &value)) {
      Py_INCREF(key);
      PyTuple_SetItem(names.ptr(), i++, key);
      Py_INCREF(value);
      values.push_back(value);
    }
  }
  ~Call() {
    for (PyObject *value : values)
      Py_XDECREF(value);
  }
};

Configured *configOf(PyObject *object) {
  return object == Py_None ? nullptr : asConfigured(object);
}

/// launch(config, args, keywords): without hooks.
PyObject *launchMethod(PyObject *self, PyObject *arguments) {
  PyObject *config, *args, *keywords;
  if (!PyArg_ParseTuple(arguments, "OOO!", &config, &args, &PyDict_Type, &keywords))
    return nullptr;
  Call call(args, keywords);
  return launch(asLauncher(self), configOf(config), call.values.data(), call.numArgs,
                call.names.ptr(), false);
}

/// key(config, args, keywords) -> (function, key, variant)
PyObject *keyMethod(PyObject *self, PyObject *arguments) {
  PyObject *config, *args, *keywords;
  if (!PyArg_ParseTuple(arguments, "OOO!", &config, &args, &PyDict_Type, &keywords))
    return nullptr;
  return guarded([&]() -> PyObject * {
    Call call(args, keywords);
    PreparedLaunch prepared;
    if (!prepareLaunch(asLauncher(self), configOf(config), call.values.data(), call.numArgs,
                       call.names.ptr(), prepared))
      return nullptr;
    if (prepared.structured) {
      PyErr_SetString(PyExc_TypeError, "expected arrays and numbers, got None, a tuple or a list");
      return nullptr;
    }
    LauncherState &state = *asLauncher(self)->state;
    KilnBuffer *buffer = nullptr;
    if (KilnError *error =
            kilnFunctionKey(state.functions[prepared.function].function, prepared.frame.args,
                            state.signature.runtime.size(), &prepared.options, &buffer)) {
      setError(error, state.name.c_str());
      return nullptr;
    }
    nb::bytes key = toBytes(kilnBufferGet(buffer));
    kilnBufferDestroy(buffer);
    return nb::make_tuple(state.numberOf(prepared.function), key, prepared.options.variant)
        .release()
        .ptr();
  });
}

/// The function of a number, null if it was forgotten since.
KilnFunction *functionAt(PyObject *self, size_t number) {
  LauncherState &state = *asLauncher(self)->state;
  size_t index = number & 0xffff;
  bool stale = number >> 16 != state.generation || index >= state.functions.size();
  return stale ? nullptr : state.functions[index].function;
}

/// describe(function, key) -> JSON
PyObject *describeMethod(PyObject *self, PyObject *arguments) {
  Py_ssize_t number, size;
  PyObject *bytes;
  char *key;
  if (!PyArg_ParseTuple(arguments, "nS", &number, &bytes) ||
      PyBytes_AsStringAndSize(bytes, &key, &size) != 0)
    return nullptr;
  KilnFunction *function = functionAt(self, size_t(number));
  if (!function) {
    PyErr_SetString(PyExc_RuntimeError, "expected a kernel whose captured globals stay as they "
                                        "are during its first launch, got one that changed");
    return nullptr;
  }
  return guarded([&]() -> PyObject * {
    KilnBuffer *json = nullptr;
    check(kilnFunctionDescribeKey(function, key, size_t(size), &json));
    return takeStr(json).release().ptr();
  });
}

/// insert(function, key, executable, variant, written): `written` lists the arguments that the code
/// writes to.
PyObject *insertMethod(PyObject *self, PyObject *arguments) {
  Py_ssize_t number, size;
  PyObject *bytes, *executable;
  char *key;
  unsigned long long variant;
  PyObject *written;
  if (!PyArg_ParseTuple(arguments, "nSOKO!", &number, &bytes, &executable, &variant, &PyList_Type,
                        &written) ||
      PyBytes_AsStringAndSize(bytes, &key, &size) != 0)
    return nullptr;
  KilnFunction *function = functionAt(self, size_t(number));
  if (!function) // what was compiled is not what the kernel is now
    Py_RETURN_NONE;
  return guarded([&]() -> PyObject * {
    auto &loaded = nb::cast<ExecutableObject &>(nb::handle(executable));
    std::vector<uint32_t> indices;
    for (nb::handle index : nb::borrow<nb::list>(written))
      indices.push_back(nb::cast<uint32_t>(index));
    auto &all = asLauncher(self)->state->written;
    all.erase(variant);
    if (!indices.empty())
      all[variant] = std::move(indices);
    check(kilnFunctionInsert(function, key, size_t(size), loaded.get()));
    return nb::none().release().ptr();
  });
}

/// forget(): drops every specialisation and variant.
PyObject *forgetMethod(PyObject *self, PyObject *) {
  LauncherState &state = *asLauncher(self)->state;
  for (Specialiser &s : state.functions) {
    if (!state.launching)
      kilnFunctionDestroy(s.function);
    else
      state.retired.push_back(s.function);
  }
  state.functions.clear();
  ++state.generation;
  state.variants.clear();
  state.choices.clear();
  state.written.clear();
  for (std::optional<uint64_t> &variant : state.defaultVariants)
    variant.reset();
  Py_RETURN_NONE;
}

/// drop_variants([variant]) -> [variant]: forgets those that no specialisation is loaded of, and
/// says which they are.
PyObject *dropVariantsMethod(PyObject *self, PyObject *list) {
  return guarded([&]() -> PyObject * {
    LauncherState &state = *asLauncher(self)->state;
    std::unordered_set<uint64_t> loaded;
    for (Specialiser &s : state.functions) {
      KilnBuffer *buffer = nullptr;
      check(kilnFunctionVariants(s.function, &buffer));
      KilnString words = kilnBufferGet(buffer);
      for (size_t at = 0; at + sizeof(uint64_t) <= words.size; at += sizeof(uint64_t)) {
        uint64_t variant;
        std::memcpy(&variant, words.data + at, sizeof variant);
        loaded.insert(variant);
      }
      kilnBufferDestroy(buffer);
    }
    std::unordered_set<uint64_t> gone;
    nb::list dropped;
    for (nb::handle item : nb::borrow<nb::list>(list))
      if (uint64_t variant = nb::cast<uint64_t>(item); !loaded.count(variant)) {
        gone.insert(variant);
        state.written.erase(variant);
        dropped.append(item);
      }
    nb::dict left;
    for (auto [key, number] : state.variants)
      if (!gone.count(nb::cast<uint64_t>(number)))
        left[key] = number;
    state.variants = std::move(left);
    for (std::optional<uint64_t> &variant : state.defaultVariants)
      if (variant && gone.count(*variant))
        variant.reset();
    return dropped.release().ptr();
  });
}

/// watch([(dict or object, name, value)]): what is captured, and where it stands; without a value,
/// a name that must not come to stand in the dictionary.
PyObject *watchMethod(PyObject *self, PyObject *list) {
  return guarded([&]() -> PyObject * {
    std::vector<Watch> watches;
    for (nb::handle item : nb::borrow<nb::list>(list)) {
      auto fields = nb::cast<nb::tuple>(item);
      watches.push_back(
          {fields[0], fields[1], fields.size() > 2 ? nb::object(fields[2]) : nb::object()});
    }
    asLauncher(self)->state->watches = std::move(watches);
    return nb::none().release().ptr();
  });
}

/// The traits among the options of a launch; None keeps what is there.
bool readTraits(PyObject *cluster, PyObject *cooperative, PyObject *overlap, PyObject *priority,
                LaunchTraits &out) {
  auto flag = [](PyObject *value, bool &flag, const char *name) {
    if (value == Py_None)
      return true;
    if (PyBool_Check(value)) {
      flag = value == Py_True;
      return true;
    }
    PyErr_Format(PyExc_TypeError, "expected True or False for %s, got %R", name, value);
    return false;
  };
  if (cluster != Py_None && !gridOf(cluster, out.cluster, "cluster", 1))
    return false;
  if (!flag(cooperative, out.cooperative, "cooperative") || !flag(overlap, out.overlap, "overlap"))
    return false;
  if (priority == Py_None)
    return true;
  long value = PyLong_Check(priority) ? PyLong_AsLong(priority) : -1;
  if (!PyLong_Check(priority) || PyErr_Occurred() || value != int32_t(value)) {
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError, "expected an integer of 32 bits for priority, got %R", priority);
    return false;
  }
  out.hasPriority = true;
  out.priority = int32_t(value);
  return true;
}

/// configure(base, grid, stream, device, cluster, cooperative, overlap, priority, options,
/// described) -> Configured; None keeps base's.
PyObject *configureMethod(PyObject *self, PyObject *arguments) {
  PyObject *base, *grid, *stream, *device, *cluster, *cooperative, *overlap, *priority, *options,
      *described;
  if (!PyArg_ParseTuple(arguments, "OOOOOOOOOO", &base, &grid, &stream, &device, &cluster,
                        &cooperative, &overlap, &priority, &options, &described))
    return nullptr;
  return guarded([&]() -> PyObject * {
    nb::object made =
        nb::steal(reinterpret_cast<PyObject *>(makeConfigured(asLauncher(self), configOf(base))));
    if (!made.is_valid())
      return nullptr;
    Configured &config = *asConfigured(made.ptr());
    if (grid != Py_None) {
      if (!gridOf(grid, config.grid))
        return nullptr;
      config.hasGrid = 1;
    }
    if (stream != Py_None) {
      if (!streamOf(stream, config.stream))
        return nullptr;
      config.hasStream = true;
    }
    if (device != Py_None && !deviceOf(device, config.device))
      return nullptr;
    if (!readTraits(cluster, cooperative, overlap, priority, config.traits))
      return nullptr;
    auto keep = [](PyObject *&slot, PyObject *value) {
      if (value == Py_None)
        return;
      Py_XDECREF(slot);
      Py_INCREF(value);
      slot = value;
    };
    keep(config.options, options);
    keep(config.described, described);
    return made.release().ptr();
  });
}

PyMethodDef launcherMethods[] = {
    {"_launch", launchMethod, METH_VARARGS, nullptr},
    {"_key", keyMethod, METH_VARARGS, nullptr},
    {"_describe", describeMethod, METH_VARARGS, nullptr},
    {"_insert", insertMethod, METH_VARARGS, nullptr},
    {"_forget", forgetMethod, METH_NOARGS, nullptr},
    {"_drop_variants", dropVariantsMethod, METH_O, nullptr},
    {"_watch", watchMethod, METH_O, nullptr},
    {"_configure", configureMethod, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

/// Attributes that a type has itself would hide those of the Python half.
PyObject *getDoc(PyObject *self, void *) {
  return guarded([&]() -> PyObject * {
    return nb::object(asLauncher(self)->state->half.attr("function").attr("__doc__"))
        .release()
        .ptr();
  });
}

PyObject *getModule(PyObject *self, void *) {
  return guarded([&]() -> PyObject * {
    return nb::object(asLauncher(self)->state->half.attr("function").attr("__module__"))
        .release()
        .ptr();
  });
}

PyGetSetDef launcherProperties[] = {
    {"__doc__", getDoc, nullptr, nullptr, nullptr},
    {"__module__", getModule, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMemberDef launcherMembers[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Launcher, vectorcall), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Launcher, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

int traverseConfigured(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(reinterpret_cast<PyObject *>(Py_TYPE(self)));
  Py_VISIT(reinterpret_cast<PyObject *>(asConfigured(self)->launcher));
  Py_VISIT(asConfigured(self)->options);
  Py_VISIT(asConfigured(self)->described);
  return 0;
}

void destroyConfigured(PyObject *self) {
  PyObject_GC_UnTrack(self);
  Py_DECREF(reinterpret_cast<PyObject *>(asConfigured(self)->launcher));
  Py_XDECREF(asConfigured(self)->options);
  Py_XDECREF(asConfigured(self)->described);
  release(self, Py_TYPE(self));
}

PyObject *getGrid(PyObject *self, void *) {
  const Configured &config = *asConfigured(self);
  if (!config.hasGrid)
    Py_RETURN_NONE;
  return Py_BuildValue("(LLL)", (long long)config.grid[0], (long long)config.grid[1],
                       (long long)config.grid[2]);
}

/// All that `_configure` takes but the compile options, as it takes them; a device by its name.
PyObject *getLaunchOptions(PyObject *self, void *) {
  return guarded([&]() -> PyObject * {
    const Configured &config = *asConfigured(self);
    const LaunchTraits &traits = config.traits;
    nb::object stream = nb::none(), device = nb::none(), cluster = nb::none(),
               priority = nb::none();
    if (config.hasStream)
      stream = nb::int_(reinterpret_cast<uintptr_t>(config.stream));
    if (config.device)
      device = toStr(kilnDeviceGetName(config.device));
    if (traits.cluster[0] | traits.cluster[1] | traits.cluster[2])
      cluster = nb::make_tuple(traits.cluster[0], traits.cluster[1], traits.cluster[2]);
    if (traits.hasPriority)
      priority = nb::int_(traits.priority);
    nb::object grid = nb::steal(getGrid(self, nullptr));
    return nb::make_tuple(grid, stream, device, cluster, traits.cooperative, traits.overlap,
                          priority)
        .release()
        .ptr();
  });
}

/// compile and warmup are those of the kernel, with these options.
PyObject *warmupMethod(PyObject *self, PyObject *args, PyObject *keywords) {
  return guarded([&]() -> PyObject * {
    nb::object half = asConfigured(self)->launcher->state->half;
    nb::object given = keywords ? nb::borrow(keywords) : nb::object(nb::dict());
    return half.attr("compiled_for")(nb::borrow(self), nb::borrow(args), given).release().ptr();
  });
}

PyMethodDef configuredMethods[] = {
    {"warmup", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(warmupMethod)),
     METH_VARARGS | METH_KEYWORDS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef configuredProperties[] = {
    {"_grid", getGrid, nullptr, nullptr, nullptr},
    {"_launch_options", getLaunchOptions, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMemberDef configuredMembers[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Configured, vectorcall), READONLY, nullptr},
    {"kernel", T_OBJECT, offsetof(Configured, launcher), READONLY, nullptr},
    {"_options", T_OBJECT, offsetof(Configured, options), READONLY, nullptr},
    {"_described", T_OBJECT, offsetof(Configured, described), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyType_Slot launcherSlots[] = {
    {Py_tp_new, reinterpret_cast<void *>(newLauncher)},
    {Py_tp_dealloc, reinterpret_cast<void *>(destroyLauncher)},
    {Py_tp_traverse, reinterpret_cast<void *>(traverseLauncher)},
    {Py_tp_clear, reinterpret_cast<void *>(clearLauncher)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_getattro, reinterpret_cast<void *>(getAttribute)},
    {Py_tp_repr, reinterpret_cast<void *>(reprLauncher)},
    {Py_mp_subscript, reinterpret_cast<void *>(subscriptLauncher)},
    {Py_tp_methods, launcherMethods},
    {Py_tp_getset, launcherProperties},
    {Py_tp_members, launcherMembers},
    {0, nullptr},
};
PyType_Spec launcherSpec = {"kiln._native.Launcher", sizeof(Launcher), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
                            launcherSlots};

PyType_Slot configuredSlots[] = {
    {Py_tp_dealloc, reinterpret_cast<void *>(destroyConfigured)},
    {Py_tp_traverse, reinterpret_cast<void *>(traverseConfigured)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_repr, reinterpret_cast<void *>(reprConfigured)},
    {Py_mp_subscript, reinterpret_cast<void *>(subscriptConfigured)},
    {Py_tp_methods, configuredMethods},
    {Py_tp_getset, configuredProperties},
    {Py_tp_members, configuredMembers},
    {0, nullptr},
};
PyType_Spec configuredSpec = {"kiln._native.Configured", sizeof(Configured), 0,
                              Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                                  Py_TPFLAGS_DISALLOW_INSTANTIATION,
                              configuredSlots};

bool addType(PyObject *module, const char *name, PyType_Spec &spec, PyTypeObject *&out) {
  PyObject *type = PyType_FromSpec(&spec);
  if (!type)
    return false;
  out = reinterpret_cast<PyTypeObject *>(type);
  return PyModule_AddObjectRef(module, name, type) == 0;
}

} // namespace

bool kiln::python::addLauncher(PyObject *module) {
  return addType(module, "Launcher", launcherSpec, launcherType) &&
         addType(module, "Configured", configuredSpec, configuredType);
}
