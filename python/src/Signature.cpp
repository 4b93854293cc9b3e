// Positional and keyword arguments to parameters.
#include "Signature.h"

#include <cstring>

using namespace kiln::python;

Signature::~Signature() {
  for (SignatureEntry &entry : entries) {
    Py_DECREF(entry.name);
    Py_XDECREF(entry.defaultValue);
  }
}

void Signature::parse(nb::list parameters) {
  for (nb::handle item : parameters) {
    auto fields = nb::cast<nb::tuple>(item);
    int kind = nb::cast<int>(fields[1]);
    PyObject *name = nb::object(fields[0]).release().ptr();
    PyUnicode_InternInPlace(&name);
    bool hasDefault = nb::cast<bool>(fields[5]);
    SignatureEntry entry{name, hasDefault ? nb::object(fields[6]).release().ptr() : nullptr, -1, -1,
                         nb::cast<bool>(fields[7])};
    if (kind == -2) {
      entry.constant = int32_t(numConstants++);
      if (fields.size() > 10 && nb::cast<bool>(fields[10]))
        chosen = entry.defaultValue;
    } else {
      entry.runtime = int32_t(runtime.size());
      kindsAreFixed &= kind >= 0;
      takesStructures |= kind < 0 || (fields.size() > 9 && nb::cast<bool>(fields[9]));
      runtime.push_back({nb::cast<std::string>(fields[0]),
                         kind,
                         nb::cast<int>(fields[2]),
                         nb::cast<int>(fields[3]),
                         nb::cast<uint32_t>(fields[4]),
                         {}});
      if (fields.size() > 8)
        for (nb::handle extent : nb::cast<nb::tuple>(fields[8]))
          runtime.back().extents.push_back(nb::cast<int64_t>(extent));
    }
    if (!entry.keywordOnly)
      ++numPositional;
    entries.push_back(entry);
  }
  if (runtime.size() > kMaxArguments || entries.size() > kMaxParameters)
    throw nb::value_error(("expected at most " + std::to_string(kMaxArguments) +
                           " arguments, got " + std::to_string(runtime.size()))
                              .c_str());
}

namespace {

PyObject **slotOf(BoundCall &call, const SignatureEntry &entry) {
  return entry.runtime >= 0 ? &call.places[entry.runtime] : &call.constants[entry.constant];
}

bool isOption(PyObject *name, PyObject *value, BoundCall &out) {
  Py_ssize_t size = 0;
  const char *text = PyUnicode_AsUTF8AndSize(name, &size);
  if (!text) {
    PyErr_Clear();
    return false;
  }
  if (size < 2 || text[0] != '_')
    return false;
  if (!std::strcmp(text, "_stream"))
    out.stream = value;
  else if (!std::strcmp(text, "_device"))
    out.device = value;
  else
    out.otherOptions = true;
  return true;
}

const SignatureEntry *find(const Signature &signature, PyObject *name) {
  for (const SignatureEntry &entry : signature.entries)
    if (entry.name == name)
      return &entry;
  for (const SignatureEntry &entry : signature.entries)
    if (PyUnicode_Compare(entry.name, name) == 0)
      return &entry;
  return nullptr;
}

} // namespace

bool kiln::python::bindCall(const Signature &signature, PyObject *const *args, size_t numArgs,
                            PyObject *names, BoundCall &out) {
  out.anyConstant = out.otherOptions = false;
  out.stream = out.device = nullptr;
  bool allGiven = numArgs == signature.numPositional && numArgs == signature.runtime.size();
  if (allGiven && numArgs == signature.entries.size() && !names) {
    out.runtime = args;
    return true;
  }
  if (numArgs > signature.numPositional)
    return false;
  out.runtime = out.places;
  std::memset(out.places, 0, signature.runtime.size() * sizeof(PyObject *));
  std::memset(out.constants, 0, signature.numConstants * sizeof(PyObject *));
  for (size_t i = 0; i < numArgs; ++i) {
    const SignatureEntry &entry = signature.entries[i];
    *slotOf(out, entry) = args[i];
    out.anyConstant |= entry.constant >= 0;
  }
  Py_ssize_t numNames = names ? PyTuple_Size(names) : 0;
  for (Py_ssize_t i = 0; i < numNames; ++i) {
    PyObject *name = PyTuple_GetItem(names, i), *value = args[numArgs + i];
    const SignatureEntry *entry = find(signature, name);
    if (!entry) {
      if (!isOption(name, value, out))
        return false;
      continue;
    }
    PyObject **slot = slotOf(out, *entry);
    if (*slot)
      return false;
    *slot = value;
    out.anyConstant |= entry->constant >= 0;
  }
  for (const SignatureEntry &entry : signature.entries) {
    PyObject **slot = slotOf(out, entry);
    if (*slot)
      continue;
    if (!entry.defaultValue)
      return false;
    if (entry.runtime >= 0)
      *slot = entry.defaultValue;
  }
  return true;
}
