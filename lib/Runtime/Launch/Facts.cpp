// Checking arguments and computing the key of Facts.h. The path without errors does not allocate.
#include "kiln/Runtime/Launch/Facts.h"
#include "kiln/Runtime/Error.h"
#include "kiln/Runtime/Launch/DType.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <alloca.h>

using namespace kiln;
using namespace llvm;

/// log2 of the alignment of an address or distance, 16 at most.
static inline unsigned alignmentLog2(uint64_t value) { return llvm::countr_zero(value | 16); }

/// What is known of one dimension: the alignment of its stride in bytes, whether stride and extent
/// are 1, what the extent is a multiple of. Where rows end decides how wide an access is, so along
/// a stride of 1 each power of two counts; elsewhere it would only be one more thing to compile
/// for. An extent of 0 is a multiple of nothing, so that one of which a multiple is known is
/// positive.
static inline uint64_t dimFacts(int64_t extent, int64_t stride, int64_t bits) {
  uint64_t strideBits = uint64_t(stride) * bits;
  uint64_t known = strideBits % 8 ? 0 : 1 + alignmentLog2(strideBits / 8);
  uint64_t isUnit = stride == 1, multiple = extent ? alignmentLog2(extent) : 0;
  return known | isUnit << 3 | uint64_t(extent == 1) << 4 |
         multiple * (isUnit | multiple >> 2) << 5;
}

//===- The usual ----------------------------------------------------------------------------===//
//
// An argument with nothing to refuse and nothing rare; false of any other, which the Checker below
// looks at.

/// A function of its own: within its caller it would spill what both keep in registers.
static LLVM_ATTRIBUTE_NOINLINE bool usualTensor(const Parameter &parameter,
                                                const KilnTensor &tensor, MemorySpace memory,
                                                uint64_t *words, Checked &checked, int64_t *dense) {
  const int64_t *shape = tensor.shape, *strides = tensor.strides;
  uint64_t address = reinterpret_cast<uint64_t>(tensor.data), rank = tensor.rank;
  uint64_t bits = dtypeInfo(tensor.dtype).bits;
  bool fits = parameter.dtype == tensor.dtype || (parameter.dtype == KILN_NONE && bits > 0);
  fits &= uint32_t(parameter.rank) == rank || (parameter.rank < 0 && rank <= KILN_MAX_RANK);
  fits &= tensor.device_type == memory.type && tensor.device_id == memory.id;
  fits &= (parameter.facts & KILN_FACTS_DEFAULT) == KILN_FACTS_DEFAULT;
  // So far from the ends of the address space that nothing below overflows.
  fits &= address - 1 < uint64_t(1) << 62 && (address & (bits / 8 - (bits >= 8))) == 0;
  if (LLVM_UNLIKELY(!fits || !shape))
    return false;
  if (!strides) {
    uint64_t stride = 1; // one that wraps follows one that is rare
    for (uint64_t i = rank; i-- > 0; stride *= shape[i])
      dense[i] = stride;
    strides = dense;
  }
  uint64_t last = 0, dims = 0, rare = 0, wide = 0;
  for (uint64_t i = 0; i < rank; ++i) {
    uint64_t extent = shape[i], stride = strides[i];
    rare |= (extent - 1) >> 31 | stride >> 28;
    wide |= extent >> 31;
    last += (extent - 1) * stride;
    dims |= dimFacts(extent, stride, bits) << (8 * i);
  }
  if (LLVM_UNLIKELY(rare | last >> 48))
    return false;
  uint64_t reach = (last + 1) * bits;
  bool index32 = !wide && reach / 8 <= uint64_t(1) << 31;
  words[0] = KILN_ARG_TENSOR | uint64_t(tensor.dtype) << 4 | rank << 12 |
             uint64_t(alignmentLog2(address)) << 16 | uint64_t(index32) << 19;
  words[1] = dims;
  checked = {shape, strides, address, int64_t(rank), address, address + (reach + 7) / 8};
  return true;
}

/// The word of a scalar without what is known of its value.
static inline uint64_t scalarWord(const Parameter &parameter) {
  return uint64_t(parameter.kind) | uint64_t(parameter.dtype) << 4;
}

static inline uint64_t integerFacts(uint32_t facts, int64_t value) {
  return uint64_t((facts & KILN_FACT_UNIT) && value == 1) << 21 |
         uint64_t((facts & KILN_FACT_EXTENTS) && value % 16 == 0) << 22;
}

