// kiln-c/Compiler.h: checking a request, then compiling it here or in a worker.
#include "Worker.h"
#include "kiln/Runtime/Structure.h"
#include "kiln/Support/SourceLimits.h"
#include "llvm/Support/Endian.h"

using namespace kiln;
using namespace kiln::capi;
using namespace llvm;

void kilnCompileRequestInit(KilnCompileRequest *request) {
  if (!request)
    return;
  *request = {};
  request->struct_size = sizeof(KilnCompileRequest);
  request->opt_level = 3;
  request->max_source_bytes = uint64_t(64) << 20;
  request->max_depth = kMaxSourceDepth;
  request->worker_memory_bytes = uint64_t(8) << 30;
  request->worker_seconds = 300;
}

CompileRequest capi::convert(const KilnCompileRequest &request) {
  CompileRequest result;
  result.source = StringRef(static_cast<const char *>(request.source), request.source_size);
  if (request.source_name)
    result.sourceName = request.source_name;
  result.kernel = text(request.kernel).str();
  if (request.target)
    result.target = request.target;
  for (size_t i = 0; i < request.num_keep_stages; ++i)
    result.keepStages.push_back(text(request.keep_stages[i]).str());
  result.optLevel = request.opt_level;
  result.fastMath = request.fast_math;
  result.vendorMath = request.vendor_math;
  result.options = text(request.options).str();
  result.maxDepth = request.max_depth;
  return result;
}

Expected<Artifact> capi::compileHere(const CompileRequest &request, DiagnosticHandler handler) {
#ifdef KILN_HAS_COMPILER
  Expected<Artifact> artifact = kiln::compile(request, handler);
  if (!artifact)
    return artifact.takeError();
  return artifact->withMetadata(json::Object{{"compiler", StringRef(kilnCompilerId().data)}});
#else
  return makeError(KILN_ERROR_UNSUPPORTED, "this build can run kernels but not compile them");
#endif
}

/// Whether LLVM's assembler is going to read words of the source, or its reader of bitcode what
/// others wrote. They abort over some input that makes no sense, so it does not reach them in a
/// process that has anything to lose. An op's name is spelled out in text and in bytecode.
static bool holdsForeignCode(StringRef source) {
  return source.contains("inline_asm") || source.contains("extern_call");
}

/// Of the first version, which ended with `user_data`.
static constexpr size_t firstRequestBytes =
    offsetof(KilnCompileRequest, user_data) + sizeof(KilnCompileRequest::user_data);

static KilnError *check(const KilnCompileRequest &request) {
  if (Error error = checkStructure(&request, request.struct_size, firstRequestBytes,
                                   sizeof(KilnCompileRequest), "KilnCompileRequest"))
    return report(std::move(error));
  if (!request.source && request.source_size)
    return reportNull("kilnCompile", "source");
  if (request.num_keep_stages && !request.keep_stages)
    return reportNull("kilnCompile", "keep_stages");
  if (request.opt_level < 0 || request.opt_level > 3)
    return report(KILN_ERROR_INVALID_ARGUMENT,
                  "expected an optimisation level of 0 to 3, got " + Twine(request.opt_level));
  for (int32_t flag : {request.fast_math, request.vendor_math})
    if (flag < 0 || flag > 1)
      return report(KILN_ERROR_INVALID_ARGUMENT,
                    "expected fast_math and vendor_math to be 0 or 1, got " + Twine(flag));
  if (request.isolation < KILN_ISOLATION_NONE || request.isolation > KILN_ISOLATION_KEPT_WORKER)
    return report(KILN_ERROR_INVALID_ARGUMENT,
                  "expected an isolation of 0 to 2, got " + Twine(int(request.isolation)));
  return nullptr;
}

