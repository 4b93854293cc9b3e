// Replaces a chip's instructions by calls, and puts a check in front of each access to memory.
#include "LowerToHost.h"
#include "Elements.h"
#include "Orders.h"
#include "RoundOnce.h"
#include "Scalars.h"
#include "Subnormals.h"
#include "Surroundings.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;
using namespace kiln::emulated;

namespace {
constexpr StringLiteral kScaledProducts = "llvm.amdgcn.mfma.scale.";
constexpr unsigned kGlobalSpace = 1, kSharedSpace = 3;
constexpr unsigned kMostLanes = 64;

/// The number of a special register, as lib/Runtime/Emulated/Registers.def has them; -1 if the
/// instruction is none.
int registerNumber(StringRef name) {
  return StringSwitch<int>(name)
#define KILN_REGISTER(Number, Name) .Case(Name, Number)
#include "Registers.def"
      .Default(-1);
}

bool isBarrier(StringRef name) {
  return name == "llvm.nvvm.barrier0" || name == "llvm.nvvm.barrier.cta.sync.aligned.all" ||
         name == "llvm.amdgcn.s.barrier";
}

/// Scheduling, priorities, registers and caches: nothing that a program can see. Nor is the wait
/// for LDS, whose reads are done at once here: the final code's is proven (tile-check-isa). The
/// next launch, which may begin early, waits for all of this one.
bool hasNoMeaning(StringRef name) {
  return StringSwitch<bool>(name)
      .Cases({"llvm.amdgcn.s.wait.dscnt", "llvm.amdgcn.s.setprio", "llvm.amdgcn.iglp.opt",
              "llvm.amdgcn.sched.barrier", "llvm.amdgcn.sched.group.barrier",
              "llvm.nvvm.setmaxnreg.dec.sync.aligned.u32",
              "llvm.nvvm.setmaxnreg.inc.sync.aligned.u32", "llvm.nvvm.prefetch.tensormap.p0",
              "llvm.nvvm.griddepcontrol.launch.dependents"},
             true)
      .Default(false);
}

class Lowering {
public:
  Lowering(Module &module, TargetMachine &machine, const SourcePlaces &places)
      : module(module), context(module.getContext()), sites(places) {
    module.setTargetTriple(machine.getTargetTriple());
    module.setDataLayout(machine.createDataLayout());
  }

  Error run() {
    for (Function &function : module) {
      isNVIDIA |= function.getCallingConv() == CallingConv::PTX_Kernel;
      kiln::emulated::flushSubnormals(function);
    }
    for (Function &function : module) {
      // The chip's own; what LLVM's intrinsics say of themselves stays.
      if (!function.isIntrinsic())
        function.setAttributes(AttributeList());
      if (function.isDeclaration())
        continue;
      if (function.getCallingConv() != CallingConv::C) {
        if (kernel)
          return createStringError("expected one kernel in a module, got two");
        kernel = &function;
        function.setCallingConv(CallingConv::C);
      }
      if (Error error = lower(function))
        return error;
    }
    if (!kernel)
      return createStringError("expected a kernel in the module, got none");
    kernel->setLinkage(GlobalValue::InternalLinkage);
    kiln::emulated::defineSurroundings(module, *kernel);
    sites.define(module);
    StripDebugInfo(module);
    return Error::success();
  }

private:
  FunctionCallee declare(StringRef name, Type *result, ArrayRef<Type *> types) {
    return module.getOrInsertFunction(name, FunctionType::get(result, types, false));
  }
  Type *pointerType() { return PointerType::get(context, 0); }
  Value *toFlat(IRBuilder<> &builder, Value *pointer) {
    return pointer->getType() == pointerType()
               ? pointer
               : builder.CreateIntToPtr(builder.CreatePtrToInt(pointer, builder.getInt64Ty()),
                                        pointerType());
  }
  /// Room on the stack, made once at the function's top.
  Value *room(Function &function, Type *type) {
    IRBuilder<> builder(&function.getEntryBlock(), function.getEntryBlock().getFirstInsertionPt());
    return builder.CreateAlloca(type);
  }

  Error lower(Function &function) {
    sites.begin(function);
    SmallVector<Instruction *> instructions;
    for (Instruction &instruction : llvm::instructions(function)) {
      instructions.push_back(&instruction);
      if (auto *call = dyn_cast<CallInst>(&instruction); call && lacksScales(*call))
        withoutScales.insert(call);
    }
    for (Instruction *instruction : instructions) {
      if (computeExactly(*instruction))
        continue;
      if (auto *call = dyn_cast<CallInst>(instruction)) {
        if (Error error = lower(*call))
          return error;
        continue;
      }
      check(*instruction);
    }
    countTrips(function);
    return Error::success();
  }

