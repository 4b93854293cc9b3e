// See the header. A document that is kept back is empty to the server.
#include "Proxy.h"
#include "OpDocs.h"
#include "Refusals.h"
#include "kiln-c/Version.h"
#include "llvm/Support/LSP/Protocol.h"
#include "llvm/Support/raw_ostream.h"

using namespace kiln;
using namespace kiln::lsp;
using llvm::StringRef;
namespace json = llvm::json;

static std::string textOf(const json::Value &value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

/// A document's name as both sides spell it: the server's has its own escapes.
static std::string keyOf(StringRef uri) {
  llvm::Expected<llvm::lsp::URIForFile> parsed = llvm::lsp::URIForFile::fromURI(uri);
  if (parsed)
    return parsed->file().str();
  llvm::consumeError(parsed.takeError());
  return uri.str();
}

static std::string documentOf(const json::Object &params) {
  const json::Object *document = params.getObject("textDocument");
  return keyOf(document ? document->getString("uri").value_or("") : "");
}

void Proxy::fromEditor(json::Value &message) {
  std::lock_guard<std::mutex> lock(mutex);
  json::Object *object = message.getAsObject();
  json::Object *params = object ? object->getObject("params") : nullptr;
  if (!params)
    return;
  StringRef method = object->getString("method").value_or("");
  if (method == "textDocument/didOpen")
    return open(*params);
  if (method == "textDocument/didChange")
    return change(*params);
  if (method == "textDocument/didClose") {
    documents.erase(documentOf(*params));
    return;
  }
  const json::Value *id = object->get("id");
  if (!id)
    return;
  if (method == "initialize") {
    pending[textOf(*id)] = {method.str(), ""};
    const json::Object *options = params->getObject("initializationOptions");
    if (const json::Array *asked = options ? options->getArray("targets") : nullptr) {
      targets.clear();
      for (const json::Value &target : *asked)
        targets.push_back(target.getAsString().value_or("").str());
    }
  }
  if (method == "textDocument/hover")
    if (const json::Object *position = params->getObject("position"))
      if (auto known = documents.find(documentOf(*params)); known != documents.end())
        pending[textOf(*id)] = {method.str(), opAt(known->second.rbegin()->second.text,
                                                   position->getInteger("line").value_or(0),
                                                   position->getInteger("character").value_or(0))
                                                  .str()};
}

void Proxy::open(json::Object &params) {
  json::Object *item = params.getObject("textDocument");
  if (!item)
    return;
  std::string text = item->getString("text").value_or("").str();
  std::optional<SourceProblem> problem = findSourceProblem(text);
  documents[documentOf(params)] = {
      {item->getInteger("version").value_or(0), Document{std::move(text), problem}}};
  if (problem)
    (*item)["text"] = "";
}

void Proxy::change(json::Object &params) {
  auto known = documents.find(documentOf(params));
  if (known == documents.end())
    return;
  Document document = known->second.rbegin()->second;
  llvm::lsp::DidChangeTextDocumentParams parsed;
  json::Path::Root root;
  std::string text = document.text;
  if (fromJSON(json::Value(json::Object(params)), parsed, root) &&
      succeeded(llvm::lsp::TextDocumentContentChangeEvent::applyTo(parsed.contentChanges, text))) {
    document = {text, findSourceProblem(text)};
    known->second[parsed.textDocument.version] = document;
  }
  // The whole text each time: the server must not go on from what it was never given.
  params["contentChanges"] =
      json::Array{json::Object{{"text", document.problem ? std::string() : document.text}}};
}

void Proxy::fromServer(json::Value &message) {
  json::Object *object = message.getAsObject();
  if (!object)
    return;
  if (object->getString("method") == "textDocument/publishDiagnostics") {
    if (json::Object *params = object->getObject("params"))
      completeDiagnostics(*params);
    return;
  }
  const json::Value *id = object->get("id");
  if (!id || object->get("method"))
    return;
  std::lock_guard<std::mutex> lock(mutex);
  auto asked = pending.find(textOf(*id));
  if (asked == pending.end())
    return;
  if (asked->second.method == "initialize") {
    if (json::Object *result = object->getObject("result"))
      (*result)["serverInfo"] =
          json::Object{{"name", "tile-lsp-server"}, {"version", KILN_VERSION_STRING}};
  } else {
    completeHover(asked->second, *object);
  }
  pending.erase(asked);
}

void Proxy::completeHover(const Asked &asked, json::Object &answer) {
  StringRef docs = documentationOf(asked.op);
  if (docs.empty())
    return;
  std::string text = ("`" + asked.op + "`\n\n" + docs).str();
  json::Object *result = answer.getObject("result");
  json::Object *contents = result ? result->getObject("contents") : nullptr;
  if (!contents) {
    answer.erase("error");
    answer["result"] =
        json::Object{{"contents", json::Object{{"kind", "markdown"}, {"value", text}}}};
    return;
  }
  (*contents)["value"] = (contents->getString("value").value_or("") + "\n***\n" + text).str();
}

void Proxy::completeDiagnostics(json::Object &params) {
  Document document;
  std::vector<std::string> wanted;
  {
    std::lock_guard<std::mutex> lock(mutex);
    auto known = documents.find(keyOf(params.getString("uri").value_or("")));
    // Of an older version, the next message says more.
    if (known == documents.end())
      return;
    Versions &versions = known->second;
    auto reported = versions.find(params.getInteger("version").value_or(-1));
    if (reported == versions.end())
      return;
    document = reported->second;
    versions.erase(versions.begin(), reported);
    wanted = targets;
  }
  json::Array *diagnostics = params.getArray("diagnostics");
  if (!diagnostics)
    return;
  if (document.problem) {
    const SourceProblem &problem = *document.problem;
    diagnostics->push_back(
        makeDiagnostic(document.text, problem.line, problem.column, problem.text));
    return;
  }
  for (const json::Value &diagnostic : *diagnostics)
    if (diagnostic.getAsObject() && diagnostic.getAsObject()->getInteger("severity") == 1)
      return;
  for (json::Value &refusal : findRefusals(document.text, wanted, registry))
    diagnostics->push_back(std::move(refusal));
}
