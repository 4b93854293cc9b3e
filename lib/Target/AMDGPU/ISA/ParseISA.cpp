// Assembly text as instructions, by LLVM's assembler: a streamer keeps what it is told.
#include "DescribeInstruction.h"
#include "FarBranch.h"
#include "Lanes.h"
#include "kiln/Support/CodeGenerators.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCSection.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCSymbol.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/TargetParser/TargetParser.h"
#include "llvm/TargetParser/Triple.h"
#include <map>

using namespace llvm;
using namespace kiln::amdgcn;

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUAsmParser();
}

namespace {
/// A kernel or function, as far as it was read.
struct Open {
  KernelCode kernel;
  std::map<std::string, unsigned> labels;
  std::vector<std::pair<unsigned, std::string>> branches;
  FarBranch far;
};

class CodeStreamer : public MCStreamer {
public:
  CodeStreamer(MCContext &context, const SourceMgr &sources, const InstructionDescriber &describer)
      : MCStreamer(context), sources(sources), describer(describer) {}

  std::vector<Open> all;
  /// What the section of protocols holds.
  std::string declared;
  /// The first thing that is no error of the assembler.
  std::string problem;

  void fail(unsigned line, StringRef text, const Twine &what) {
    if (problem.empty())
      problem = formatv("line {0}: {1} in '{2}'", line, what.str(), text.trim()).str();
  }

  bool emitSymbolAttribute(MCSymbol *symbol, MCSymbolAttr attribute) override {
    if (attribute == MCSA_ELF_TypeFunction)
      function = symbol->getName().str();
    return true;
  }
  void emitBytes(StringRef bytes) override {
    const MCSection *section = getCurrentSectionOnly();
    if (section && section->getName() == kiln::kProtocolSection)
      declared += bytes;
  }
  void emitCommonSymbol(MCSymbol *, uint64_t, Align) override {}

  void emitLabel(MCSymbol *symbol, SMLoc where) override {
    MCStreamer::emitLabel(symbol, where);
    if (symbol->getName() == function) {
      all.emplace_back();
      all.back().kernel.name = function;
    } else if (!all.empty()) {
      all.back().labels[symbol->getName().str()] = all.back().kernel.code.size();
      all.back().far.addLabel(symbol->getName());
    }
  }

  void emitInstruction(const MCInst &inst, const MCSubtargetInfo &) override {
    unsigned line = sources.getLineAndColumn(inst.getLoc()).first;
    const char *end = sources.getMemoryBuffer(sources.getMainFileID())->getBufferEnd();
    StringRef text(inst.getLoc().getPointer(), end - inst.getLoc().getPointer());
    text = text.split('\n').first.split(';').first.split("//").first;
    if (all.empty())
      return fail(line, text, "expected instructions in a function");
    Expected<kiln::amdgcn::Instruction> instruction = describer.describe(inst, text);
    if (!instruction)
      return fail(line, text, toString(instruction.takeError()));
    instruction->line = line;
    std::vector<kiln::amdgcn::Instruction> &code = all.back().kernel.code;
    // Any registers may hold a label's address, those of the calling convention among them.
    if (instruction->kind == Kind::Return && all.back().far.find(instruction->reads.front()))
      instruction->kind = Kind::Branch;
    if (instruction->kind == Kind::Branch) {
      Expected<std::string> label = getLabel(inst, *instruction);
      if (!label)
        return fail(line, text, toString(label.takeError()));
      all.back().branches.push_back({unsigned(code.size()), *label});
    }
    all.back().far.add(*instruction, text);
    code.push_back(std::move(*instruction));
  }

private:
  /// Where a branch goes.
  Expected<std::string> getLabel(const MCInst &inst,
                                 const kiln::amdgcn::Instruction &branch) const {
    const MCOperand &target = inst.getOperand(inst.getNumOperands() - 1);
    if (!target.isExpr()) {
      if (std::optional<std::string> label = all.back().far.find(branch.reads.front()))
        return *label;
      return createStringError("expected no jump to an address");
    }
    const auto *symbol = dyn_cast<MCSymbolRefExpr>(target.getExpr());
    if (!symbol)
      return createStringError("expected a branch to a label");
    return symbol->getSymbol().getName().str();
  }

  const SourceMgr &sources;
  const InstructionDescriber &describer;
  std::string function;
};

/// "gfx942:sramecc+" of the directive that names the target; empty if there is none.
StringRef findTarget(StringRef text) {
  StringRef rest = text.substr(text.find(".amdgcn_target")).split('\n').first;
  return rest.split('"').second.split('"').first.rsplit("--").second;
}

const Target *getTarget(const Triple &triple, std::string &error) {
  static const bool isReady = kiln::registerCodeGenerators([] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmParser();
  });
  (void)isReady;
  return kiln::findCodeGenerator(triple, error);
}
} // namespace

