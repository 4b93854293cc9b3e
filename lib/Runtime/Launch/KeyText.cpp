// A launch key in words: what a front end writes into the kernel's signature.
#include "kiln/Runtime/Error.h"
#include "kiln/Runtime/Launch/DType.h"
#include "kiln/Runtime/Launch/Facts.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace kiln;
using namespace llvm;

/// "#tile.facts<…>" of its parts, or nothing if nothing is known.
static std::string attribute(ArrayRef<std::string> facts) {
  return facts.empty() ? "" : "#tile.facts<" + join(facts, ", ") + ">";
}

static std::string list(StringRef name, ArrayRef<int64_t> values) {
  std::string text = (name + " = [").str();
  for (auto [i, value] : enumerate(values))
    text += (i ? ", " : "") + std::to_string(value);
  return text + "]";
}

static json::Value orNull(bool isKnown, int64_t value) {
  return isKnown ? json::Value(value) : json::Value(nullptr);
}

static json::Object describeTensor(uint64_t word, uint64_t dims) {
  const DTypeInfo &type = dtypeInfo(word >> 4 & 255);
  unsigned rank = word >> 12 & 15;
  int64_t pointer = int64_t(1) << (word >> 16 & 7);
  bool index32 = word >> 19 & 1, noalias = word >> 20 & 1;

  json::Array shape, stridesKnown;
  SmallVector<int64_t> strides, extents;
  std::string shapeText, stridesText;
  for (unsigned i = 0; i < rank; ++i) {
    unsigned dim = dims >> (8 * i) & 255;
    bool unitStride = dim & 8, unitExtent = dim & 16;
    strides.push_back(dim & 7 ? int64_t(1) << ((dim & 7) - 1) : 0);
    extents.push_back(dim >> 5 ? int64_t(1) << (dim >> 5) : 0);
    shape.push_back(orNull(unitExtent, 1));
    stridesKnown.push_back(orNull(unitStride, 1));
    shapeText += unitExtent ? "1x" : "?x";
    stridesText += std::string(i ? ", " : "") + (unitStride ? "1" : "?");
  }
  std::string view = "!tile.view<" + shapeText + type.irName;
  view += rank ? ", strides [" + stridesText + "]>" : ">";

  SmallVector<std::string> facts;
  if (pointer > 1)
    facts.push_back("pointer = " + std::to_string(pointer));
  if (any_of(strides, [](int64_t value) { return value != 0; }))
    facts.push_back(list("strides", strides));
  if (any_of(extents, [](int64_t value) { return value != 0; }))
    facts.push_back(list("extents", extents));
  if (index32)
    facts.push_back("index32");
  if (noalias)
    facts.push_back("noalias");
  return json::Object{{"kind", "tensor"},
                      {"dtype", type.name},
                      {"type", view},
                      {"rank", rank},
                      {"shape", std::move(shape)},
                      {"strides", std::move(stridesKnown)},
                      {"facts", json::Object{{"pointer", pointer},
                                             {"strides", json::Array(strides)},
                                             {"extents", json::Array(extents)},
                                             {"index32", index32},
                                             {"noalias", noalias}}},
                      {"attribute", attribute(facts)}};
}

static json::Object describePointer(uint64_t word) {
  const DTypeInfo &type = dtypeInfo(word >> 4 & 255);
  int64_t pointer = int64_t(1) << (word >> 16 & 7);
  SmallVector<std::string> facts;
  if (pointer > 1)
    facts.push_back("pointer = " + std::to_string(pointer));
  return json::Object{{"kind", "pointer"},
                      {"dtype", type.name},
                      {"type", std::string("!tile.pointer<") + type.irName + ">"},
                      {"facts", json::Object{{"pointer", pointer}}},
                      {"attribute", attribute(facts)}};
}

static json::Object describeScalar(uint64_t word) {
  int32_t dtype = word >> 4 & 255;
  const DTypeInfo &type = dtypeInfo(dtype);
  int32_t kind = word & 15;
  // In memory a bool is a byte; as a value of the IR it is one bit.
  json::Object object{{"kind", kind == KILN_ARG_INTEGER ? "integer"
                               : kind == KILN_ARG_BOOL  ? "bool"
                                                        : "float"},
                      {"dtype", type.name},
                      {"type", type.kind == DTypeInfo::Bool ? "i1" : type.irName}};
  SmallVector<std::string> facts;
  if (kind == KILN_ARG_INTEGER) {
    bool isOne = word >> 21 & 1, isMultiple = word >> 22 & 1;
    object["value"] = orNull(isOne, 1);
    object["facts"] = json::Object{{"divisor", isMultiple ? 16 : 0}};
    if (isMultiple)
      facts.push_back("divisor = 16");
  }
  object["attribute"] = attribute(facts);
  return object;
}

Expected<std::string> kiln::describeKey(ArrayRef<Parameter> parameters, StringRef key) {
  SmallVector<uint64_t> words(key.size() / 8);
  auto wrong = [] {
    return makeError(KILN_ERROR_INVALID_ARGUMENT, "expected a key that a launch of this function "
                                                  "gave, got other bytes");
  };
  if (key.size() % 8 || words.size() < 2)
    return wrong();
  std::memcpy(words.data(), key.data(), key.size());
  Device *device = deviceByNumber(uint32_t(words[1]));
  if (!device || words[1] >> 32 != parameters.size())
    return wrong();
  json::Array arguments;
  size_t at = 2;
  for (const Parameter &parameter : parameters) {
    size_t take = parameter.kind == KILN_ARG_TENSOR ? 2 : 1;
    if (words.size() - at < take || (words[at] & 15) != uint64_t(parameter.kind) ||
        (take == 2 && (words[at] >> 12 & 15) > KILN_MAX_RANK))
      return wrong();
    json::Object argument = take == 2 ? describeTensor(words[at], words[at + 1])
                            : parameter.kind == KILN_ARG_POINTER ? describePointer(words[at])
                                                                 : describeScalar(words[at]);
    argument["name"] = parameter.name;
    arguments.push_back(std::move(argument));
    at += take;
  }
  if (at != words.size())
    return wrong();
  std::string text;
  raw_string_ostream(text) << json::Value(json::Object{
      {"variant", words[0]}, {"device", device->name}, {"arguments", std::move(arguments)}});
  return text;
}
