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
    InterfaceMethod<[{
      Whether its sums are as exact as the accumulator's type, so that a pass may choose it unasked.
    }], "bool", "sumsExactly", (ins), "", "return true;">,
  ];
}

def CopyAtomInterface : AttrInterface<"CopyAtomInterface"> {
  let cppNamespace = "::kiln::tile";
  let description = [{
    An instruction that moves elements between registers, shared and global memory.
  }];
  let methods = [
    InterfaceMethod<"Whether it moves from the one place to the other.", "bool", "canCopy",
                    (ins "::kiln::tile::Place":$from, "::kiln::tile::Place":$to)>,
    InterfaceMethod<"Whether it can do as these hints about caches say; none is fine.", "bool",
                    "follows", (ins "std::optional<::kiln::tile::Cache>":$cache,
                                    "std::optional<::kiln::tile::Eviction>":$eviction),
                    "", "return !cache && !eviction;">,
    InterfaceMethod<"How its end is known.", "::kiln::tile::Completion", "getCompletion", (ins),
                    "", "return ::kiln::tile::Completion::InOrder;">,
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
