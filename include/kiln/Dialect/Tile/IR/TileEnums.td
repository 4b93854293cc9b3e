// The closed sets of words that ops of the dialect choose from.
#ifndef KILN_DIALECT_TILE_IR_TILEENUMS_TD
#define KILN_DIALECT_TILE_IR_TILEENUMS_TD

include "kiln/Dialect/Tile/IR/TileDialect.td"
include "mlir/IR/EnumAttr.td"

class Tile_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::kiln::tile";
  let genSpecializedAttr = 0;
}
class Tile_EnumAttr<EnumAttrInfo info, string mnemonic> : EnumAttr<Tile_Dialect, info, mnemonic>;

def Tile_Axis : Tile_Enum<"Axis", "a dimension of the grid", [
    I32EnumAttrCase<"X", 0, "x">, I32EnumAttrCase<"Y", 1, "y">, I32EnumAttrCase<"Z", 2, "z">]>;
def Tile_AxisAttr : Tile_EnumAttr<Tile_Axis, "axis"> { let assemblyFormat = "$value"; }

def Tile_Cache : Tile_Enum<"Cache", "where an access may be cached", [
    I32EnumAttrCase<"All", 0, "all">,
    I32EnumAttrCase<"Global", 1, "global">,
    I32EnumAttrCase<"Streaming", 2, "streaming">,
    I32EnumAttrCase<"Bypass", 3, "bypass">]>;
def Tile_CacheAttr : Tile_EnumAttr<Tile_Cache, "cache">;

def Tile_Eviction : Tile_Enum<"Eviction", "how soon a cached line may be evicted", [
    I32EnumAttrCase<"Normal", 0, "normal">,
    I32EnumAttrCase<"First", 1, "first">,
    I32EnumAttrCase<"Last", 2, "last">]>;
def Tile_EvictionAttr : Tile_EnumAttr<Tile_Eviction, "eviction">;

def Tile_ConversionKind : Tile_Enum<"ConversionKind", "how a tensor goes to other threads", [
    I32EnumAttrCase<"Registers", 0, "registers">,
    I32EnumAttrCase<"Lanes", 1, "lanes">,
    I32EnumAttrCase<"Memory", 2, "memory">]>;

def Tile_AtomicKind : Tile_Enum<"AtomicKind", "what an atomic access combines with", [
    I32EnumAttrCase<"AddF", 0, "addf">, I32EnumAttrCase<"AddI", 1, "addi">,
    I32EnumAttrCase<"MinF", 2, "minf">, I32EnumAttrCase<"MaxF", 3, "maxf">,
    I32EnumAttrCase<"MinS", 4, "mins">, I32EnumAttrCase<"MaxS", 5, "maxs">,
    I32EnumAttrCase<"MinU", 6, "minu">, I32EnumAttrCase<"MaxU", 7, "maxu">,
    I32EnumAttrCase<"And", 8, "and">, I32EnumAttrCase<"Or", 9, "or">,
    I32EnumAttrCase<"Xor", 10, "xor">, I32EnumAttrCase<"Exch", 11, "exch">]>;
def Tile_AtomicKindAttr : Tile_EnumAttr<Tile_AtomicKind, "atomic_kind"> {
  let assemblyFormat = "$value";
}

def Tile_MemoryOrder : Tile_Enum<"MemoryOrder", "the ordering of an atomic access", [
    I32EnumAttrCase<"Relaxed", 0, "relaxed">,
    I32EnumAttrCase<"Acquire", 1, "acquire">,
    I32EnumAttrCase<"Release", 2, "release">,
    I32EnumAttrCase<"AcqRel", 3, "acq_rel">]>;
def Tile_MemoryOrderAttr : Tile_EnumAttr<Tile_MemoryOrder, "order">;

def Tile_MemoryScope : Tile_Enum<"MemoryScope", "who observes the order of an atomic access", [
    I32EnumAttrCase<"Program", 0, "program">,
    I32EnumAttrCase<"Cluster", 1, "cluster">,
    I32EnumAttrCase<"Device", 2, "device">,
    I32EnumAttrCase<"System", 3, "system">]>;
def Tile_MemoryScopeAttr : Tile_EnumAttr<Tile_MemoryScope, "scope">;

def Tile_DotPrecision : Tile_Enum<"DotPrecision", "how the f32 operands of a dot are read", [
    I32EnumAttrCase<"IEEE", 0, "ieee">,
    I32EnumAttrCase<"TF32", 1, "tf32">,
    I32EnumAttrCase<"TF32x3", 2, "tf32x3">]>;
def Tile_DotPrecisionAttr : Tile_EnumAttr<Tile_DotPrecision, "precision">;

def Tile_FenceKind : Tile_Enum<"FenceKind", "what a fence orders", [
    I32EnumAttrCase<"TensorBefore", 0, "tensor_before">,
    I32EnumAttrCase<"TensorAfter", 1, "tensor_after">,
    I32EnumAttrCase<"Shared", 2, "shared">,
    I32EnumAttrCase<"Barriers", 3, "barriers">]>;
def Tile_FenceKindAttr : Tile_EnumAttr<Tile_FenceKind, "fence"> { let assemblyFormat = "$value"; }

def Tile_InstructionKind : Tile_Enum<"InstructionKind", "a kind of machine instruction", [
    I32EnumAttrCase<"Matrix", 0, "matrix">,
    I32EnumAttrCase<"Vector", 1, "vector">,
    I32EnumAttrCase<"Scalar", 2, "scalar">,
    I32EnumAttrCase<"Transcendental", 3, "transcendental">,
    I32EnumAttrCase<"Load", 4, "load">,
    I32EnumAttrCase<"Store", 5, "store">,
    I32EnumAttrCase<"Read", 6, "read">,
    I32EnumAttrCase<"Write", 7, "write">]>;
def Tile_InstructionKindAttr : Tile_EnumAttr<Tile_InstructionKind, "instruction_kind"> {
  let assemblyFormat = "$value";
}

#endif // KILN_DIALECT_TILE_IR_TILEENUMS_TD