  /// What a program lets its chip do, the host does not: its own approximations take infinities for
  /// NaN and subnormals for zeros. Products and sums it may fuse, as chips do. Whether the
  /// instruction is gone.
  bool computeExactly(Instruction &operation) {
    if (!isa<FPMathOperator>(operation))
      return false;
    IRBuilder<> builder(&operation);
    auto *division = dyn_cast<BinaryOperator>(&operation);
    Value *quotient = division && isNVIDIA
                          ? kiln::emulated::computeApproximateQuotient(builder, *division)
                          : nullptr;
    if (quotient) {
      operation.replaceAllUsesWith(quotient);
      operation.eraseFromParent();
      return true;
    }
    FastMathFlags flags;
    flags.setAllowContract(operation.hasAllowContract());
    operation.copyFastMathFlags(flags);
    return false;
  }

  /// Where a program goes round, a budget ends one that never ends.
  void countTrips(Function &function) {
    SmallVector<std::pair<const BasicBlock *, const BasicBlock *>> edges;
    FindFunctionBackedges(function, edges);
    SmallPtrSet<const BasicBlock *, 8> latches;
    for (auto [latch, header] : edges)
      latches.insert(latch);
    for (BasicBlock &block : function)
      if (latches.contains(&block)) {
        Instruction &last = *block.getTerminator();
        IRBuilder<> builder(&last);
        builder.CreateCall(
            declare("kiln_emulated_trip", builder.getVoidTy(), {builder.getInt32Ty()}),
            {addSite(builder, last, "loop")});
      }
  }

  /// A check in front of what reads or writes memory that others see.
  void check(Instruction &instruction) {
    if (auto *fence = dyn_cast<FenceInst>(&instruction))
      return order(*fence);
    Value *pointer = nullptr, *value = nullptr;
    Type *type = nullptr;
    int kind = 0;
    if (auto *load = dyn_cast<LoadInst>(&instruction)) {
      pointer = load->getPointerOperand();
      type = load->getType();
      kind = Read;
      if (load->isAtomic())
        kind |= Atomic | describeOrder(*load);
    } else if (auto *store = dyn_cast<StoreInst>(&instruction)) {
      pointer = store->getPointerOperand();
      value = store->getValueOperand();
      type = value->getType();
      kind = Write;
      if (store->isAtomic())
        kind |= Atomic | describeOrder(*store);
    } else if (auto *update = dyn_cast<AtomicRMWInst>(&instruction)) {
      pointer = update->getPointerOperand();
      type = update->getType();
      kind = Read | Write | Atomic | describeOrder(*update);
    } else if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
      pointer = exchange->getPointerOperand();
      type = exchange->getNewValOperand()->getType();
      kind = Read | Write | Atomic | describeOrder(*exchange);
    } else {
      return;
    }
    // A hint to caches that are not there, on types that the host may have no such access for.
    instruction.setMetadata(LLVMContext::MD_nontemporal, nullptr);
    unsigned space = pointer->getType()->getPointerAddressSpace();
    if (space != kGlobalSpace && space != kSharedSpace)
      return;
    kind |= space == kSharedSpace ? Shared : 0;
    IRBuilder<> builder(&instruction);
    Value *written = ConstantPointerNull::get(PointerType::get(context, 0));
    if (value && !(kind & Atomic)) {
      written = room(*instruction.getFunction(), type);
      builder.CreateStore(value, written);
    }
    builder.CreateCall(declare("kiln_emulated_access", builder.getVoidTy(),
                               {pointerType(), builder.getInt64Ty(), builder.getInt32Ty(),
                                pointerType(), builder.getInt32Ty()}),
                       {toFlat(builder, pointer),
                        builder.getInt64(module.getDataLayout().getTypeStoreSize(type)),
                        builder.getInt32(kind), written,
                        addSite(builder, instruction, instruction.getOpcodeName())});
    // A word that counts round is a barrier's.
    auto *update = dyn_cast<AtomicRMWInst>(&instruction);
    if (update && update->getOperation() == AtomicRMWInst::UIncWrap && (kind & Shared))
      builder.CreateCall(declare("kiln_emulated_arrival", builder.getVoidTy(),
                                 {pointerType(), builder.getInt32Ty()}),
                         {toFlat(builder, pointer), update->getValOperand()});
    if (update)
      kiln::emulated::updateNarrowFloat(builder, *update);
  }

