// Devices, and kernels loaded on them.
#include "GIL.h"
#include "Launcher.h"
#include "Objects.h"

#include <cmath>
#include <optional>

using namespace kiln::python;

namespace {

KilnStream asStream(uint64_t handle) { return reinterpret_cast<void *>(uintptr_t(handle)); }

/// Seconds in milliseconds, rounded up.
uint64_t milliseconds(double seconds) {
  return seconds < 1e12 ? uint64_t(std::ceil(seconds * 1e3)) : UINT64_MAX;
}

nb::str describeDevices() {
  KilnBuffer *json = nullptr;
  KilnError *error;
  {
    WithoutGIL released;
    error = kilnDevicesDescribe(&json);
  }
  check(error);
  return takeStr(json);
}

ExecutableObject load(const DeviceObject &device, const ArtifactObject &artifact) {
  KilnExecutable *executable = nullptr;
  KilnError *error;
  {
    WithoutGIL released;
    error = kilnExecutableLoad(device.device, artifact.get(), &executable);
  }
  check(error);
  return ExecutableObject(executable);
}

/// predict(model, arguments, device or None): microseconds. A tuple stands for an array of that
/// shape.
double predict(const ModelObject &model, nb::list arguments, std::optional<DeviceObject *> device) {
  if (arguments.size() > kMaxArguments)
    throw nb::value_error("expected at most 512 arguments");
  ArgumentFrame frame;
  for (size_t i = 0; i < arguments.size(); ++i) {
    nb::object argument(arguments[i]);
    if (PyTuple_Check(argument.ptr())) {
      nb::tuple shape(argument);
      if (shape.size() > KILN_MAX_RANK)
        throw nb::value_error("expected a shape of at most 8 extents");
      for (size_t dim = 0; dim < shape.size(); ++dim)
        frame.shapes[i][dim] = nb::cast<int64_t>(shape[dim]);
      frame.args[i] = KilnArg{};
      frame.args[i].kind = KILN_ARG_TENSOR;
      frame.args[i].value.tensor.shape = frame.shapes[i];
      frame.args[i].value.tensor.rank = int32_t(shape.size());
      continue;
    }
    ParameterInfo parameter{"#" + std::to_string(i), -1, KILN_NONE, -1, 0, {}};
    if (!convertArgument(frame, i, argument.ptr(), parameter, "model"))
      throw nb::python_error();
  }
  double microseconds = 0;
  check(kilnModelPredict(model.get(), frame.args, arguments.size(),
                         device ? (*device)->device : nullptr, &microseconds));
  return microseconds;
}

ModelObject readModel(const std::string &json) {
  KilnModel *model = nullptr;
  check(kilnModelCreate(json.data(), json.size(), &model));
  return ModelObject(model);
}

/// launch(executable, name, arguments, grid or None, stream, names, written): tools launch without
/// a table. `names` are for errors; the arrays whose numbers stand in `written` are stored to.
void launchExecutable(const ExecutableObject &executable, const std::string &name,
                      nb::list arguments, nb::object grid, uint64_t stream, nb::list names,
                      nb::list written) {
  if (arguments.size() > kMaxArguments)
    throw nb::value_error("expected at most 512 arguments");
  ArgumentFrame frame;
  std::vector<ParameterInfo> parameters;
  for (size_t i = 0; i < arguments.size(); ++i)
    parameters.push_back(
        {i < names.size() ? nb::cast<std::string>(names[i]) : "#" + std::to_string(i),
         -1,
         KILN_NONE,
         -1,
         0,
         {}});
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!convertArgument(frame, i, nb::object(arguments[i]).ptr(), parameters[i], name.c_str()))
      throw nb::python_error();
  std::vector<PyObject *> objects;
  for (size_t i = 0; i < arguments.size(); ++i)
    objects.push_back(nb::object(arguments[i]).ptr()); // the list holds them
  std::vector<uint32_t> stored;
  for (nb::handle number : written) {
    size_t i = nb::cast<size_t>(number);
    if (i < arguments.size())
      stored.push_back(uint32_t(i));
    if (i >= arguments.size() || !frame.readOnly.contains(i))
      continue;
    setLaunchError(name.c_str(), parameters[i].name.c_str(),
                   "expected an array that may be written, since the kernel stores to it, got a "
                   "read-only one");
    throw nb::python_error();
  }
  if (!noteWrites(frame, objects.data(), parameters, stored, name.c_str()))
    throw nb::python_error();
  KilnLaunchOptions options;
  kilnLaunchOptionsInit(&options);
  options.stream = stream ? asStream(stream) : frame.stream;
  if (!grid.is_none()) {
    options.has_grid = 1;
    if (!gridOf(grid.ptr(), options.grid))
      throw nb::python_error();
  }
  KilnError *error;
  {
    WithoutGIL released;
    error = kilnExecutableLaunch(executable.get(), frame.args, arguments.size(), &options);
  }
  if (error) {
    setError(error, name.c_str());
    throw nb::python_error();
  }
}

} // namespace

