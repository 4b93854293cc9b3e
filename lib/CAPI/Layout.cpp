// kiln-c/Layout.h: a layout's text, evaluated at every place.
#include "kiln-c/Layout.h"
#include "Objects.h"
#include "kiln/Layout/Algebra/LinearLayout.h"
#include "kiln/Runtime/Error.h"
#include "llvm/Support/JSON.h"

using namespace kiln;
using namespace kiln::capi;
using namespace llvm;

KilnError *kilnLayoutDescribe(const char *text, KilnBuffer **json) {
  if (!text || !json)
    return reportNull("kilnLayoutDescribe", "text and json");
#ifdef KILN_HAS_COMPILER
  std::string error;
  std::optional<LinearLayout> layout = LinearLayout::parse(text, &error);
  if (!layout)
    return report(KILN_ERROR_INVALID_ARGUMENT, "the layout cannot be read: " + error);
  constexpr unsigned kMostBits = 16;
  if (layout->getTotalInBits() > kMostBits || layout->getTotalOutBits() > kMostBits)
    return report(KILN_ERROR_INVALID_ARGUMENT,
                  "expected at most 2^16 places and elements, got 2^" +
                      Twine(std::max(layout->getTotalInBits(), layout->getTotalOutBits())));

  json::Array shape, parts, order, contiguity, places;
  for (int64_t extent : layout->getShape())
    shape.push_back(extent);
  for (auto [in, free] : llvm::zip(layout->getIns(), layout->freeVariables()))
    parts.push_back(
        json::Object{{"name", in.name}, {"size", layout->getInSize(in.name)}, {"free", free}});
  if (!layout->getIns().empty()) {
    StringRef first = layout->getIns().front().name;
    for (unsigned dim : layout->getOrder(first))
      order.push_back(int64_t(dim));
    for (const auto &out : layout->getOuts())
      contiguity.push_back(layout->getContiguity(first, out.name));
  }
  std::vector<json::Array> held(size_t(1) << layout->getTotalOutBits());
  for (int64_t flat = 0; flat < int64_t(1) << layout->getTotalInBits(); ++flat) {
    LinearLayout::Basis place = layout->unflattenPlace(flat);
    if (!layout->isThere(place))
      continue;
    json::Array numbers;
    for (int64_t value : place)
      numbers.push_back(value);
    held[layout->flatten(layout->apply(place))].push_back(std::move(numbers));
  }
  for (auto [flat, list] : llvm::enumerate(held))
    if (all_of(zip_equal(layout->unflatten(flat), layout->getShape()),
               [](auto pair) { return std::get<0>(pair) < std::get<1>(pair); }))
      places.push_back(std::move(list));
  json::Object described{{"shape", std::move(shape)},
                         {"parts", std::move(parts)},
                         {"order", std::move(order)},
                         {"contiguity", std::move(contiguity)},
                         {"surjective", layout->isSurjective()},
                         {"injective", layout->isInjective()},
                         {"places", std::move(places)}};
  return give(std::move(described), json);
#else
  return report(KILN_ERROR_UNSUPPORTED, "this build can run kernels but knows no layouts");
#endif
}