  /// Of global memory: what is of shared memory alone, or of one thread, tells nobody else.
  void order(FenceInst &fence) {
    int kind = describeOrder(fence);
    if (isOfThread(kind) || fence.getMetadata(LLVMContext::MD_mmra))
      return;
    IRBuilder<> builder(&fence);
    builder.CreateCall(declare("kiln_emulated_fence", builder.getVoidTy(),
                               {builder.getInt32Ty(), builder.getInt32Ty()}),
                       {builder.getInt32(kind), addSite(builder, fence, "fence")});
  }

  Value *addSite(IRBuilder<> &builder, Instruction &instruction, StringRef what) {
    return builder.getInt32(sites.add(instruction, what));
  }

  /// Lanes that name a row each of matrices in shared memory: eight of each matrix.
  static unsigned countRows(StringRef name) {
    unsigned matrices = 0;
    name.split(".x").second.consumeInteger(10, matrices);
    return 8 * matrices;
  }

  /// The row of bytes in shared memory that each of the first lanes names, as if it read or wrote
  /// it for the others. What the lanes behind these name has no meaning.
  void checkRows(IRBuilder<> &builder, CallInst &call, uint64_t bytes, unsigned rows, Value *site) {
    Type *i64 = builder.getInt64Ty(), *i32 = builder.getInt32Ty();
    builder.CreateCall(
        declare("kiln_emulated_row", builder.getVoidTy(), {pointerType(), i64, i32, i32, i32}),
        {toFlat(builder, call.getArgOperand(0)), builder.getInt64(bytes),
         builder.getInt32(Read | Shared), builder.getInt32(rows), site});
  }

  Error lower(CallInst &call) {
    if (auto *assembly = dyn_cast<InlineAsm>(call.getCalledOperand())) {
      if (lowerEmptyAssembly(call, *assembly) || lowerGroupWait(call, *assembly) ||
          lowerGroupProducts(call, *assembly))
        return Error::success();
      return createStringError(sites.describe(call) + "the emulator cannot run assembly: '" +
                               assembly->getAsmString() + "'");
    }
    Function *callee = call.getCalledFunction();
    if (!callee)
      return createStringError(sites.describe(call) +
                               "the emulator cannot follow a call of a computed address");
    IRBuilder<> builder(&call);
    Value *exact = kiln::emulated::roundOnce(builder, call);
    if (Value *result = exact ? exact : kiln::emulated::computeExtreme(builder, call)) {
      call.replaceAllUsesWith(result);
      call.eraseFromParent();
      return Error::success();
    }
    StringRef name = callee->getName();
    if (!name.starts_with("llvm.nvvm.") && !name.starts_with("llvm.amdgcn.") && name != "llvm.trap")
      return Error::success();
    Type *i32 = builder.getInt32Ty(), *none = builder.getVoidTy();
    if (hasNoMeaning(name)) {
      call.eraseFromParent();
      return Error::success();
    }
    if (Value *result = kiln::emulated::computeScalar(builder, call)) {
      call.replaceAllUsesWith(result);
      call.eraseFromParent();
      return Error::success();
    }
    if (int number = registerNumber(name); number >= 0) {
      Value *read = builder.CreateCall(declare("kiln_emulated_register", i32, {i32}),
                                       {builder.getInt32(number)});
      call.replaceAllUsesWith(builder.CreateZExtOrTrunc(read, call.getType()));
      call.eraseFromParent();
      return Error::success();
    }
    if (name == "llvm.amdgcn.make.buffer.rsrc.p8.p1") {
      // A descriptor is where its base and size lie; each site makes one at a time.
      auto *pair = StructType::get(pointerType(), builder.getInt64Ty());
      Value *made = room(*call.getFunction(), pair);
      builder.CreateStore(toFlat(builder, call.getArgOperand(0)),
                          builder.CreateStructGEP(pair, made, 0));
      builder.CreateStore(builder.CreateZExtOrTrunc(call.getArgOperand(2), builder.getInt64Ty()),
                          builder.CreateStructGEP(pair, made, 1));
      call.replaceAllUsesWith(builder.CreateAddrSpaceCast(made, call.getType()));
      call.eraseFromParent();
      return Error::success();
    }
    Value *site = addSite(builder, call, name.drop_front(StringRef("llvm.").size()));
    if (name.starts_with("llvm.nvvm.ldmatrix."))
      checkRows(builder, call, 16, countRows(name), site);
    if (name.starts_with("llvm.amdgcn.ds.read.tr"))
      checkRows(builder, call, 8, kMostLanes, site);
    if (isBarrier(name)) {
      builder.CreateCall(declare("kiln_emulated_barrier", none, {i32}), {site});
      call.eraseFromParent();
      return Error::success();
    }
    execute(call, getInstruction(call), SmallVector<Value *>(call.args()), site);
    return Error::success();
  }