void kiln::python::bindDevices(nb::module_ &m) {
  m.def("devices", &describeDevices);
  m.def("dtype_code", [](const std::string &name) -> int {
    for (int code = KILN_F64; code <= KILN_BOOL; ++code)
      if (toString(kilnDTypeGetName(KilnDType(code))) == name)
        return code;
    throw nb::key_error(name.c_str());
  });
  m.def("device_of_memory", [](int32_t type, int32_t id) {
    KilnDevice *device = nullptr;
    check(kilnDeviceOfMemory(type, id, &device));
    return toStr(kilnDeviceGetName(device));
  });
  m.def("specialisations", [] {
    KilnBuffer *json = nullptr;
    check(kilnSpecialisationsDescribe(&json));
    return takeStr(json);
  });
  m.def("set_max_specialisations", [](uint64_t most) { kilnSpecialisationsSetMax(most); });
  m.def("set_active_hooks", [](int count) { activeHooks = count; });

  nb::class_<ModelObject>(m, "Model")
      .def_static("read", &readModel, nb::arg("json"))
      .def("predict", &predict, nb::arg("arguments"), nb::arg("device") = nb::none());

  nb::class_<ExecutableObject>(m, "Executable")
      .def_prop_ro(
          "metadata",
          [](const ExecutableObject &e) { return toStr(kilnExecutableGetMetadata(e.get())); })
      .def("describe",
           [](const ExecutableObject &e) {
             KilnBuffer *json = nullptr;
             check(kilnExecutableDescribe(e.get(), &json));
             return takeStr(json);
           })
      .def("launch", &launchExecutable, nb::arg("name"), nb::arg("arguments"),
           nb::arg("grid").none() = nb::none(), nb::arg("stream") = 0,
           nb::arg("names") = nb::list(), nb::arg("written") = nb::list());

  nb::class_<DeviceObject>(m, "Device")
      .def_static("open",
                  [](const std::string &name) {
                    KilnDevice *device = nullptr;
                    check(kilnDeviceOpen(name.c_str(), &device));
                    return DeviceObject{device};
                  })
      .def_prop_ro("name", [](const DeviceObject &d) { return toStr(kilnDeviceGetName(d.device)); })
      .def_prop_ro("target",
                   [](const DeviceObject &d) { return toStr(kilnDeviceGetTarget(d.device)); })
      .def_prop_ro("identity",
                   [](const DeviceObject &d) { return toStr(kilnDeviceGetIdentity(d.device)); })
      .def_prop_ro("memory",
                   [](const DeviceObject &d) {
                     int32_t type, id;
                     kilnDeviceGetMemory(d.device, &type, &id);
                     return nb::make_tuple(type, id);
                   })
      .def("describe",
           [](const DeviceObject &d) {
             KilnBuffer *json = nullptr;
             check(kilnDeviceDescribe(d.device, &json));
             return takeStr(json);
           })
      .def("load", &load)
      .def("allocate",
           [](const DeviceObject &d, uint64_t size) {
             void *memory = nullptr;
             check(kilnDeviceAllocate(d.device, size, &memory));
             return uint64_t(reinterpret_cast<uintptr_t>(memory));
           })
      .def("free", [](const DeviceObject &d,
                      uint64_t address) { check(kilnDeviceFree(d.device, asStream(address))); })
      .def(
          "copy",
          [](const DeviceObject &d, uint64_t to, uint64_t from, uint64_t size, int kind,
             uint64_t stream) {
            KilnError *error;
            {
              WithoutGIL released;
              error = kilnDeviceCopy(d.device, asStream(to), asStream(from), size,
                                     KilnCopyKind(kind), asStream(stream));
            }
            check(error);
          },
          nb::arg("to"), nb::arg("source"), nb::arg("size"), nb::arg("kind"), nb::arg("stream") = 0)
      .def(
          "synchronize",
          [](const DeviceObject &d, uint64_t stream, std::optional<double> timeout) {
            if (timeout && !(*timeout >= 0))
              throw nb::value_error("expected a timeout of at least 0 seconds");
            KilnError *error;
            {
              WithoutGIL released;
              error = timeout ? kilnDeviceSynchronizeFor(d.device, asStream(stream),
                                                         milliseconds(*timeout))
                              : kilnDeviceSynchronize(d.device, asStream(stream));
            }
            check(error);
          },
          nb::arg("stream") = 0, nb::arg("timeout").none() = nb::none())
      .def("can_access_peer",
           [](const DeviceObject &d, const DeviceObject &peer) {
             int32_t can = 0;
             check(kilnDeviceCanAccessPeer(d.device, peer.device, &can));
             return can != 0;
           })
      .def("enable_peer_access",
           [](const DeviceObject &d, const DeviceObject &peer) {
             check(kilnDeviceEnablePeerAccess(d.device, peer.device));
           })
      .def("reset", [](const DeviceObject &d) { check(kilnDeviceReset(d.device)); });
}
