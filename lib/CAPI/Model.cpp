// kiln-c/Model.h.
#include "kiln-c/Model.h"
#include "Objects.h"
#include "kiln/Runtime/Launch/Model.h"

using namespace kiln;
using namespace kiln::capi;
using namespace llvm;

struct KilnModel {
  std::unique_ptr<Model> model;
};

KilnError *kilnModelCreate(const void *json, size_t size, KilnModel **out) {
  if (!json || !out)
    return reportNull("kilnModelCreate", "json and out");
  Expected<std::unique_ptr<Model>> model =
      Model::create(StringRef(static_cast<const char *>(json), size));
  if (!model)
    return report(model.takeError());
  *out = new KilnModel{std::move(*model)};
  return nullptr;
}
void kilnModelDestroy(KilnModel *model) { delete model; }

KilnError *kilnModelPredict(const KilnModel *model, const KilnArg *args, size_t num_args,
                            KilnDevice *device, double *microseconds) {
  if (!model || (num_args && !args) || !microseconds)
    return reportNull("kilnModelPredict", "model, args and microseconds");
  int64_t cores = device ? unwrap(device)->cores : 0;
  Expected<double> time = model->model->predict(ArrayRef(args, num_args), cores);
  if (!time)
    return report(time.takeError());
  *microseconds = *time;
  return nullptr;
}
