// Types, attributes, layouts and target names, each by the parser that is its own.
#include "Harness.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Layout/Algebra/LinearLayout.h"
#include "kiln/Support/SourceLimits.h"
#include "kiln/Target/AllTargets.h"
#include "kiln/Target/Registry.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

using namespace mlir;
using kiln::LinearLayout;

template <typename T>
static std::string print(T value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

/// What the dialects' own parsers accept, prints as text that means the same.
void kiln::fuzz::fuzzSyntax(StringRef data) {
  if (data.contains("array<index") || data.contains('\0'))
    return;
  if (llvm::Error error = kiln::checkSource(data, "input", 1 << 12, 50)) {
    llvm::consumeError(std::move(error));
    return;
  }
  MLIRContext context(getRegistry(), MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  ScopedDiagnosticHandler silence(&context, [](Diagnostic &) { return success(); });
  if (data.starts_with("!")) {
    Type type = parseType(data, &context);
    if (type && parseType(print(type), &context) != type)
      fail("expected a type that prints as itself, got", data);
    return;
  }
  Attribute attribute = parseAttribute(data, &context);
  if (!attribute)
    return;
  if (parseAttribute(print(attribute), &context) != attribute)
    fail("expected an attribute that prints as itself, got", data);
  auto layout = dyn_cast<tile::LayoutAttr>(attribute);
  if (!layout)
    return;
  static const SmallVector<int64_t> shapes[] = {{64}, {16, 8}, {4, 4, 4}, {}};
  for (ArrayRef<int64_t> shape : shapes) {
    auto ignore = [&] { return emitError(UnknownLoc::get(&context)); };
    if (failed(layout.verifyEncoding(shape, Float32Type::get(&context), ignore)))
      continue;
    LinearLayout linear = layout.toLinear(shape);
    if (tile::LayoutAttr::get(&context, linear) != layout && linear.getTotalInBits())
      fail("expected a layout that survives its algebra, got", data);
  }
}

/// Of each layout that can be read, everything is asked.
void kiln::fuzz::fuzzLayout(StringRef data) {
  auto [first, second] = data.split(';');
  std::string error;
  std::optional<LinearLayout> a = LinearLayout::parse(first, &error);
  if (!a) {
    if (error.empty())
      fail("expected a reason, got none for", first);
    return;
  }
  if (LinearLayout::parse(a->str()) != a)
    fail("expected a layout that prints as itself, got", first);
  a->picture();
  a->freeVariables();
  a->kernel();
  a->image();
  a->isInvertible();
  for (const LinearLayout::InDim &in : a->getIns()) {
    a->getOrder(in.name);
    a->removeZeroBases(in.name);
    for (const LinearLayout::OutDim &out : a->getOuts())
      a->getContiguity(in.name, out.name);
  }
  if (std::optional<LinearLayout> inverse = a->pseudoInvert())
    inverse->str();
  if (a->isInvertible()) {
    std::optional<LinearLayout> inverse = a->invert();
    if (!inverse || !inverse->isInvertible())
      fail("expected an inverse, got none for", first);
  }
  std::optional<LinearLayout> b = LinearLayout::parse(second);
  if (!b)
    return;
  if (a->getTotalInBits() + b->getTotalInBits() <= 60 &&
      a->getTotalOutBits() + b->getTotalOutBits() <= 60) {
    LinearLayout product = *a * *b;
    product.divideLeft(*a);
    product.divideRight(*b);
  }
  a->divideLeft(*b);
  a->divideRight(*b);
  if (a->getShape() == b->getShape() && b->isSurjective())
    if (std::optional<LinearLayout> conversion = a->invertAndCompose(*b))
      conversion->str();
}

/// A name is a target or an error; a target's spelling is its name.
void kiln::fuzz::fuzzTarget(StringRef data) {
  static const bool registered = (registerAllTargets(), true);
  (void)registered;
  MLIRContext context(getRegistry(), MLIRContext::Threading::DISABLED);
  std::string said;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    said = diagnostic.str();
    return success();
  });
  auto report = [&] { return emitError(UnknownLoc::get(&context)); };
  FailureOr<TargetInterface> target = parseTarget(data, &context, report);
  parseStage(data);
  if (failed(target)) {
    if (!StringRef(said).starts_with("expected "))
      fail("expected an error for the target", data);
    return;
  }
  std::string spelling = target->getSpelling();
  FailureOr<TargetInterface> again = parseTarget(spelling, &context, report);
  if (failed(again) || *again != *target)
    fail("expected a spelling that names the same target, got", spelling);
}