KilnError *capi::compile(const KilnCompileRequest &given, std::optional<Artifact> &out) {
  if (KilnError *error = check(given))
    return error;
  KilnCompileRequest request = adoptStructure(given);
  CompileRequest converted = convert(request);
  if (Error error = checkSource(converted.source, converted.sourceName, request.max_source_bytes,
                                request.max_depth)) {
    // It is about the source, so it stands among the diagnostics too.
    KilnError *refused = report(std::move(error));
    append(refused->diagnostics, {Severity::Error, "", 0, 0, refused->message});
    return refused;
  }
  if (request.cancelled && request.cancelled(request.user_data))
    return report(KILN_ERROR_CANCELLED,
                  "kernel '" + converted.kernel + "': the compile was cancelled");

  std::vector<KilnError::Located> seen;
  auto handler = [&](const Diagnostic &diagnostic) {
    append(seen, diagnostic);
    KilnDiagnostic presented = present(seen.back().diagnostic, seen.back().parent);
    if (request.diagnostic)
      request.diagnostic(&presented, request.user_data);
  };
  KilnCompileRequest limits = request;
  if (limits.isolation == KILN_ISOLATION_NONE && holdsForeignCode(converted.source))
    limits.isolation = KILN_ISOLATION_KEPT_WORKER;
  Expected<Artifact> artifact = limits.isolation == KILN_ISOLATION_NONE
                                    ? compileHere(converted, handler)
                                    : compileInWorker(converted, limits, handler);
  if (!artifact) {
    KilnError *error = report(artifact.takeError(), KILN_ERROR_COMPILE);
    error->diagnostics = std::move(seen);
    return error;
  }
  out = std::move(*artifact);
  return nullptr;
}

KilnError *kilnCompile(const KilnCompileRequest *request, KilnArtifact **out) {
  if (!request || !out)
    return reportNull("kilnCompile", "request and out");
  std::optional<Artifact> artifact;
  if (KilnError *error = capi::compile(*request, artifact))
    return error;
  *out = new KilnArtifact{std::move(*artifact)};
  return nullptr;
}

KilnError *kilnTargetsDescribe(KilnBuffer **json) {
  if (!json)
    return reportNull("kilnTargetsDescribe", "json");
#ifdef KILN_HAS_COMPILER
  *json = new KilnBuffer{describeTargets()};
#else
  *json = new KilnBuffer{"{\"targets\":[]}"};
#endif
  return nullptr;
}

//===- Keys ---------------------------------------------------------------------------------===//

namespace {
/// Each field goes in with its length before it, so that no two requests read the same.
class Fields {
public:
  void add(StringRef bytes) {
    add(bytes.size());
    hasher.update(bytes);
  }
  void add(uint64_t number) {
    uint8_t bytes[8];
    support::endian::write64le(bytes, number);
    hasher.update(ArrayRef(bytes));
  }
  Key finish() {
    Key key;
    auto sum = hasher.final<32>();
    std::memcpy(key.bytes.data(), sum.data(), sum.size());
    return key;
  }

private:
  BLAKE3 hasher;
};
} // namespace

KilnError *capi::requestKey(const KilnCompileRequest &request, Key &out) {
  if (KilnError *error = check(request))
    return error;
  CompileRequest converted = convert(adoptStructure(request));
  Fields fields;
  fields.add("kiln request 1");
  fields.add(StringRef(kilnCompilerId().data));
  fields.add(converted.source);
  // Names of sources are in the locations of what comes out, in asserts for example.
  fields.add(converted.sourceName);
  fields.add(converted.kernel);
  fields.add(converted.target);
#ifdef KILN_HAS_COMPILER
  fields.add(targetIdentity(converted.target));
#endif
  fields.add(converted.keepStages.size());
  for (const std::string &stage : converted.keepStages)
    fields.add(stage);
  fields.add(uint64_t(converted.optLevel));
  fields.add(uint64_t(converted.fastMath));
  fields.add(uint64_t(converted.vendorMath));
  fields.add(converted.options);
  out = fields.finish();
  return nullptr;
}

KilnError *kilnCompileRequestKey(const KilnCompileRequest *request, KilnKey *out) {
  if (!request || !out)
    return reportNull("kilnCompileRequestKey", "request and out");
  Key key;
  if (KilnError *error = requestKey(*request, key))
    return error;
  std::memcpy(out->bytes, key.bytes.data(), sizeof(out->bytes));
  return nullptr;
}

KilnError *kilnTargetIdentity(const char *target, KilnBuffer **out) {
  if (!target || !out)
    return reportNull("kilnTargetIdentity", "target and out");
#ifdef KILN_HAS_COMPILER
  if (std::string why = *target ? whyUnknown(target) : ""; !why.empty())
    return report(makeError(KILN_ERROR_NOT_FOUND, why));
  *out = new KilnBuffer{targetIdentity(target)};
#else
  *out = new KilnBuffer{};
#endif
  return nullptr;
}

void kilnKeyOfBytes(const void *bytes, size_t size, KilnKey *out) {
  if (!out || (size && !bytes))
    return;
  Key key = Key::of(StringRef(static_cast<const char *>(bytes), size));
  std::memcpy(out->bytes, key.bytes.data(), sizeof(out->bytes));
}
