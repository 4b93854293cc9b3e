// From text to artifact, stage by stage.
#include "kiln/Pipeline/Compile.h"
#include "Compilation.h"
#include "Contexts.h"
#include "HandBack.h"
#include "HostGrid.h"
#include "PrepareModule.h"
#include "SolutionFiles.h"
#include "kiln/Dialect/Tile/IR/Marks.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Pipeline/Pipeline.h"
#include "kiln/Runtime/Error.h"
#include "kiln/Schedule/Problem/ExactSolver.h"
#include "kiln/Target/AllTargets.h"
#include "kiln/Target/Common/ABI.h"
#include "kiln/Target/Common/FastMath.h"
#include "kiln/Target/Common/ForeignCalls.h"
#include "kiln/Target/Registry.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
namespace json = llvm::json;

namespace kiln {

llvm::Error Compilation::readOptions() {
  SmallVector<StringRef> options;
  llvm::SplitString(request.options, options);
  llvm::StringSet<> given;
  for (StringRef option : options) {
    auto [name, value] = option.split('=');
    if (!given.insert(name).second)
      return reporter.error("expected the pipeline option " + name + " once, got it twice");
    std::optional<Stage> stage = parseStage(value);
    if (name == "stop-after") {
      if (!stage)
        return reporter.error("expected stop-after to be a stage, got '" + value + "'");
      last = *stage;
    } else if (name == "from") {
      if (!stage || *stage > Stage::LLVM)
        return reporter.error("expected from to be tile, layout, schedule, target or llvm, got '" +
                              value + "'");
      from = *stage;
    } else if (name == "exact") {
      if (value != "true" && value != "false")
        return reporter.error("expected exact to be true or false, got '" + value + "'");
      exact = value == "true";
    } else if (name == "model") {
      if (value != "true" && value != "false")
        return reporter.error("expected model to be true or false, got '" + value + "'");
      wantsModel = value == "true";
    } else if (name == "solver") {
      if (value != "swing" && value != "exact")
        return reporter.error("expected solver to be swing or exact, got '" + value + "'");
      if (std::string missing = schedule::ExactSolver::whyMissing();
          value == "exact" && !missing.empty())
        return reporter.error(missing);
      if (value == "exact")
        solver = createExactSolver();
    } else {
      return reporter.error(
          "expected the pipeline option stop-after, from, exact, model or solver, got '" + name +
          "'");
    }
  }
  if (from && last <= *from)
    return reporter.error("expected to go on from the stage " + stringify(*from) +
                          " to one behind it, got " + stringify(last));
  if (exact && !isDone(Stage::Layout))
    return reporter.error("expected exact=true with from=layout or a later stage");
  if (wantsModel && from)
    return reporter.error("expected model=true for a source, of which nothing is decided");
  if (solver && exact)
    return reporter.error(
        "expected solver=exact or exact=true, with which nothing is left to solve");
  return llvm::Error::success();
}

llvm::Expected<std::string> Compilation::takeBack(ModuleOp module) {
  FailureOr<HandedBack> back = readHandBack(module, *from);
  if (failed(back))
    return reporter.takeError("the source cannot be taken back");
  if (!request.kernel.empty() && request.kernel != back->kernel)
    return makeError(KILN_ERROR_NOT_FOUND, "expected a kernel named @" + request.kernel +
                                               " (the module holds @" + back->kernel + ")");
  if (request.optLevel != CompileRequest().optLevel && request.optLevel != back->optLevel)
    return reporter.error("expected the optimisation level that the source was compiled with, " +
                          Twine(back->optLevel) + ", got " + Twine(request.optLevel));
  auto isOther = [](bool asked, bool was) { return asked && !was; };
  if (isOther(request.fastMath, back->fastMath) || isOther(request.vendorMath, back->vendorMath))
    return reporter.error("expected the mathematics that the source was compiled with: fast-math "
                          "and vendor-math are decided before the stage tile");
  optLevel = back->optLevel;
  fastMath = back->fastMath;
  handedGrid = std::move(back->grid);
  return back->kernel;
}

LogicalResult Compilation::checkHandedBack(ModuleOp module, TargetInterface target) {
  PassManager pm(&context, ModuleOp::getOperationName());
  addChecks(pm, target, *from);
  return pm.run(module);
}

LogicalResult Compilation::runStages(ModuleOp module, TargetInterface target, Stage first,
                                     Stage last, Compiled &compiled, ModuleOp grid) {
  for (Stage stage : getStages()) {
    if (stage < first || stage > last || isDone(stage))
      continue;
    PassManager pm(&context, ModuleOp::getOperationName());
    addStage(pm, target, stage, proofs, exact, solver);
    // What passes decide and a source may pin is looked at after each of them; the long IR of a
    // thread, which nobody writes, once a stage. tile-opt, and so every test, looks each time.
    bool isOften = stage < Stage::Target;
    pm.enableVerifier(isOften);
    if (failed(pm.run(module)) || (!isOften && failed(verify(module))))
      return failure();
    if (keeps(stage))
      compiled.sections.push_back(
          {"ir:" + stringify(stage).str(), printHandBack(module, stage, compiled.metadata, grid)});
  }
  return success();
}

json::Object Compilation::describe(tile::KernelOp kernel, TargetInterface target) {
  json::Object metadata{{"kernel", kernel.getSymName()},
                        {"target", target.getSpelling()},
                        {"source", request.sourceName},
                        {"opt_level", optLevel},
                        {"fast_math", fastMath},
                        {"arguments", describeArguments(kernel)},
                        {"vendor_math", kernel->hasAttr(kVendorMathAttrName)},
                        {"abi", describeParameters(kernel)},
                        {"has_grid", kernel.hasGrid()}};
  if (kernel->hasAttr(tile::kAnyMemoryAttrName))
    metadata["any_memory"] = true;
  SmallVector<Place> places;
  findPlaces(kernel.getLoc(), places);
  if (!places.empty()) {
    metadata["file"] = places.front().file;
    metadata["line"] = int64_t(places.front().line);
  }
  if (auto tunables = kernel->getAttrOfType<ArrayAttr>(tile::kTunablesAttrName)) {
    json::Object chosen;
    for (auto tunable : tunables.getAsRange<tile::TunableAttr>())
      chosen[tunable.getName().getValue()] = toJSON(tunable.getValue());
    metadata["tunables"] = std::move(chosen);
  }
  return metadata;
}

/// What passes and the code generator said of the kernel.
static void addMembers(ModuleOp module, json::Object &metadata) {
  auto members = module->getAttrOfType<DictionaryAttr>(kMetadataAttrName);
  if (!members)
    return;
  for (NamedAttribute member : members) {
    json::Value value = toJSON(member.getValue());
    // Parameters that the target added come behind those of the source.
    if (member.getName() == kHiddenParametersName)
      llvm::append_range(*metadata.getArray("abi"), std::move(*value.getAsArray()));
    else
      metadata[member.getName().getValue()] = std::move(value);
  }
}

/// What is said of the modules is not what they do.
static bool isSameProgram(ModuleOp one, ModuleOp other) {
  return OperationEquivalence::isRegionEquivalentTo(&one.getBodyRegion(), &other.getBodyRegion(),
                                                    OperationEquivalence::IgnoreLocations);
}

FailureOr<Compilation::Compiled> Compilation::compileTiles(ModuleOp module, StringRef name,
                                                           TargetInterface target, Stage last) {
  Compiled compiled;
  json::Object &metadata = compiled.metadata;
  std::vector<Artifact::Section> &sections = compiled.sections;
  // The tile stage is common: the kernel is still one, and says what a launcher must know. Behind
  // later stages that stands in the module's metadata.
  if (!isDone(Stage::Layout))
    metadata = describe(module.lookupSymbol<tile::KernelOp>(name), target);
  if (failed(runStages(module, target, Stage::Layout, std::min(last, Stage::Schedule), compiled)))
    return failure();
  // An accelerator's grid is computed by the host. A schedule may have made another one, of fewer
  // programs that run several tiles each.
  OwningOpRef<ModuleOp> gridModule = std::move(handedGrid);
  if (last > Stage::Schedule && !target.runsOnHost() && !isDone(Stage::Target))
    if (auto scheduled = module.lookupSymbol<tile::KernelOp>(name); scheduled.hasGrid())
      gridModule = cloneGrid(scheduled);
  std::optional<HostGrid> grid;
  if (gridModule && last > Stage::LLVM)
    grid.emplace(gridModule->clone());
  if (failed(runStages(module, target, Stage::Target, std::min(last, Stage::LLVM), compiled,
                       gridModule ? *gridModule : ModuleOp())))
    return failure();
  if (last <= Stage::LLVM) {
    addMembers(module, metadata);
    return compiled;
  }
  if (assembled && isSameProgram(assembled, module)) {
    addMembers(module, metadata);
    compiled.isRepeated = true;
    return compiled;
  }
  EmitRequest emitRequest{last, optLevel, keeps(Stage::LLVMIR), keeps(Stage::Asm)};
  FailureOr<TargetCode> code = target.emit(module, emitRequest);
  if (failed(code)) {
    addMembers(module, metadata);
    unassembled = compiled.getProposal();
    return failure();
  }
  if (grid) {
    FailureOr<std::string> object = grid->take();
    if (failed(object))
      return failure();
    sections.push_back({"host", std::move(*object)});
  }
  addMembers(module, metadata);
  for (const auto &[figure, value] : code->figures)
    metadata[figure] = value;
  if (keeps(Stage::LLVMIR))
    sections.push_back({"ir:" + stringify(Stage::LLVMIR).str(), std::move(code->llvmIR)});
  if (!code->assembly.empty())
    sections.push_back({"asm", std::move(code->assembly)});
  if (!code->binary.empty())
    sections.push_back({"binary", std::move(code->binary)});
  return compiled;
}

llvm::Expected<Artifact> Compilation::run() {
  auto fail = [&](StringRef what) { return reporter.takeError(what); };
  if (llvm::Error error = readOptions())
    return error;
  for (const std::string &name : request.keepStages)
    if (name != "all" && !parseStage(name))
      return reporter.error("unknown stage '" + name + "' to keep");

  FailureOr<TargetInterface> target = TargetInterface();
  if (!request.target.empty())
    target =
        parseTarget(request.target, &context, [&] { return emitError(UnknownLoc::get(&context)); });
  if (failed(target))
    return reporter.takeError("unknown target", KILN_ERROR_INVALID_ARGUMENT);

  if (std::optional<SourceProblem> problem = findSourceProblem(request.source, request.maxDepth))
    return reporter.error(request.sourceName, *problem);
  ParserConfig config(&context, /*verifyAfterParse=*/false);
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(request.source, request.sourceName,
                                                               /*RequiresNullTerminator=*/false),
                              llvm::SMLoc());
  reporter.beginParsing(request.source, request.sourceName);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, config);
  reporter.endParsing();
  if (!module || failed(verify(*module)))
    return fail("the source cannot be parsed");
  std::string name;
  if (from) {
    llvm::Expected<std::string> taken = takeBack(*module);
    if (!taken)
      return taken.takeError();
    name = *taken;
  } else {
    dropHandBack(*module);
    FailureOr<tile::KernelOp> kernel = selectKernel(*module, request.kernel);
    if (failed(kernel))
      return reporter.takeError("no kernel to compile", KILN_ERROR_NOT_FOUND);
    name = (*kernel).getSymName().str();
    if (request.fastMath)
      allowFastMath(*module);
    if (request.vendorMath)
      (*kernel)->setAttr(kVendorMathAttrName, UnitAttr::get(&context));
  }
  Attribute handedTarget = module->getOperation()->getAttr(kTargetAttrName);
  target = chooseTarget(*module, *target);
  if (failed(target))
    return reporter.takeError("no target", KILN_ERROR_INVALID_ARGUMENT);
  if (from && *target != handedTarget)
    return reporter.error("expected the target that the source was compiled for, got " +
                          Twine(target->getSpelling()));

  std::string impossible = "kernel @" + name + " cannot be compiled for " + target->getSpelling();
  if (from && failed(checkHandedBack(*module, *target)))
    return fail(impossible);
  Compiled tiles;
  if (!isDone(Stage::Tile))
    tiles.metadata = describe(module->lookupSymbol<tile::KernelOp>(name), *target);
  // What the kernel itself says can be edited there.
  for (StringRef member : {"abi", "arguments", "has_grid", "any_memory", "tunables"})
    tiles.metadata.erase(member);
  if (failed(runStages(*module, *target, Stage::Tile, Stage::Tile, tiles)))
    return fail(impossible);
  json::Object model = wantsModel ? modelKernel(*module, name, *target) : json::Object();
  FailureOr<Compiled> compiled = compileBest(*module, name, *target);
  if (failed(compiled))
    return fail(impossible);
  for (auto &member : model)
    compiled->metadata[member.first] = std::move(member.second);
  llvm::append_range(tiles.sections, std::move(compiled->sections));
  return Artifact::create(std::move(compiled->metadata), std::move(tiles.sections));
}

