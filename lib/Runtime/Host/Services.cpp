// Printing by whole lines, and the first failed assert of a launch.
#include "LaunchServices.h"
#include "kiln/Runtime/Device/Messages.h"

using namespace kiln;
using namespace llvm;

/// The line that this thread is collecting.
static std::string &line() {
  static thread_local std::string text;
  return text;
}

static void writeText(HostServices *, const char *text, int64_t size) { line().append(text, size); }
static void writeSigned(HostServices *, int64_t value) { line() += std::to_string(value); }
static void writeUnsigned(HostServices *, uint64_t value) { line() += std::to_string(value); }

static void writeReal(HostServices *, double value) { line() += spellReal(value); }

static void writeLine(HostServices *) {
  std::string text = std::move(line());
  line().clear();
  // One write a line: the system keeps lines of several threads apart.
  writeToOutput(text + '\n');
}

static void recordAssert(HostServices *services, const char *message, int64_t messageSize,
                         const char *file, int64_t fileSize, int64_t line, int64_t column,
                         int64_t x, int64_t y, int64_t z) {
  AssertReport &report = *static_cast<LaunchServices *>(services)->report;
  std::lock_guard<std::mutex> lock(report.mutex);
  if (!report.text.empty())
    return;
  report.text = spellAssertion(StringRef(message, messageSize), StringRef(file, fileSize), line,
                               column, {x, y, z});
}

LaunchServices::LaunchServices(AssertReport &report)
    : HostServices{writeText, writeSigned, writeUnsigned, writeReal, writeLine, recordAssert},
      report(&report) {}
