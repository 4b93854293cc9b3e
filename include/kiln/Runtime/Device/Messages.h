// What programs on a device tell the host: the lines that they print, and assertions that failed.
//
// The records that threads leave (MessageRecord.h) are put together with the texts of the
// artifact's metadata, here and the same for all devices. Records are not trusted: a kernel that
// went wrong may have written over them.
#ifndef KILN_RUNTIME_DEVICE_MESSAGES_H
#define KILN_RUNTIME_DEVICE_MESSAGES_H

#include "kiln/Runtime/Device/MessageRecord.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <memory>
#include <string>
#include <vector>

namespace kiln {

/// One of the messages of a kernel.
struct Message {
  enum class Kind { Assert, Line, Real, Signed, Unsigned, Hex };
  Kind kind = Kind::Line;
  std::string text;           ///< an assertion's, or what stands in front of the value
  bool isTensor = false;      ///< whether the element's indices are printed
  std::vector<int64_t> shape; ///< of the tensor
  int64_t digits = 0;         ///< of Hex
  std::string file;           ///< of an assertion, where the source says it
  int64_t line = 0, column = 0;
};

/// Those of a kernel. Outlives the launches that refer to it.
struct MessageTable {
  std::string kernel;
  std::vector<Message> messages;

  /// "messages" of an artifact's metadata, without trust; the error is one phrase.
  static llvm::Expected<std::shared_ptr<const MessageTable>> parse(llvm::StringRef kernel,
                                                                   const llvm::json::Array &list);
};

/// What was found in a buffer.
struct Messages {
  std::string lines;    ///< each with its end
  std::string failure;  ///< the assertion that failed, of the first program if several did, or ""
  uint64_t dropped = 0; ///< lines that found no room
};

/// Memory for the records of one launch after the other.
class MessageBuffer {
public:
  static constexpr uint64_t defaultBytes = uint64_t(1) << 20;
  /// At least one record's, aligned to 64. What is there is overwritten.
  MessageBuffer(void *memory, uint64_t bytes);

  void *getMemory() const { return header; }
  /// What launches with this table left, in order: a print's elements in that of the tensor, prints
  /// as their first records came. The buffer is empty then.
  Messages take(const MessageTable &table);

private:
  MessageHeader *header;
  MessageRecord *records;
  uint64_t capacity;
};

/// Writes lines to standard output, in as few pieces as the system takes them, and to standard
/// error how many were dropped.
void writeMessages(const MessageTable &table, const Messages &messages);
void writeToOutput(llvm::StringRef text);

/// A float as lines show it.
std::string spellReal(double value);
/// "assertion failed: <text> at <file>:<line>:<column> in program (x, y, z)".
std::string spellAssertion(llvm::StringRef text, llvm::StringRef file, int64_t line, int64_t column,
                           llvm::ArrayRef<int64_t> program);

} // namespace kiln

#endif // KILN_RUNTIME_DEVICE_MESSAGES_H