static llvm::Expected<Artifact> compileOne(const CompileRequest &request, DiagnosticSink sink) {
  LentContext context;
  // Types of LLVM's and blobs of data that a source names are the context's under that name.
  StringRef source = request.source;
  if (source.contains("llvm") || source.contains("resource"))
    context.retire();
  Reporter reporter(*context, sink);
  return Compilation(request, *context, reporter).run();
}

/// One artifact of the code for several kinds of processor: the sections and the metadata of the
/// first, and the others whole.
static llvm::Expected<Artifact> compileVersions(const CompileRequest &request,
                                                ArrayRef<StringRef> targets, DiagnosticSink sink) {
  auto refuse = [&](const Twine &text) {
    sink({Severity::Error, "", 0, 0, text.str()});
    return makeError(KILN_ERROR_INVALID_ARGUMENT, text);
  };
  std::optional<Artifact> first;
  std::vector<Artifact::Section> sections;
  json::Array versions;
  for (StringRef target : targets) {
    LentContext context;
    ScopedDiagnosticHandler silent(context.get(), [](mlir::Diagnostic &) { return success(); });
    FailureOr<TargetInterface> parsed = parseTarget(
        target, context.get(), [&] { return emitError(UnknownLoc::get(context.get())); });
    if (succeeded(parsed) && !(*parsed).runsOnHost())
      return refuse("expected kinds of processor for an artifact of several versions, got '" +
                    target + "'");
    CompileRequest one = request;
    one.target = target.str();
    llvm::Expected<Artifact> artifact = compileOne(one, sink);
    if (!artifact)
      return artifact.takeError();
    std::string section = ("version:" + target).str();
    versions.push_back(json::Object{{"target", target}, {"section", section}});
    sections.push_back({section, artifact->serialized().str()});
    if (!first)
      first = std::move(*artifact);
  }
  std::vector<Artifact::Section> all;
  for (size_t i = 0; i < first->numSections(); ++i)
    all.push_back({first->sectionName(i).str(), first->sectionBytes(i).str()});
  llvm::append_range(all, std::move(sections));
  json::Object metadata = first->metadata();
  metadata["target"] = request.target;
  metadata["versions"] = std::move(versions);
  return Artifact::create(std::move(metadata), std::move(all));
}

