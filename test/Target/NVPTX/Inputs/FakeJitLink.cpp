// A stand-in for NVIDIA's libnvJitLink, of version 12.0. $KILN_FAKE_JITLINK says what is wrong with
// it: `chip` (it does not know the chip), `version` (it is older than the text's PTX), `text` (the
// text is wrong), `cubin` (it gives none).
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#define FAKE extern "C" __attribute__((visibility("default"))) int

static bool is(const char *what) {
  const char *wrong = std::getenv("KILN_FAKE_JITLINK");
  return wrong && std::strcmp(wrong, what) == 0;
}

static const char *log() {
  return is("version") ? "ptxas application ptx input, line 9; fatal   : Unsupported .version 8.0; "
                         "current version is '7.8'"
                       : "ptxas fatal   : a wrong text";
}

FAKE nvJitLinkVersion(unsigned *major, unsigned *minor) {
  *major = 12;
  *minor = 0;
  return 0;
}
FAKE nvJitLinkCreate(void **handle, uint32_t, const char **) {
  *handle = const_cast<char *>("handle");
  return is("chip") ? 1 : 0;
}
FAKE nvJitLinkDestroy(void **) { return 0; }
FAKE nvJitLinkAddData(void *, int, const void *, size_t, const char *) {
  return is("version") || is("text") ? 4 : 0;
}
FAKE nvJitLinkComplete(void *) { return 0; }
FAKE nvJitLinkGetLinkedCubinSize(void *, size_t *size) {
  *size = 16;
  return 0;
}
FAKE nvJitLinkGetLinkedCubin(void *, void *) { return 1; }
FAKE nvJitLinkGetErrorLogSize(void *, size_t *size) {
  *size = std::strlen(log()) + 1;
  return 0;
}
FAKE nvJitLinkGetErrorLog(void *, char *text) {
  std::strcpy(text, log());
  return 0;
}
