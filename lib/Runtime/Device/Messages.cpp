// Records of programs, and the texts that they become.
#include "kiln/Runtime/Device/Messages.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <unistd.h>

using namespace kiln;
using namespace llvm;

//===- Words --------------------------------------------------------------------------------===//

std::string kiln::spellReal(double value) {
  // Enough digits for a float to be told from its neighbours, without a tail of noise.
  if (std::isnan(value))
    return "nan";
  char text[32];
  std::snprintf(text, sizeof(text), "%.9g", value);
  return text;
}

std::string kiln::spellAssertion(StringRef text, StringRef file, int64_t line, int64_t column,
                                 ArrayRef<int64_t> program) {
  std::string words = "assertion failed";
  raw_string_ostream os(words);
  if (!text.empty())
    os << ": " << text;
  if (!file.empty())
    os << " at " << file << ':' << line << ':' << column;
  os << " in program (" << program[0] << ", " << program[1] << ", " << program[2] << ')';
  return words;
}

void kiln::writeToOutput(StringRef text) {
  while (!text.empty()) {
    ssize_t put = ::write(STDOUT_FILENO, text.data(), text.size());
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return;
    text = text.drop_front(put);
  }
}

void kiln::writeMessages(const MessageTable &table, const Messages &messages) {
  writeToOutput(messages.lines);
  if (messages.dropped)
    errs() << "kernel '" << table.kernel << "': " << messages.dropped
           << " lines that it printed found no room and are lost\n";
}

static std::string spell(const Message &message, const MessageRecord &record) {
  std::string line;
  raw_string_ostream os(line);
  const uint32_t *program = record.program;
  os << '(' << program[0] << ", " << program[1] << ", " << program[2] << ") ";
  if (message.isTensor && !message.shape.empty()) {
    std::vector<int64_t> indices;
    uint64_t rest = record.element;
    for (int64_t extent : reverse(message.shape)) {
      indices.push_back(rest % extent);
      rest /= extent;
    }
    os << '[';
    interleaveComma(reverse(indices), os);
    os << "] ";
  }
  os << message.text;
  switch (message.kind) {
  case Message::Kind::Assert:
  case Message::Kind::Line:
    break;
  case Message::Kind::Real: {
    double value;
    std::memcpy(&value, &record.value, sizeof(value));
    os << ": " << spellReal(value);
    break;
  }
  case Message::Kind::Signed:
    os << ": " << int64_t(record.value);
    break;
  case Message::Kind::Unsigned:
    os << ": " << record.value;
    break;
  case Message::Kind::Hex:
    os << ": 0x" << utohexstr(record.value, /*LowerCase=*/true, message.digits);
    break;
  }
  os << '\n';
  return line;
}

//===- The table ----------------------------------------------------------------------------===//

Expected<std::shared_ptr<const MessageTable>> MessageTable::parse(StringRef kernel,
                                                                  const json::Array &list) {
  auto table = std::make_shared<MessageTable>();
  table->kernel = kernel.str();
  for (const json::Value &value : list) {
    const json::Object *entry = value.getAsObject();
    StringRef name = entry ? entry->getString("kind").value_or("") : "";
    static const std::pair<StringRef, Message::Kind> kinds[] = {
        {"assert", Message::Kind::Assert},     {"line", Message::Kind::Line},
        {"real", Message::Kind::Real},         {"signed", Message::Kind::Signed},
        {"unsigned", Message::Kind::Unsigned}, {"hex", Message::Kind::Hex}};
    const auto *kind = find_if(kinds, [&](auto &known) { return known.first == name; });
    if (kind == std::end(kinds))
      return createStringError("a message of unknown kind '" + name + "'");
    Message &message = table->messages.emplace_back();
    message.kind = kind->second;
    message.text = entry->getString("text").value_or("").str();
    message.file = entry->getString("file").value_or("").str();
    message.line = entry->getInteger("line").value_or(0);
    message.column = entry->getInteger("column").value_or(0);
    message.digits = entry->getInteger("digits").value_or(0);
    const json::Array *shape = entry->getArray("shape");
    message.isTensor = shape != nullptr;
    for (size_t i = 0; shape && i < shape->size(); ++i)
      message.shape.push_back((*shape)[i].getAsInteger().value_or(0));
    if (message.digits < 0 || message.digits > 16 ||
        any_of(message.shape, [](int64_t extent) { return extent < 1; }))
      return createStringError("a message without proper shape and digits");
  }
  return table;
}

//===- The buffer ---------------------------------------------------------------------------===//

MessageBuffer::MessageBuffer(void *memory, uint64_t bytes)
    : header(static_cast<MessageHeader *>(memory)),
      records(reinterpret_cast<MessageRecord *>(header + 1)),
      capacity((bytes - sizeof(MessageHeader)) / sizeof(MessageRecord)) {
  std::memset(memory, 0, bytes);
  header->capacity = capacity;
}

Messages MessageBuffer::take(const MessageTable &table) {
  Messages found;
  uint64_t count = std::min(header->claimed, capacity);
  found.dropped = header->dropped;
  // An element's n-th record of a message belongs to the message's n-th time in this program: one
  // thread writes them all, in order. Times come as their first records did.
  using Time = std::array<uint32_t, 5>;              // program, message, n
  std::map<std::array<uint32_t, 5>, uint32_t> times; // program, message, element: how many so far
  std::map<Time, uint64_t> first;
  std::vector<std::array<uint64_t, 3>> lines; // time, element, record
  std::array<uint32_t, 3> failed;
  for (uint64_t i = 0; i < count; ++i) {
    const MessageRecord &record = records[i];
    if (record.message == 0 || record.message > table.messages.size())
      continue;
    const Message &message = table.messages[record.message - 1];
    const uint32_t *program = record.program;
    if (message.kind == Message::Kind::Assert) {
      std::array<uint32_t, 3> place{program[2], program[1], program[0]};
      if (!found.failure.empty() && !(place < failed))
        continue;
      failed = place;
      found.failure = spellAssertion(message.text, message.file, message.line, message.column,
                                     {program[0], program[1], program[2]});
      continue;
    }
    uint32_t n = times[{program[0], program[1], program[2], record.message, record.element}]++;
    Time time{program[0], program[1], program[2], record.message, n};
    lines.push_back({first.try_emplace(time, i).first->second, record.element, i});
  }
  llvm::sort(lines);
  for (auto [time, element, i] : lines)
    found.lines += spell(table.messages[records[i].message - 1], records[i]);
  std::memset(static_cast<void *>(records), 0, count * sizeof(MessageRecord));
  *header = {};
  header->capacity = capacity;
  return found;
}