llvm::Expected<Artifact> compile(const CompileRequest &request, DiagnosticSink sink) {
  SmallVector<StringRef> targets;
  StringRef(request.target).split(targets, ',');
  for (StringRef target : targets)
    if (targets.size() > 1 && (target.empty() || llvm::count(targets, target) > 1)) {
      std::string text = "expected each of several targets once, got '" + request.target + "'";
      sink({Severity::Error, "", 0, 0, text});
      return makeError(KILN_ERROR_INVALID_ARGUMENT, text);
    }
  return targets.size() == 1 ? compileOne(request, sink) : compileVersions(request, targets, sink);
}

std::string describeTargets() {
  registerAllTargets();
  MLIRContext context(getAllDialects(), MLIRContext::Threading::DISABLED);
  json::Array targets;
  for (const TargetEntry &entry : getTargets()) {
    json::Array chips;
    for (const Chip &chip : llvm::make_pointee_range(entry.chips))
      if (auto target = dyn_cast_or_null<TargetInterface>(entry.create(&context, chip)))
        chips.push_back(target.getSpelling());
    targets.push_back(json::Object{
        {"name", entry.name}, {"summary", entry.summary}, {"spellings", std::move(chips)}});
  }
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(json::Object{{"targets", std::move(targets)}});
  return text;
}

std::string whyUnknown(llvm::StringRef target) {
  registerAllTargets();
  return whyNoTarget(target);
}

std::string targetIdentity(llvm::StringRef target) {
  registerAllTargets();
  StringRef name = target.split(':').first;
  std::string identity;
  for (const TargetEntry &entry : getTargets())
    if ((entry.name == name || target.empty()) && entry.identify)
      identity += entry.identify();
  return identity;
}

} // namespace kiln
