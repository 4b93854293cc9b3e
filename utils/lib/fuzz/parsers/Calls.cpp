// Calls of the C API with options, parameters, arguments and keys that a careless caller may give.
#include "Harness.h"
#include "kiln-c/Compiler.h"
#include "kiln-c/Launch.h"
#include <deque>
#include <string>
#include <vector>

using namespace kiln::fuzz;
using llvm::StringRef;

/// A failure has a code and a text; both go.
static bool failed(KilnError *error) {
  if (!error)
    return false;
  if (kilnErrorGetCode(error) == KILN_OK || kilnErrorGetMessage(error).size == 0)
    fail("expected an error with a code and a message", "");
  for (size_t i = 0, count = kilnErrorGetNumDiagnostics(error); i < count; ++i)
    if (kilnErrorGetDiagnostic(error, i).parent >= int64_t(i))
      fail("expected a note's parent before it", "");
  kilnErrorDestroy(error);
  return true;
}

/// Options, names and stages by turns wrong and right, around a kernel that compiles.
void kiln::fuzz::fuzzRequest(StringRef data) {
  static const StringRef source = R"(
tile.kernel @k(%x: !tile.view<?xf32>) grid {
  %n = arith.constant 1 : index
  tile.grid %n
} {
  %i = tile.program_id x
  %t = tile.load %x[%i] : !tile.view<?xf32> -> tensor<4xf32>
  tile.store %t, %x[%i] : tensor<4xf32>, !tile.view<?xf32>
  tile.return
})";
  Pieces pieces(data);
  KilnCompileRequest request;
  kilnCompileRequestInit(&request);
  request.source = source.data();
  request.source_size = source.size();
  uint8_t given = pieces.byte();
  request.opt_level = int8_t(pieces.byte()) % 5;
  request.fast_math = pieces.byte() & 1;
  std::string kernel = pieces.word().str(), target = pieces.word().str();
  std::string options = pieces.word().str(), name = pieces.word().str();
  request.kernel = given & 1 ? kernel.c_str() : nullptr;
  request.target = given & 2 ? target.c_str() : "cpu";
  request.options = given & 4 ? options.c_str() : "stop-after=tile";
  request.source_name = given & 8 ? name.c_str() : nullptr;
  std::vector<std::string> stages;
  std::vector<const char *> pointers;
  for (unsigned i = 0; i < 4 && !pieces.empty(); ++i)
    stages.push_back(pieces.word().str());
  for (const std::string &stage : stages)
    pointers.push_back(stage.c_str());
  request.keep_stages = pointers.data();
  request.num_keep_stages = pointers.size();
  KilnKey key;
  KilnArtifact *artifact = nullptr;
  failed(kilnCompileRequestKey(&request, &key));
  if (failed(kilnCompile(&request, &artifact)))
    return;
  KilnString section;
  for (const std::string &stage : stages)
    failed(kilnArtifactGetSection(artifact, ("ir:" + stage).c_str(), &section));
  kilnArtifactDestroy(artifact);
}

/// Parameters and arguments of any kind, type and shape; a key of any bytes.
void kiln::fuzz::fuzzLaunch(StringRef data) {
  Pieces pieces(data);
  static const char *const names[] = {"a", "", "a name\nwith a line", nullptr};
  std::vector<KilnParameter> parameters;
  std::vector<KilnArg> arguments;
  std::deque<std::vector<int64_t>> shapes; // what points into it stays valid
  static char memory[4096];
  for (unsigned i = 0, count = pieces.byte() % 6; i < count; ++i) {
    KilnParameter parameter{names[pieces.byte() % 4], pieces.byte() % 7 - 1, pieces.byte() % 26 - 1,
                            pieces.byte() % 12 - 2, pieces.byte()};
    parameters.push_back(parameter);
  }
  for (unsigned i = 0, count = pieces.byte() % 6; i < count; ++i) {
    KilnArg argument{};
    argument.kind = pieces.byte() % 7 - 1;
    if (argument.kind == KILN_ARG_TENSOR) {
      int32_t rank = pieces.byte() % 12 - 1;
      std::vector<int64_t> &shape = shapes.emplace_back(), &strides = shapes.emplace_back();
      for (int32_t dim = 0; dim < rank; ++dim) {
        shape.push_back(pieces.number());
        strides.push_back(pieces.number());
      }
      bool contiguous = pieces.byte() & 1;
      argument.value.tensor = {pieces.byte() % 8 ? memory + pieces.byte() % 64 : nullptr,
                               shapes[shapes.size() - 2].data(),
                               contiguous ? nullptr : shapes.back().data(),
                               rank,
                               pieces.byte() % 26 - 1,
                               pieces.byte() % 4,
                               pieces.byte() % 3 - 1};
    } else if (argument.kind == KILN_ARG_POINTER) {
      argument.value.pointer = memory + pieces.byte();
    } else {
      argument.value.integer = pieces.number();
    }
    arguments.push_back(argument);
  }
  KilnFunction *function = nullptr;
  if (failed(kilnFunctionCreate("f", parameters.data(), parameters.size(), &function)))
    return;
  KilnLaunchOptions options;
  kilnLaunchOptionsInit(&options);
  options.has_grid = pieces.byte() & 1;
  for (int64_t &extent : options.grid)
    extent = pieces.number();
  options.variant = pieces.byte();
  KilnString key{};
  KilnError *error = nullptr;
  KilnBuffer *text = nullptr;
  KilnLaunchStatus status =
      kilnFunctionLaunch(function, arguments.data(), arguments.size(), &options, &key, &error);
  if (status == KILN_LAUNCH_OK)
    fail("expected no kernel to be found", data);
  if (status == KILN_LAUNCH_FAILED)
    failed(error);
  else if (failed(kilnFunctionDescribeKey(function, key.data, key.size, &text)))
    fail("expected a key to be described", data);
  kilnBufferDestroy(text);
  text = nullptr;
  if (!failed(kilnFunctionKey(function, arguments.data(), arguments.size(), &options, &text)))
    kilnBufferDestroy(text);
  text = nullptr;
  if (!failed(kilnFunctionDescribeKey(function, pieces.rest.data(), pieces.rest.size(), &text)))
    kilnBufferDestroy(text);
  kilnFunctionDestroy(function);
}
