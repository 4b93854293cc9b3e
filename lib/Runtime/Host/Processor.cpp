// Processor.h: the artifact's word against what the machine says of itself.
#include "kiln/Runtime/Host/Processor.h"
#include "kiln/Runtime/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace kiln;
using namespace llvm;

/// What keeps the code from running here, or "".
static std::string whyNotHere(const Artifact &artifact) {
  StringRef architecture = artifact.metadataString("processor");
  std::string here = Triple(sys::getProcessTriple()).getArchName().str();
  if (!architecture.empty() && architecture != here)
    return ("expected a processor of " + architecture + ", got one of " + here).str();
  const json::Array *needed = artifact.metadata().getArray("processor_features");
  if (!needed)
    return "";
  static const StringMap<bool> has = sys::getHostCPUFeatures();
  std::vector<std::string> missing;
  for (const json::Value &feature : *needed)
    if (std::optional<StringRef> name = feature.getAsString(); name && !has.lookup(*name))
      missing.push_back(name->str());
  if (missing.empty())
    return "";
  return ("expected a processor with " + join(missing, ", ") + ", got " + sys::getHostCPUName() +
          ", which has not; compile for an older kind, such as cpu:x86-64-v2, or for several")
      .str();
}

Error kiln::checkProcessor(const Artifact &artifact, StringRef kernel) {
  std::string why = whyNotHere(artifact);
  return why.empty() ? Error::success()
                     : makeError(KILN_ERROR_UNSUPPORTED, "kernel '" + kernel + "': " + why);
}

Expected<Artifact> kiln::chooseVersion(const Artifact &artifact, StringRef kernel) {
  const json::Array *versions = artifact.metadata().getArray("versions");
  if (!versions)
    return artifact;
  std::optional<Artifact> best;
  size_t most = 0;
  std::string reasons;
  for (const json::Value &entry : *versions) {
    const json::Object *version = entry.getAsObject();
    std::optional<StringRef> name = version ? version->getString("section") : std::nullopt;
    std::optional<StringRef> bytes = name ? artifact.section(*name) : std::nullopt;
    if (!bytes)
      return makeError(KILN_ERROR_CORRUPT,
                       "the artifact of kernel '" + kernel + "' lacks one of its versions");
    Expected<Artifact> made = Artifact::deserialize(bytes->str());
    if (!made)
      return makeError(KILN_ERROR_CORRUPT,
                       "the artifact of kernel '" + kernel + "': " + toString(made.takeError()));
    if (std::string why = whyNotHere(*made); !why.empty()) {
      reasons += (reasons.empty() ? "" : "; ") + made->metadataString("target").str() + ": " + why;
      continue;
    }
    const json::Array *features = made->metadata().getArray("processor_features");
    size_t count = features ? features->size() : 0;
    if (!best || count > most) {
      best = std::move(*made);
      most = count;
    }
  }
  if (!best)
    return makeError(KILN_ERROR_UNSUPPORTED, "kernel '" + kernel +
                                                 "': none of the artifact's versions runs on this "
                                                 "machine: " +
                                                 reasons);
  return std::move(*best);
}
