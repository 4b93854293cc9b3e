// NumPy arrays by their C structure.
//
// The fields up to `flags` of an array and up to `type_num` of a dtype are the ABI that NumPy
// keeps between 1.x and 2.x; nothing behind them is read, so that no header of NumPy's is needed
// and one build serves all versions.
#include "Arguments.h"

using namespace kiln::python;

namespace {

struct ArrayFields {
  PyObject head;
  char *data;
  int nd;
  Py_ssize_t *dimensions;
  Py_ssize_t *strides;
  PyObject *base;
  PyObject *descr;
  int flags;
};

constexpr int kAligned = 0x0100, kWriteable = 0x0400;

struct DTypeName {
  const char *name;
  KilnDType dtype;
};
constexpr DTypeName kNames[] = {
    {"float64", KILN_F64},
    {"float32", KILN_F32},
    {"float16", KILN_F16},
    {"bfloat16", KILN_BF16},
    {"float8_e4m3fn", KILN_F8E4M3FN},
    {"float8_e5m2", KILN_F8E5M2},
    {"float8_e8m0fnu", KILN_F8E8M0FNU},
    {"float6_e2m3fn", KILN_F6E2M3FN},
    {"float6_e3m2fn", KILN_F6E3M2FN},
    {"float4_e2m1fn", KILN_F4E2M1FN},
    {"int64", KILN_I64},
    {"int32", KILN_I32},
    {"int16", KILN_I16},
    {"int8", KILN_I8},
    {"int4", KILN_I4},
    {"int2", KILN_I2},
    {"uint64", KILN_U64},
    {"uint32", KILN_U32},
    {"uint16", KILN_U16},
    {"uint8", KILN_U8},
    {"uint4", KILN_U4},
    {"uint2", KILN_U2},
    {"bool", KILN_BOOL},
};

std::string textOf(PyObject *object) {
  nb::object text = nb::steal(PyObject_Str(object));
  if (!text.is_valid()) {
    PyErr_Clear();
    return "an unknown type";
  }
  return nb::cast<std::string>(text);
}

struct KnownDType {
  int32_t dtype = KILN_NONE;
  uint32_t bytes = 0;
};
Memo<KnownDType> knownDTypes;

bool learnDType(const ArgumentTarget &to, PyObject *descr, KnownDType &out) {
  nb::object object = nb::borrow(descr);
  std::string name = nb::cast<std::string>(nb::str(object.attr("name")));
  const DTypeName *found = nullptr;
  for (const DTypeName &candidate : kNames)
    if (name == candidate.name)
      found = &candidate;
  if (!found)
    return to.fail("expected an element type that kernels have, got a numpy array of " +
                   textOf(descr));
  if (!nb::cast<bool>(object.attr("isnative")))
    return to.fail("expected an array in this machine's byte order, got numpy dtype " +
                   textOf(object.attr("str").ptr()) +
                   "; a.astype(a.dtype.newbyteorder('=')) makes one");
  uint32_t bits = kilnDTypeGetBits(found->dtype);
  if (bits < 8 && found->dtype != KILN_BOOL)
    return to.fail("expected packed " + std::string(dtypeName(found->dtype)) +
                   " elements, got a numpy array, which keeps one in each byte; "
                   "kiln.PackedArray.from_numpy(a) packs it");
  out = knownDTypes.insert(descr, {found->dtype, found->dtype == KILN_BOOL ? 1 : bits / 8});
  return true;
}

} // namespace

bool kiln::python::convertNumPy(const ArgumentTarget &to, PyObject *array) {
  const auto &fields = *reinterpret_cast<const ArrayFields *>(array);
  KnownDType dtype;
  if (const KnownDType *known = knownDTypes.find(fields.descr))
    dtype = *known;
  else if (!learnDType(to, fields.descr, dtype))
    return false;
  if (fields.nd > KILN_MAX_RANK)
    return to.fail("expected at most " + std::to_string(KILN_MAX_RANK) + " dimensions, got " +
                   std::to_string(fields.nd));
  if (!(fields.flags & kAligned))
    return to.fail("expected elements at multiples of " + std::to_string(dtype.bytes) +
                   " bytes, got a misaligned " + dtypeName(dtype.dtype) +
                   " array; a.copy() makes an aligned one");
  KilnTensor &tensor = to.tensor();
  int64_t *shape = to.frame.shapes[to.index];
  int64_t *strides = to.frame.strides[to.index];
  unsigned shift = __builtin_ctz(dtype.bytes);
  bool isEmpty = false;
  int64_t anyStride = 0;
  for (int d = 0; d < fields.nd; ++d) {
    shape[d] = fields.dimensions[d];
    int64_t bytes = fields.strides[d];
    isEmpty |= shape[d] == 0;
    anyStride |= bytes;
    if ((bytes & (int64_t(dtype.bytes) - 1)) != 0) {
      if (shape[d] > 1)
        return to.fail("expected strides that are multiples of the element's " +
                       std::to_string(dtype.bytes) + " bytes, got " + std::to_string(bytes) +
                       " in dimension " + std::to_string(d) + "; a.copy() makes a dense array");
      bytes = 0;
    }
    strides[d] = bytes >> shift;
  }
  tensor.data = fields.data;
  tensor.shape = shape;
  // NumPy makes arrays without elements with strides of 0, which say nothing: such is dense.
  tensor.strides = isEmpty && !anyStride ? nullptr : strides;
  tensor.rank = fields.nd;
  tensor.dtype = dtype.dtype;
  tensor.device_type = dlpack::kHost;
  tensor.device_id = 0;
  if (!(fields.flags & kWriteable))
    to.frame.readOnly.insert(to.index);
  return true;
}
