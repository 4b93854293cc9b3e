// Sources, requests and owned handles for the C API's tests.
#ifndef KILN_TEST_CAPI_SUPPORT_H
#define KILN_TEST_CAPI_SUPPORT_H

#include "../Runtime/Support/TemporaryDirectory.h"
#include "kiln-c/Cache.h"
#include "kiln-c/Launch.h"
#include "gmock/gmock.h"
#include <memory>
#include <string>

namespace kiln::testing {

inline const std::string copySource = R"(
tile.kernel @copy(%x: !tile.view<?xf32>, %y: !tile.view<?xf32>) grid {
  %n = tile.dim %x, 0 : !tile.view<?xf32>
  %c128 = arith.constant 128 : index
  %programs = arith.ceildivui %n, %c128 : index
  tile.grid %programs
} {
  %i = tile.program_id x
  %c128 = arith.constant 128 : index
  %offset = arith.muli %i, %c128 : index
  %t = tile.load %x[%offset] : !tile.view<?xf32> -> tensor<128xf32>
  tile.store %t, %y[%offset] : tensor<128xf32>, !tile.view<?xf32>
  tile.return
}
)";

struct Release {
  void operator()(KilnError *error) const { kilnErrorDestroy(error); }
  void operator()(KilnArtifact *artifact) const { kilnArtifactDestroy(artifact); }
  void operator()(KilnBuffer *buffer) const { kilnBufferDestroy(buffer); }
  void operator()(KilnCache *cache) const { kilnCacheClose(cache); }
  void operator()(KilnExecutable *executable) const { kilnExecutableDestroy(executable); }
};
template <typename T>
using Owned = std::unique_ptr<T, Release>;

inline std::string text(KilnString string) { return {string.data, string.size}; }

/// The message of an error, which is destroyed; empty for success.
inline std::string messageOf(KilnError *error) {
  Owned<KilnError> owned(error);
  return error ? text(kilnErrorGetMessage(error)) : "";
}
inline KilnErrorCode codeOf(KilnError *error) {
  Owned<KilnError> owned(error);
  return kilnErrorGetCode(error);
}

inline KilnCompileRequest requestOf(const std::string &source) {
  KilnCompileRequest request;
  kilnCompileRequestInit(&request);
  request.source = source.data();
  request.source_size = source.size();
  request.source_name = "test.mlir";
  request.target = "cpu";
  return request;
}

/// The request points into its source.
KilnCompileRequest requestOf(std::string &&source) = delete;

inline Owned<KilnArtifact> compile(const KilnCompileRequest &request) {
  KilnArtifact *artifact = nullptr;
  std::string message = messageOf(kilnCompile(&request, &artifact));
  EXPECT_EQ(message, "");
  return Owned<KilnArtifact>(artifact);
}

inline std::string sectionOf(const KilnArtifact *artifact, const char *name) {
  KilnString bytes{};
  return codeOf(kilnArtifactGetSection(artifact, name, &bytes)) == KILN_OK ? text(bytes) : "";
}

} // namespace kiln::testing

#endif // KILN_TEST_CAPI_SUPPORT_H
