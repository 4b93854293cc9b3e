// Artifacts around the objects of Kernels.c.
#ifndef KILN_TEST_RUNTIME_SUPPORT_KERNELS_H
#define KILN_TEST_RUNTIME_SUPPORT_KERNELS_H

#include "kiln-c/Launch.h"
#include "kiln/Binary/Artifact.h"
#include "kiln/Runtime/Error.h"
#include "llvm/Support/MemoryBuffer.h"

namespace kiln::testing {

inline std::string objectOf(const std::string &kernel) {
  auto file = llvm::MemoryBuffer::getFile(std::string(KILN_TEST_OBJECTS "/") + kernel + ".o");
  return file ? (*file)->getBuffer().str() : "";
}

/// `metadata` is JSON with "arguments" and "abi"; kernel, target and the object come to it.
inline Artifact kernelArtifact(const std::string &kernel, const std::string &metadata) {
  llvm::json::Value value = llvm::cantFail(llvm::json::parse(metadata));
  llvm::json::Object object = std::move(*value.getAsObject());
  object["kernel"] = kernel;
  if (!object.get("target"))
    object["target"] = "cpu";
  return Artifact::create(std::move(object), {{"binary", objectOf(kernel)}});
}

/// z = x + y over f32 vectors, every extent and stride a parameter; `second` is the argument that
/// stands for y.
inline Artifact addArtifact(int second = 1) {
  std::string arguments, abi;
  for (int i = 0; i < 3; ++i) {
    std::string comma = i ? "," : "", arg = std::to_string(i == 1 ? second : i);
    arguments += comma + R"({"name":")" + "xyz"[i] +
                 R"(","kind":"view","type":"f32","shape":[null],"strides":[null]})";
    abi += comma + R"({"kind":"pointer","arg":)" + arg + R"(},{"kind":"extent","dim":0,"arg":)" +
           arg + R"(},{"kind":"stride","dim":0,"arg":)" + arg + "}";
  }
  return kernelArtifact("add", R"({"has_grid":true,"arguments":[)" + arguments + R"(],"abi":[)" +
                                   abi + "]}");
}

/// An i64 array (its address) and a number, no grid.
inline Artifact countArtifact(const std::string &kernel, const std::string &more = "") {
  return kernelArtifact(kernel, R"({"has_grid":false,"arguments":[
    {"name":"out","kind":"pointer","type":"i64"},{"name":"n","kind":"scalar","type":"i64"}],
    "abi":[{"kind":"pointer","arg":0},{"kind":"scalar","arg":1,"type":"i64"}])" +
                                    more + "}");
}

inline KilnArg tensor(void *data, int32_t dtype, const int64_t *shape, int32_t rank,
                      const int64_t *strides = nullptr, int32_t deviceType = 1) {
  KilnArg arg{};
  arg.kind = KILN_ARG_TENSOR;
  arg.value.tensor = {data, shape, strides, rank, dtype, deviceType, 0};
  return arg;
}
inline KilnArg integer(int64_t value) {
  KilnArg arg{};
  arg.kind = KILN_ARG_INTEGER;
  arg.value.integer = value;
  return arg;
}
inline KilnArg real(double value) {
  KilnArg arg{};
  arg.kind = KILN_ARG_FLOAT;
  arg.value.real = value;
  return arg;
}
inline KilnArg pointer(void *value) {
  KilnArg arg{};
  arg.kind = KILN_ARG_POINTER;
  arg.value.pointer = value;
  return arg;
}

inline KilnLaunchOptions gridOf(int64_t x, int64_t y = 1, int64_t z = 1) {
  KilnLaunchOptions options{};
  options.struct_size = sizeof(options);
  options.has_grid = 1;
  options.grid[0] = x;
  options.grid[1] = y;
  options.grid[2] = z;
  return options;
}

struct Failure {
  KilnErrorCode code = KILN_OK;
  std::string text;
};
inline Failure failureOf(llvm::Error error) {
  Failure result;
  llvm::handleAllErrors(std::move(error),
                        [&](const RuntimeError &why) { result = {why.code, why.text}; });
  return result;
}

} // namespace kiln::testing

#endif // KILN_TEST_RUNTIME_SUPPORT_KERNELS_H
