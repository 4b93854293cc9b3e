// What the decisions `atom` and `read_atom` may be: matrix and copy instructions.
#ifndef KILN_DIALECT_TILE_IR_TILEATOMINTERFACES_TD
#define KILN_DIALECT_TILE_IR_TILEATOMINTERFACES_TD

include "mlir/IR/OpBase.td"

def MmaAtomInterface : AttrInterface<"MmaAtomInterface"> {
  let cppNamespace = "::kiln::tile";
  let description = [{
    A way to multiply and add fragments of matrices. How one is emitted is said by the interfaces
    that derive from this one.
  }];
  let methods = [
    InterfaceMethod<"The extents m, n and k.", "std::array<int64_t, 3>", "getExtents">,
    InterfaceMethod<"How many warps issue it together.", "unsigned", "getWarps", (ins), "",
                    "return 1;">,
    InterfaceMethod<[{
      How many programs of a cluster, one behind another, multiply by it together: by the extents
      each has its own rows of a and of the accumulator, and an equal part of b's columns. The first
      of them starts it.
    }], "unsigned", "getPrograms", (ins), "", "return 1;">,
    InterfaceMethod<"Whether it can read operand a (0) or b (1) from there.", "bool", "readsFrom",
                    (ins "unsigned":$operand, "::kiln::tile::Place":$place), "",
                    "return place == ::kiln::tile::Place::Registers;">,
    InterfaceMethod<"Where its accumulator lies: in registers or in tensor memory.",
                    "::kiln::tile::Place", "getAccumulatorPlace", (ins), "",
                    "return ::kiln::tile::Place::Registers;">,
    InterfaceMethod<"How its end is known.", "::kiln::tile::Completion", "getCompletion", (ins),
                    "", "return ::kiln::tile::Completion::InOrder;">,
    InterfaceMethod<"Which units of a core make it.", "::kiln::tile::Unit", "getUnit", (ins), "",
                    "return ::kiln::tile::Unit::Matrix;">,
    InterfaceMethod<[{
      For how many cycles all of a core's units are busy with so many multiply-adds of it into sums
      of this type, if the chip's record says so.
    }], "std::optional<int64_t>", "getIssueCycles",
        (ins "const ::kiln::Chip &":$chip, "::mlir::Type":$sum, "int64_t":$products)>,
    InterfaceMethod<[{
      How many cycles after these the sums can be used, with what it takes to wait for them, if the
      chip's record says so.
    }], "std::optional<int64_t>", "getLatency", (ins "const ::kiln::Chip &":$chip)>,
    InterfaceMethod<[{
      Whether its sums are as exact as the accumulator's type, so that a pass may choose it unasked.
    }], "bool", "sumsExactly", (ins), "", "return true;">,
  ];
}

def CopyAtomInterface : AttrInterface<"CopyAtomInterface"> {
  let cppNamespace = "::kiln::tile";
  let description = [{
    An instruction that moves elements between registers, shared and global memory, from one of
    these sides to another.
  }];
  let methods = [
    InterfaceMethod<"Whether it moves from the one place to the other.", "bool", "canCopy",
                    (ins "::kiln::tile::Place":$from, "::kiln::tile::Place":$to)>,
    InterfaceMethod<[{
      The consecutive bytes that it moves as one, of which places and strides in memory are
      multiples.
    }], "unsigned", "getGranularity">,
    InterfaceMethod<[{
      Whether it can fill, or empty, a buffer of this shape that lies so, from `offset` to the
      coordinates: which orders of the pieces it moves it makes, or finds, there.
    }], "bool", "admits", (ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$element,
                           "const ::kiln::LinearLayout &":$layout), "", "return true;">,
    InterfaceMethod<"Whether it can do as these hints about caches say; none is fine.", "bool",
                    "follows", (ins "std::optional<::kiln::tile::Cache>":$cache,
                                    "std::optional<::kiln::tile::Eviction>":$eviction),
                    "", "return !cache && !eviction;">,
    InterfaceMethod<"How its end is known.", "::kiln::tile::Completion", "getCompletion", (ins),
                    "", "return ::kiln::tile::Completion::InOrder;">,
    InterfaceMethod<"Which units of a core start it.", "::kiln::tile::Unit", "getUnit", (ins), "",
                    "return ::kiln::tile::Unit::Lanes;">,
    InterfaceMethod<[{
      How many cycles after its start what it moves is there, if the chip's record says so; what
      comes from global memory is in no cache.
    }], "std::optional<int64_t>", "getLatency", (ins "const ::kiln::Chip &":$chip)>,
  ];
}

class Tile_Atom<Pred predicate, string summary> : Attr<predicate, summary> {
  let storageType = "::mlir::Attribute";
  let returnType = "::mlir::Attribute";
  let convertFromStorage = "$_self";
}

def Tile_MmaAtom : Tile_Atom<CPred<"::llvm::isa<::kiln::tile::MmaAtomInterface>($_self)">,
                             "a matrix instruction">;

class Tile_CopyAtom<string from, string to, string summary>
    : Tile_Atom<And<[CPred<"::llvm::isa<::kiln::tile::CopyAtomInterface>($_self)">,
                     CPred<"::llvm::cast<::kiln::tile::CopyAtomInterface>($_self).canCopy("
                           "::kiln::tile::Place::" # from # ", ::kiln::tile::Place::" # to # ")">]>,
                "a copy instruction from " # summary>;
def Tile_EngineAtom : Tile_Atom<
    And<[CPred<"::llvm::isa<::kiln::tile::CopyAtomInterface>($_self)">,
         CPred<"::llvm::cast<::kiln::tile::CopyAtomInterface>($_self).getCompletion() == "
               "::kiln::tile::Completion::CountedBytes">]>,
    "a copy instruction of an engine">;
def Tile_AtomIn : Tile_CopyAtom<"Global", "Shared", "global to shared memory">;
def Tile_AtomOut : Tile_CopyAtom<"Shared", "Global", "shared to global memory">;
def Tile_ReadAtom : Tile_CopyAtom<"Shared", "Registers", "shared memory to registers">;
def Tile_WriteAtom : Tile_CopyAtom<"Registers", "Shared", "registers to shared memory">;

#endif // KILN_DIALECT_TILE_IR_TILEATOMINTERFACES_TD