static void readArguments(msgpack::DocNode &arguments, KernelCode &kernel) {
  if (!arguments.isArray())
    return;
  for (msgpack::DocNode &entry : arguments.getArray()) {
    if (!entry.isMap())
      continue;
    msgpack::MapDocNode &map = entry.getMap();
    auto get = [&](StringRef name) -> unsigned {
      msgpack::DocNode &number = map[name];
      return number.getKind() == msgpack::Type::UInt ? number.getUInt() : 0;
    };
    msgpack::DocNode &kind = map[".value_kind"];
    kernel.arguments.push_back(
        {get(".offset"), get(".size"), kind.isString() ? kind.toString() : std::string()});
  }
}

/// What the descriptor of a kernel says in numbers, from the directives that make it.
static void readDescriptors(StringRef text, std::vector<Open> &all) {
  constexpr StringLiteral begin = ".amdhsa_kernel ", prefix = ".amdhsa_";
  for (StringRef rest = text.split(begin).second; !rest.empty(); rest = rest.split(begin).second) {
    auto [name, lines] = rest.split(".end_amdhsa_kernel").first.split('\n');
    for (Open &open : all) {
      if (open.kernel.name != name.trim())
        continue;
      SmallVector<StringRef> directives;
      lines.split(directives, '\n');
      for (StringRef directive : directives) {
        directive = directive.trim();
        int64_t number;
        if (directive.consume_front(prefix))
          if (auto [key, value] = directive.split(' '); !value.trim().getAsInteger(0, number))
            open.kernel.descriptor[key] = number;
      }
    }
  }
}

/// The numbers that one block of metadata keeps of each of its kernels.
static Error readBlock(StringRef yaml, std::vector<Open> &all) {
  msgpack::Document document;
  if (yaml.trim().empty() || !document.fromYAML(yaml) || !document.getRoot().isMap())
    return Error::success();
  msgpack::DocNode &kernels = document.getRoot().getMap()["amdhsa.kernels"];
  if (!kernels.isArray())
    return Error::success();
  for (msgpack::DocNode &entry : kernels.getArray()) {
    if (!entry.isMap())
      continue;
    msgpack::MapDocNode &map = entry.getMap();
    std::string symbol = map[".symbol"].toString();
    for (Open &open : all) {
      if (symbol != open.kernel.name + ".kd")
        continue;
      open.kernel.isFunction = false;
      if (any_of(open.kernel.code, [](auto &each) { return each.kind == Kind::Return; }))
        return createStringError("expected no return from kernel '" + open.kernel.name + "'");
      readArguments(map[".args"], open.kernel);
      for (auto &[key, value] : map)
        if (value.getKind() == msgpack::Type::UInt || value.getKind() == msgpack::Type::Int)
          open.kernel.metadata[StringRef(key.toString()).drop_front()] =
              value.getKind() == msgpack::Type::UInt ? int64_t(value.getUInt()) : value.getInt();
    }
  }
  return Error::success();
}

/// Text may be that of several modules, with a block each; whatever none names is a function.
static Error readMetadata(StringRef text, std::vector<Open> &all) {
  for (Open &open : all)
    open.kernel.isFunction = true;
  for (StringRef rest = text.split(".amdgpu_metadata\n").second; !rest.empty();
       rest = rest.split(".amdgpu_metadata\n").second)
    if (Error error = readBlock(rest.split(".end_amdgpu_metadata").first, all))
      return error;
  return Error::success();
}

/// What is declared is of the text's kernels.
static Error readProtocols(StringRef declared, std::vector<Open> &all) {
  SmallVector<StringRef> texts;
  declared.split(texts, '\0', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef text : texts) {
    Expected<kiln::Protocol> protocol = kiln::parseProtocol(text);
    if (!protocol)
      return protocol.takeError();
    auto of = find_if(all, [&](const Open &open) { return open.kernel.name == protocol->kernel; });
    if (of == all.end() || of->kernel.isFunction)
      return createStringError("the metadata declares the protocol of '" + protocol->kernel +
                               "', which is no kernel of the text");
    if (of->kernel.protocol)
      return createStringError("the metadata declares the protocol of '" + protocol->kernel +
                               "' twice");
    of->kernel.protocol = std::move(*protocol);
  }
  return Error::success();
}

