// Compiled kernels by the content they were made from: in memory, and on disk between processes.
//
// Level one is this process's memory, level two a directory with one file an entry. An entry is
// written to a temporary file and renamed, so a reader sees all of it or nothing; it carries its
// own key and a checksum, so what is truncated, corrupt or misplaced counts as absent, is removed
// and compiled again. No lock is needed for any of that, which is what makes it right for many
// processes and for network file systems. A lock file a key keeps two processes of one machine
// from compiling the same thing; it is a courtesy: stale ones are broken and nobody waits for
// long. Entries used least recently go when the directory outgrows its bound.
//
// The directory must belong to the caller and be writable by nobody else; anything else is
// KILN_ERROR_REFUSED with the reason, and so is a symbolic link in its place that leads to such a
// one. If the directory cannot be written (read-only, full, over quota), or if the default one
// cannot be made, the cache goes on in memory alone and kilnCacheDescribe says why, under "notice".
#ifndef KILN_C_CACHE_H
#define KILN_C_CACHE_H

#include "kiln-c/Compiler.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct KilnCache KilnCache;

// `directory` NULL: $KILN_CACHE_DIR, else $XDG_CACHE_HOME/kiln, else ~/.cache/kiln. An empty
// string: memory only. It is made (mode 0700) if absent. `max_bytes` bounds the directory; 0:
// $KILN_CACHE_SIZE (bytes, or with the suffix K, M or G), else 4 GiB. What is kept in memory is
// bounded by $KILN_CACHE_MEMORY, else 64 MiB: over it, what was used longest ago goes.
KILN_EXPORT KilnError *kilnCacheOpen(const char *directory, uint64_t max_bytes, KilnCache **out);
KILN_EXPORT void kilnCacheClose(KilnCache *cache);

// *out becomes the artifact, or NULL on a miss: a miss is no error. Aliases are followed.
KILN_EXPORT KilnError *kilnCacheGet(KilnCache *cache, const KilnKey *key, KilnArtifact **out);
KILN_EXPORT KilnError *kilnCachePut(KilnCache *cache, const KilnKey *key,
                                    const KilnArtifact *artifact);

// Makes `from` find what `to` finds: the two-level key. A front end's cheap key over its sources
// and argument facts becomes an alias of the key over the IR that they led to.
KILN_EXPORT KilnError *kilnCacheAlias(KilnCache *cache, const KilnKey *from, const KilnKey *to);

// Get, or else compile once and put. Of several threads (and, as a courtesy, processes) asking for
// one key, one compiles and the others wait for it; other keys go on. A compile that fails is not
// kept: each of those waiting tries itself. `key` NULL: kilnCompileRequestKey. `hit`, unless NULL,
// becomes 0 (compiled), 1 (memory) or 2 (disk).
KILN_EXPORT KilnError *kilnCacheGetOrCompile(KilnCache *cache, const KilnKey *key,
                                             const KilnCompileRequest *request, KilnArtifact **out,
                                             int32_t *hit);

// A front end that must run before there is a request does the same by hand: Begin either finds
// the artifact (*out) or makes the caller the one who compiles (*out NULL); then the caller must
// call End for that key, with the artifact or, if it failed, with NULL. Others wait meanwhile.
KILN_EXPORT KilnError *kilnCacheBegin(KilnCache *cache, const KilnKey *key, KilnArtifact **out,
                                      int32_t *hit);
KILN_EXPORT KilnError *kilnCacheEnd(KilnCache *cache, const KilnKey *key,
                                    const KilnArtifact *artifact);

//===- Looking after it -----------------------------------------------------------------------===//

// {"directory": "…" or null, "max_bytes": n, "bytes": n, "entries": n, "notice": "…" or null,
// "memory_hits": n, "disk_hits": n, "misses": n, "corrupt": n, "evicted": n, "memory_bytes": n,
// "max_memory_bytes": n}; the counts, and what is in memory, are this cache object's own.
KILN_EXPORT KilnError *kilnCacheDescribe(KilnCache *cache, KilnBuffer **json);

// That notice alone, empty if there is none: the directory is not read.
KILN_EXPORT KilnError *kilnCacheNotice(KilnCache *cache, KilnBuffer **text);

// [{"key": "<64 hex>", "kind": "artifact|alias", "bytes": n, "used": <seconds since 1970>,
// "kernel": "…", "target": "…", "compiler": "…", "alias": "<64 hex>"}], most recently used first.
// Entries that do not verify are left out.
KILN_EXPORT KilnError *kilnCacheList(KilnCache *cache, KilnBuffer **json);

// Removes least recently used entries until the directory holds at most `max_bytes` (0: all of
// them), and debris that killed writers left. *removed, unless NULL, counts the entries.
KILN_EXPORT KilnError *kilnCachePrune(KilnCache *cache, uint64_t max_bytes, uint64_t *removed);

// Reads every entry, removes what is wrong: {"checked": n, "removed": [{"file", "reason"}]}.
KILN_EXPORT KilnError *kilnCacheVerify(KilnCache *cache, KilnBuffer **json);

// From memory and disk. Removing what is not there is no error.
KILN_EXPORT KilnError *kilnCacheRemove(KilnCache *cache, const KilnKey *key);

#ifdef __cplusplus
}
#endif

#endif // KILN_C_CACHE_H