static inline bool usualInteger(const Parameter &parameter, const KilnArg &arg, uint64_t &word,
                                Checked &checked) {
  int64_t value = arg.value.integer;
  if (LLVM_UNLIKELY(arg.kind != KILN_ARG_INTEGER ||
                    !encodeWhole(value, dtypeInfo(parameter.dtype), checked.bits)))
    return false;
  word = scalarWord(parameter) | integerFacts(parameter.facts, value);
  return true;
}

//===- Any argument -------------------------------------------------------------------------===//

static StringRef kindName(int32_t kind) {
  switch (kind) {
  case KILN_ARG_TENSOR:
    return "a tensor";
  case KILN_ARG_INTEGER:
    return "an integer";
  case KILN_ARG_FLOAT:
    return "a float";
  case KILN_ARG_BOOL:
    return "a bool";
  case KILN_ARG_POINTER:
    return "a pointer";
  default:
    return "an argument of unknown kind";
  }
}

namespace {
/// One call's worth of checking: where errors go, and what they are about.
struct Checker {
  StringRef kernel;
  const Device &device;
  Error &error;

  bool fail(const Parameter &parameter, const Twine &what) {
    error = makeError(KILN_ERROR_INVALID_ARGUMENT,
                      "kernel '" + kernel + "': argument '" + parameter.name + "': " + what);
    return false;
  }
  bool failKind(const Parameter &parameter, const KilnArg &arg) {
    return fail(parameter, "expected " + kindName(parameter.kind) + ", got " + kindName(arg.kind));
  }
  LLVM_ATTRIBUTE_NOINLINE bool tensor(const Parameter &parameter, const KilnTensor &tensor,
                                      uint64_t *words, Checked &checked, int64_t *strides);
  LLVM_ATTRIBUTE_NOINLINE bool other(const Parameter &parameter, const KilnArg &arg, uint64_t &word,
                                     Checked &checked) {
    return parameter.kind == KILN_ARG_POINTER ? pointer(parameter, arg, word, checked)
                                              : scalar(parameter, arg, word, checked);
  }
  bool pointer(const Parameter &parameter, const KilnArg &arg, uint64_t &word, Checked &checked);
  bool scalar(const Parameter &parameter, const KilnArg &arg, uint64_t &word, Checked &checked);
};
} // namespace