/// One lane of a wave arrives for all, and is there wherever the wave is: the branch of the other
/// lanes past it is taken by no wave. What is read in front of a sleep, with no access between, and
/// behind it up to the branch back, is looked at.
static void findBarrierWords(std::vector<kiln::amdgcn::Instruction> &code) {
  std::optional<unsigned> branch, read;
  bool hasSlept = false;
  for (auto [at, each] : enumerate(code)) {
    if (each.kind == Kind::AtomicLDS && each.operation == Operation::CountRound) {
      each.isArrival = true;
      if (branch)
        code[*branch].target.reset();
    }
    if (each.operation == Operation::BranchIfNoLane)
      branch = at;
    else if (each.kind == Kind::Branch || each.isArrival)
      branch.reset();
    if (each.operation == Operation::Sleep) {
      if (read)
        code[*read].isLook = true;
      read.reset();
      hasSlept = true;
    } else if (each.kind == Kind::ReadLDS) {
      read = at;
    } else if (each.kind == Kind::Branch) {
      // It goes on to sleep, or back to what stands in front of it.
      if (hasSlept && read && each.target && *each.target < *read)
        code[*read].isLook = true;
      hasSlept &= !each.target || *each.target > at;
    } else if (each.kind != Kind::Other && each.kind != Kind::Wait) {
      read.reset();
      hasSlept = false;
    }
  }
}

/// What functions write.
static std::vector<Registers> listWrites(ArrayRef<KernelCode> kernels) {
  std::vector<Registers> written;
  for (const KernelCode &kernel : kernels)
    if (kernel.isFunction)
      for (const kiln::amdgcn::Instruction &instruction : kernel.code)
        for (const Registers &registers : instruction.writes)
          if (!is_contained(written, registers))
            written.push_back(registers);
  return written;
}

Expected<std::vector<KernelCode>> kiln::amdgcn::parseISA(StringRef text) {
  StringRef name = findTarget(text);
  if (name.empty())
    return std::vector<KernelCode>();
  SmallVector<StringRef> features;
  name.split(features, ':');
  std::string chip = features.front().str(), error, switches;
  for (StringRef feature : drop_begin(features))
    switches +=
        (switches.empty() ? "" : ",") + feature.take_back(1).str() + feature.drop_back(1).str();
  if (AMDGPU::parseArchAMDGCN(chip) == AMDGPU::GK_NONE)
    return createStringError("expected a chip that LLVM knows, got '" + chip + "'");
  Triple triple("amdgcn-amd-amdhsa");
  const Target *target = getTarget(triple, error);
  if (!target)
    return createStringError(error);
  MCTargetOptions options;
  std::unique_ptr<MCRegisterInfo> registers(target->createMCRegInfo(triple));
  std::unique_ptr<MCAsmInfo> asmInfo(target->createMCAsmInfo(*registers, triple, options));
  std::unique_ptr<MCInstrInfo> instructions(target->createMCInstrInfo());
  std::unique_ptr<MCSubtargetInfo> subtarget(target->createMCSubtargetInfo(triple, chip, switches));
  SourceMgr sources;
  sources.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(text), SMLoc());
  MCContext context(triple, asmInfo.get(), registers.get(), subtarget.get(), &sources, &options);
  std::unique_ptr<MCObjectFileInfo> objectFile(
      target->createMCObjectFileInfo(context, /*PIC=*/false));
  context.setObjectFileInfo(objectFile.get());
  std::unique_ptr<MCInstPrinter> printer(target->createMCInstPrinter(
      triple, asmInfo->getAssemblerDialect(), *asmInfo, *instructions, *registers));
  InstructionDescriber describer(*instructions, *registers, *subtarget, *printer,
                                 getGeneration(chip));
  CodeStreamer streamer(context, sources, describer);
  sources.setDiagHandler(
      [](const SMDiagnostic &diagnostic, void *streamer) {
        if (diagnostic.getKind() == SourceMgr::DK_Error)
          static_cast<CodeStreamer *>(streamer)->fail(
              diagnostic.getLineNo(), diagnostic.getLineContents(), diagnostic.getMessage());
      },
      &streamer);
  target->createNullTargetStreamer(streamer);
  std::unique_ptr<MCAsmParser> parser(createMCAsmParser(sources, context, streamer, *asmInfo));
  std::unique_ptr<MCTargetAsmParser> targetParser(
      target->createMCAsmParser(*subtarget, *parser, *instructions, options));
  parser->setTargetParser(*targetParser);
  parser->Run(/*NoInitialTextSection=*/false);
  if (!streamer.problem.empty())
    return createStringError(streamer.problem);
  if (Error error = readMetadata(text, streamer.all))
    return error;
  readDescriptors(text, streamer.all);
  if (Error error = readProtocols(streamer.declared, streamer.all))
    return error;
  std::vector<KernelCode> kernels;
  for (Open &open : streamer.all) {
    open.kernel.chip = chip;
    for (const auto &[at, label] : open.branches) {
      auto found = open.labels.find(label);
      if (found == open.labels.end())
        return createStringError("no label '" + label + "' in '" + open.kernel.name + "'");
      open.kernel.code[at].target = found->second;
    }
    followLanes(open.kernel.code);
    findBarrierWords(open.kernel.code);
    kernels.push_back(std::move(open.kernel));
  }
  std::vector<Registers> written = listWrites(kernels);
  for (KernelCode &kernel : kernels)
    kernel.writtenByFunctions = written;
  return kernels;
}
