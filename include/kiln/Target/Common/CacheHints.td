// Hints about caches, for targets whose accesses can obey some.
#ifndef KILN_TARGET_COMMON_CACHEHINTS_TD
#define KILN_TARGET_COMMON_CACHEHINTS_TD

include "mlir/IR/OpBase.td"

def CacheHintsInterface : AttrInterface<"CacheHintsInterface"> {
  let cppNamespace = "::kiln";
  let description = [{
    A target whose accesses can ask something of caches. A target's attribute implements it besides
    its own interface; where one does not, as of a host, caches take no requests and no hint has an
    effect. Of accesses by a copy instruction its atom answers.
  }];
  let methods = [
    InterfaceMethod<[{
      Whether plain loads, stores, gathers and scatters can do as these hints say; none is fine.
    }], "bool", "follows", (ins "std::optional<::kiln::tile::Cache>":$cache,
                                "std::optional<::kiln::tile::Eviction>":$eviction)>,
  ];
}

#endif // KILN_TARGET_COMMON_CACHEHINTS_TD