bool Checker::tensor(const Parameter &parameter, const KilnTensor &tensor, uint64_t *words,
                     Checked &checked, int64_t *strides) {
  const DTypeInfo &type = dtypeInfo(tensor.dtype);
  int32_t rank = tensor.rank;
  if (LLVM_UNLIKELY(type.kind == DTypeInfo::None))
    return fail(parameter, "expected an element type, got number " + Twine(tensor.dtype));
  if (LLVM_UNLIKELY(parameter.dtype != KILN_NONE && parameter.dtype != tensor.dtype))
    return fail(parameter, Twine("expected elements of type ") + dtypeInfo(parameter.dtype).name +
                               ", got " + type.name);
  if (LLVM_UNLIKELY(parameter.rank >= 0 && parameter.rank != rank))
    return fail(parameter,
                "expected a tensor of rank " + Twine(parameter.rank) + ", got rank " + Twine(rank));
  if (LLVM_UNLIKELY(rank < 0 || rank > KILN_MAX_RANK))
    return fail(parameter, "expected a tensor of rank 0 to " + Twine(KILN_MAX_RANK) +
                               ", got rank " + Twine(rank));
  if (LLVM_UNLIKELY(
          tensor.device_type != 0 &&
          (tensor.device_type != device.memory.type || tensor.device_id != device.memory.id) &&
          !device.reaches({tensor.device_type, tensor.device_id})))
    return fail(parameter, "expected a tensor that device '" + device.name +
                               "' can reach, got one " +
                               spellMemory({tensor.device_type, tensor.device_id}));

  const int64_t *shape = tensor.shape;
  if (LLVM_UNLIKELY(!shape && rank > 0))
    return fail(parameter, "expected a shape, got null");
  // Strides that were not given are those of a contiguous tensor. An empty dimension counts as
  // one element, so that the outer strides stay what they would be.
  if (!tensor.strides) {
    int64_t stride = 1;
    for (int32_t i = rank - 1; i >= 0; --i) {
      strides[i] = stride;
      if (LLVM_UNLIKELY(__builtin_mul_overflow(stride, std::max<int64_t>(shape[i], 1), &stride)))
        return fail(parameter, "its elements exceed the address space");
    }
  } else {
    strides = const_cast<int64_t *>(tensor.strides);
  }

  // The furthest elements on both sides of the base address, in elements; 0 of an empty tensor.
  int64_t low = 0, high = 0, bits = type.bits;
  bool isEmpty = false, isNarrow = true;
  uint64_t dims = 0;
  for (int32_t i = 0; i < rank; ++i) {
    int64_t extent = shape[i], stride = strides[i], reach;
    if (LLVM_UNLIKELY(extent < 0))
      return fail(parameter, "expected extents of at least 0, got " + Twine(extent) +
                                 " along dimension " + Twine(i));
    isEmpty |= extent == 0;
    isNarrow &= llvm::isInt<32>(extent) && llvm::isInt<32>(stride);
    if (LLVM_UNLIKELY(
            __builtin_mul_overflow(std::max<int64_t>(extent - 1, 0), stride, &reach) ||
            __builtin_add_overflow(reach < 0 ? low : high, reach, reach < 0 ? &low : &high)))
      return fail(parameter, "its elements exceed the address space");
    dims |= dimFacts(extent, stride, bits) << (8 * i);
  }
  // What is said of extents and strides holds where there is no element, too.
  constexpr int64_t near = int64_t(1) << 31;
  bool index32 = isNarrow && low >= 0 && high < 8 * near && (high + 1) * bits / 8 <= near;
  if (isEmpty)
    low = high = 0;
  int64_t lowBits, highBits;
  if (LLVM_UNLIKELY(__builtin_mul_overflow(low, bits, &lowBits) ||
                    __builtin_add_overflow(high, 1, &highBits) ||
                    __builtin_mul_overflow(highBits, bits, &highBits)))
    return fail(parameter, "its elements exceed the address space");
  uint64_t address = reinterpret_cast<uint64_t>(tensor.data), end;
  if (LLVM_UNLIKELY(!isEmpty)) {
    if (LLVM_UNLIKELY(!address))
      return fail(parameter, "expected the address of its elements, got null");
    if (LLVM_UNLIKELY(__builtin_add_overflow(address, uint64_t(highBits / 8), &end) ||
                      -uint64_t(lowBits) / 8 > address))
      return fail(parameter, "its elements exceed the address space");
  }
  unsigned align = alignmentLog2(address);
  if (LLVM_UNLIKELY(!isEmpty && bits > 8 && (address & (bits / 8 - 1))))
    return fail(parameter, "expected an address that is a multiple of its element size, " +
                               Twine(bits / 8) + " bytes, got 0x" + Twine::utohexstr(address));

  uint32_t facts = parameter.facts;
  if (LLVM_UNLIKELY((facts & KILN_FACTS_DEFAULT) != KILN_FACTS_DEFAULT)) {
    constexpr uint64_t each = 0x0101010101010101;
    uint64_t keep = (facts & KILN_FACT_STRIDES ? 7 : 0) | (facts & KILN_FACT_UNIT ? 8 | 16 : 0) |
                    (facts & KILN_FACT_EXTENTS ? 7 << 5 : 0);
    dims &= each * keep;
    align = facts & KILN_FACT_POINTER ? align : 0;
    index32 &= (facts & KILN_FACT_INDEX32) != 0;
  }
  words[0] = KILN_ARG_TENSOR | uint64_t(tensor.dtype) << 4 | uint64_t(rank) << 12 |
             uint64_t(align) << 16 | uint64_t(index32) << 19;
  words[1] = dims;
  checked = {shape, strides, address, rank, 0, 0};
  if (LLVM_LIKELY(!isEmpty)) {
    checked.begin = address + (lowBits >> 3);
    checked.end = address + ((highBits + 7) >> 3);
  }
  return true;
}

bool Checker::pointer(const Parameter &parameter, const KilnArg &arg, uint64_t &word,
                      Checked &checked) {
  uint64_t address;
  if (arg.kind == KILN_ARG_POINTER)
    address = reinterpret_cast<uint64_t>(arg.value.pointer);
  else if (arg.kind == KILN_ARG_INTEGER)
    address = uint64_t(arg.value.integer);
  else
    return failKind(parameter, arg);
  unsigned align = parameter.facts & KILN_FACT_POINTER ? alignmentLog2(address) : 0;
  word = KILN_ARG_POINTER | uint64_t(parameter.dtype) << 4 | uint64_t(align) << 16;
  checked = {nullptr, nullptr, address, 0, 0, 0};
  return true;
}

