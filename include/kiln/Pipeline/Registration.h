// What a context must know to hold any stage of a kernel, and which passes are on offer: said
// once, for the compiler, the tools and the tests.
#ifndef KILN_PIPELINE_REGISTRATION_H
#define KILN_PIPELINE_REGISTRATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace kiln {

/// Every dialect that some stage speaks, with the interfaces that our passes and the
/// translation to LLVM IR ask of it.
void registerAllDialects(mlir::DialectRegistry &registry);

/// The passes that Kiln ships, under the names that pipelines are written with. Once a process.
void registerAllPasses();

} // namespace kiln

#endif // KILN_PIPELINE_REGISTRATION_H