  /// An instruction goes by name, operands and result through memory. Gives the result, if its type
  /// has one.
  Value *execute(CallInst &call, Type *type, StringRef name, ArrayRef<Value *> arguments,
                 Value *site) {
    IRBuilder<> builder(&call);
    Type *i32 = builder.getInt32Ty(), *none = builder.getVoidTy();
    SmallVector<Type *> types;
    for (Value *operand : arguments)
      types.push_back(operand->getType());
    auto *packed = StructType::get(context, types, /*isPacked=*/true);
    Function &function = *call.getFunction();
    Value *operands = room(function, packed);
    for (auto [i, operand] : enumerate(arguments))
      builder.CreateAlignedStore(operand, builder.CreateStructGEP(packed, operands, i), Align(1));
    bool hasResult = !type->isVoidTy();
    Value *result =
        hasResult ? room(function, type) : ConstantPointerNull::get(PointerType::get(context, 0));
    builder.CreateCall(declare("kiln_emulated_instruction", none,
                               {pointerType(), pointerType(), pointerType(), i32}),
                       {builder.CreateGlobalString(name), operands, result, site});
    return hasResult ? builder.CreateLoad(type, result) : nullptr;
  }

  void execute(CallInst &call, StringRef name, ArrayRef<Value *> arguments, Value *site) {
    if (Value *result = execute(call, call.getType(), name, arguments, site))
      call.replaceAllUsesWith(result);
    call.eraseFromParent();
  }

  /// A wait for products of a warp group, or for reads of tensor memory, whose registers hold the
  /// values behind it.
  bool lowerGroupWait(CallInst &call, InlineAsm &assembly) {
    StringRef text = assembly.getAsmString();
    bool isOfProducts = text.consume_front("wgmma.wait_group.sync.aligned ");
    if (!isOfProducts && !text.starts_with("tcgen05.wait::ld.sync.aligned"))
      return false;
    IRBuilder<> builder(&call);
    unsigned inFlight;
    if (isOfProducts && text.consumeInteger(10, inFlight))
      return false;
    SmallVector<Value *> values;
    if (isOfProducts)
      values.push_back(builder.getInt64(inFlight));
    values.push_back(builder.getInt32(call.arg_size()));
    append_range(values, call.args());
    if (isOfProducts)
      execute(call, "kiln.wgmma.wait", values, addSite(builder, call, "wgmma.wait_group"));
    else
      execute(call, "kiln.tcgen05.wait.ld", values, addSite(builder, call, "tcgen05.wait.ld"));
    return true;
  }