bool Checker::scalar(const Parameter &parameter, const KilnArg &arg, uint64_t &word,
                     Checked &checked) {
  bool isWhole = arg.kind == KILN_ARG_INTEGER || arg.kind == KILN_ARG_BOOL;
  bool isReal = arg.kind == KILN_ARG_FLOAT;
  if (LLVM_UNLIKELY(!isWhole && !(isReal && parameter.kind == KILN_ARG_FLOAT)))
    return failKind(parameter, arg);
  checked = {nullptr, nullptr, 0, 0, 0, 0};
  bool fits = isReal ? encodeReal(arg.value.real, parameter.dtype, checked.bits)
                     : encodeInteger(arg.value.integer, parameter.dtype, checked.bits);
  if (LLVM_UNLIKELY(!fits))
    return fail(parameter,
                Twine("expected a value that ") + dtypeInfo(parameter.dtype).name +
                    " can hold, got " +
                    (isReal ? std::to_string(arg.value.real) : std::to_string(arg.value.integer)));
  word = scalarWord(parameter);
  if (parameter.kind == KILN_ARG_INTEGER)
    word |= integerFacts(parameter.facts, arg.value.integer);
  return true;
}

//===- All arguments ------------------------------------------------------------------------===//

namespace {
/// The bytes of a tensor, and the first of its words.
struct Reach {
  uint64_t begin, end, alone;
  uint64_t *word;
};
} // namespace

/// Sets the bit on each tensor that asked for it and that no other tensor touches.
static inline void markNoAlias(Reach *tensors, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    Reach &left = tensors[i];
    for (size_t j = i + 1; j < count; ++j) {
      Reach &right = tensors[j];
      uint64_t apart = (left.end <= right.begin) | (right.end <= left.begin);
      left.alone &= apart;
      right.alone &= apart;
    }
    *left.word |= left.alone << 20;
  }
}

Expected<Device *> kiln::chooseDevice(ArrayRef<KilnArg> args, const KilnLaunchOptions *options) {
  if (options && options->device)
    return reinterpret_cast<Device *>(options->device);
  for (const KilnArg &arg : args)
    if (arg.kind == KILN_ARG_TENSOR)
      return deviceOfMemory({arg.value.tensor.device_type, arg.value.tensor.device_id});
  return deviceOfMemory({});
}

size_t kiln::computeKey(StringRef kernel, ArrayRef<Parameter> parameters, ArrayRef<KilnArg> args,
                        uint64_t variant, const Device &device, uint64_t *words, Checked *checked,
                        int64_t *strides, Error &error) {
  if (LLVM_UNLIKELY(args.size() != parameters.size())) {
    error = makeError(KILN_ERROR_INVALID_ARGUMENT, "kernel '" + kernel + "': expected " +
                                                       Twine(parameters.size()) +
                                                       " arguments, got " + Twine(args.size()));
    return 0;
  }
  Checker checker{kernel, device, error};
  words[0] = variant;
  words[1] = device.number | uint64_t(args.size()) << 32;
  uint64_t *word = words + 2;
  auto *reaches = static_cast<Reach *>(alloca((args.size() + 1) * sizeof(Reach)));
  size_t numTensors = 0;
  bool anyPointer = false; // nothing is known of what a bare pointer reaches
  for (size_t i = 0; i < args.size(); ++i, ++word) {
    const Parameter &parameter = parameters[i];
    const KilnArg &arg = args[i];
    if (parameter.kind == KILN_ARG_TENSOR) {
      if (LLVM_UNLIKELY(arg.kind != KILN_ARG_TENSOR)) {
        checker.failKind(parameter, arg);
        return 0;
      }
      const KilnTensor &tensor = arg.value.tensor;
      int64_t *dense = strides + i * KILN_MAX_RANK;
      if (LLVM_UNLIKELY(!usualTensor(parameter, tensor, device.memory, word, checked[i], dense) &&
                        !checker.tensor(parameter, tensor, word, checked[i], dense)))
        return 0;
      uint64_t asked = (parameter.facts & KILN_FACT_NOALIAS) != 0;
      reaches[numTensors++] = {checked[i].begin, checked[i].end, asked, word};
      ++word;
      continue;
    }
    if (LLVM_LIKELY(parameter.kind == KILN_ARG_INTEGER &&
                    usualInteger(parameter, arg, *word, checked[i])))
      continue;
    anyPointer |= parameter.kind == KILN_ARG_POINTER;
    if (LLVM_UNLIKELY(!checker.other(parameter, arg, *word, checked[i])))
      return 0;
  }
  if (!anyPointer)
    markNoAlias(reaches, numTensors);
  return word - words;
}
