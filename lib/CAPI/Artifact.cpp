// kiln-c/Artifact.h.
#include "Objects.h"

using namespace kiln;
using namespace kiln::capi;
using namespace llvm;

KilnArtifact *kilnArtifactRetain(const KilnArtifact *artifact) {
  return artifact ? new KilnArtifact{artifact->artifact} : nullptr;
}
void kilnArtifactDestroy(KilnArtifact *artifact) { delete artifact; }

KilnString kilnArtifactGetMetadata(const KilnArtifact *artifact) {
  return string(artifact ? artifact->artifact.metadataText() : "");
}
size_t kilnArtifactGetNumSections(const KilnArtifact *artifact) {
  return artifact ? artifact->artifact.numSections() : 0;
}
KilnString kilnArtifactGetSectionName(const KilnArtifact *artifact, size_t index) {
  return index < kilnArtifactGetNumSections(artifact)
             ? string(artifact->artifact.sectionName(index))
             : string("");
}

KilnError *kilnArtifactGetSection(const KilnArtifact *artifact, const char *name, KilnString *out) {
  if (!artifact || !name || !out)
    return reportNull("kilnArtifactGetSection", "artifact, name and out");
  if (std::optional<StringRef> bytes = artifact->artifact.section(name)) {
    *out = string(*bytes);
    return nullptr;
  }
  std::string known;
  for (size_t i = 0; i < artifact->artifact.numSections(); ++i)
    known += (i ? ", '" : "'") + artifact->artifact.sectionName(i).str() + "'";
  return report(KILN_ERROR_NOT_FOUND, "the artifact of kernel '" +
                                          artifact->artifact.metadataString("kernel") +
                                          "' has no section '" + name + "': expected one of " +
                                          (known.empty() ? "none" : known));
}

KilnError *kilnArtifactSerialize(const KilnArtifact *artifact, KilnBuffer **out) {
  if (!artifact || !out)
    return reportNull("kilnArtifactSerialize", "artifact and out");
  *out = new KilnBuffer{artifact->artifact.serialized().str()};
  return nullptr;
}

KilnError *kilnArtifactDeserialize(const void *bytes, size_t size, KilnArtifact **out) {
  if ((!bytes && size) || !out)
    return reportNull("kilnArtifactDeserialize", "bytes and out");
  Expected<Artifact> artifact =
      Artifact::deserialize(std::string(static_cast<const char *>(bytes), size));
  if (!artifact)
    return report(artifact.takeError(), KILN_ERROR_CORRUPT);
  *out = new KilnArtifact{std::move(*artifact)};
  return nullptr;
}