  /// The statement by which products of a warp group are started, one after another: each takes
  /// the sums of those before it. Its shape and types are of the instruction's name, what stands
  /// behind its operands becomes numbers.
  bool lowerGroupProducts(CallInst &call, InlineAsm &assembly) {
    constexpr StringLiteral mnemonic = "wgmma.mma_async.sync.aligned.";
    SmallVector<StringRef> lines;
    StringRef(assembly.getAsmString()).split(lines, '\n');
    erase_if(lines, [&](StringRef line) { return !line.starts_with(mnemonic); });
    auto *sumsType = dyn_cast<StructType>(call.getType());
    if (lines.empty() || !sumsType)
      return false;
    unsigned count = sumsType->getNumElements(), inputs = call.arg_size() - count;
    SmallVector<Value *> sums(drop_begin(call.args(), inputs));
    IRBuilder<> builder(&call);
    for (StringRef line : lines) {
      auto [form, operands] = line.drop_front(mnemonic.size()).split(' ');
      // Behind the predicate stand the signs of a and b, unless they are integers; then, of 16
      // bits, which are transposed: of an a in registers nothing.
      size_t predicate = operands.find_first_of("pq");
      if (predicate == StringRef::npos)
        return false;
      StringRef registers = operands.take_front(predicate);
      SmallVector<StringRef> flags;
      operands.drop_front(predicate + 1).split(';').first.split(flags, ", ", -1, false);
      bool inRegisters = registers.count('{') == 2;
      size_t signs = form.contains(".s32.") ? 0 : 2;
      bool isPositive = flags.size() >= signs && all_of(ArrayRef(flags).take_front(signs),
                                                        [](StringRef it) { return it == "1"; });
      if (!isPositive)
        return false;
      ArrayRef<StringRef> transposed = ArrayRef(flags).drop_front(signs);
      SmallVector<Value *> values = {
          builder.getInt32(inRegisters),
          builder.getInt32(!inRegisters && !transposed.empty() && transposed.front() == "1"),
          builder.getInt32(!transposed.empty() && transposed.back() == "1")};
      SmallVector<unsigned> own;
      SmallVector<StringRef> numbers;
      registers.split(numbers, '$', -1, false);
      for (StringRef text : numbers) {
        unsigned operand;
        if (text.consumeInteger(10, operand))
          continue;
        if (operand < count)
          own.push_back(operand);
        else
          values.push_back(call.getArgOperand(operand - count));
      }
      values.push_back(operands[predicate] == 'p' ? call.getArgOperand(inputs - 1)
                                                  : builder.getInt32(1));
      SmallVector<Type *> types;
      for (unsigned sum : own) {
        values.push_back(sums[sum]);
        types.push_back(sums[sum]->getType());
      }
      Value *result = execute(call, StructType::get(context, types), ("kiln.wgmma." + form).str(),
                              values, addSite(builder, call, mnemonic.drop_back()));
      for (auto [i, sum] : enumerate(own))
        sums[sum] = builder.CreateExtractValue(result, i);
    }
    Value *all = PoisonValue::get(sumsType);
    for (auto [i, sum] : enumerate(sums))
      all = builder.CreateInsertValue(all, sum, i);
    call.replaceAllUsesWith(all);
    call.eraseFromParent();
    return true;
  }

  /// Whether the code generator takes the form without scales: if both registers are constants of
  /// zero. It must be asked before anything is replaced.
  static bool lacksScales(const CallInst &call) {
    constexpr unsigned scaleA = 6, scaleB = 8;
    auto isZero = [&](unsigned operand) {
      auto *constant = dyn_cast<ConstantInt>(call.getArgOperand(operand));
      return constant && constant->isZero();
    };
    const Function *callee = call.getCalledFunction();
    return callee && callee->getName().starts_with(kScaledProducts) && isZero(scaleA) &&
           isZero(scaleB);
  }

  /// The intrinsic's name without "llvm."; where another instruction is taken, that one's.
  std::string getInstruction(CallInst &call) {
    StringRef name = call.getCalledFunction()->getName();
    if (withoutScales.contains(&call))
      return ("amdgcn.mfma." + name.drop_front(kScaledProducts.size())).str();
    return name.drop_front(StringRef("llvm.").size()).str();
  }

  /// A text of no instructions gives back the operands that its result shares registers with.
  bool lowerEmptyAssembly(CallInst &call, InlineAsm &assembly) {
    StringRef text = StringRef(assembly.getAsmString()).trim();
    bool isCopy = text == "prmt.b32 $0, $1, $1, 0x3210;";
    if (!text.empty() && !isCopy)
      return false;
    if (!call.getType()->isVoidTy()) {
      InlineAsm::ConstraintInfoVector constraints = assembly.ParseConstraints();
      bool isTied = constraints.size() >= 2 && constraints[0].MatchingInput == 1;
      if ((!isCopy && !isTied) || call.getType() != call.getArgOperand(0)->getType())
        return false;
      call.replaceAllUsesWith(call.getArgOperand(0));
    }
    call.eraseFromParent();
    return true;
  }

  Module &module;
  LLVMContext &context;
  Function *kernel = nullptr;
  bool isNVIDIA = false;
  SmallPtrSet<const CallInst *, 4> withoutScales;
  Sites sites;
};
} // namespace

Error kiln::emulated::lowerToHost(Module &module, TargetMachine &machine,
                                  const SourcePlaces &places) {
  if (Error error = Lowering(module, machine, places).run())
    return error;
  splitElements(module, machine);
  return Error::success();
}
