// The cache of compiled kernels.
#include "GIL.h"
#include "Objects.h"

using namespace kiln::python;

namespace {

template <KilnError *(*Describe)(KilnCache *, KilnBuffer **)>
nb::str describe(const CacheObject &cache) {
  KilnBuffer *json = nullptr;
  KilnError *error;
  {
    WithoutGIL released;
    error = Describe(cache.get(), &json);
  }
  check(error);
  return takeStr(json);
}

} // namespace

void kiln::python::bindCache(nb::module_ &m) {
  nb::class_<CacheObject>(m, "Cache")
      .def_static(
          "open",
          [](std::optional<std::string> directory, uint64_t maxBytes) {
            KilnCache *cache = nullptr;
            check(kilnCacheOpen(directory ? directory->c_str() : nullptr, maxBytes, &cache));
            return CacheObject(cache);
          },
          nb::arg("directory").none() = nb::none(), nb::arg("max_bytes") = 0)
      .def("get",
           [](const CacheObject &cache, nb::bytes key) -> nb::object {
             KilnKey k = keyOf(key);
             KilnArtifact *artifact = nullptr;
             check(kilnCacheGet(cache.get(), &k, &artifact));
             return artifact ? nb::cast(ArtifactObject(artifact)) : nb::none();
           })
      .def("put",
           [](const CacheObject &cache, nb::bytes key, const ArtifactObject &artifact) {
             KilnKey k = keyOf(key);
             check(kilnCachePut(cache.get(), &k, artifact.get()));
           })
      .def("alias",
           [](const CacheObject &cache, nb::bytes from, nb::bytes to) {
             KilnKey a = keyOf(from), b = keyOf(to);
             check(kilnCacheAlias(cache.get(), &a, &b));
           })
      .def("remove",
           [](const CacheObject &cache, nb::bytes key) {
             KilnKey k = keyOf(key);
             check(kilnCacheRemove(cache.get(), &k));
           })
      .def("describe", &describe<kilnCacheDescribe>)
      .def("notice", &describe<kilnCacheNotice>)
      .def("list", &describe<kilnCacheList>)
      .def("verify", &describe<kilnCacheVerify>)
      .def(
          "prune",
          [](const CacheObject &cache, uint64_t maxBytes) {
            uint64_t removed = 0;
            KilnError *error;
            {
              WithoutGIL released;
              error = kilnCachePrune(cache.get(), maxBytes, &removed);
            }
            check(error);
            return removed;
          },
          nb::arg("max_bytes") = 0);
}
