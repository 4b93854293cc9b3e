// Reading a model, and computing it for the sizes of a call.
#include "kiln/Runtime/Launch/Model.h"
#include "kiln/Runtime/Error.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace kiln;
using namespace llvm;

/// The predicates of a comparison, by which they are numbered.
static constexpr StringLiteral kPredicates[] = {"eq",  "ne",  "slt", "sle", "sgt",
                                                "sge", "ult", "ule", "ugt", "uge"};

static Error refuse(const Twine &text) {
  return makeError(KILN_ERROR_INVALID_ARGUMENT, "expected a kernel's model: " + text);
}

//===- Reading ------------------------------------------------------------------------------===//

struct Model::Reader {
  Model &model;

  static std::optional<Op> findOp(StringRef name) {
    return StringSwitch<std::optional<Op>>(name)
        .Case("constant", Op::Constant)
        .Case("extent", Op::Extent)
        .Case("value", Op::Value)
        .Case("program", Op::Program)
        .Case("programs", Op::Programs)
        .Case("middle", Op::Middle)
        .Case("trips", Op::Trips)
        .Case("addi", Op::Add)
        .Case("subi", Op::Sub)
        .Case("muli", Op::Mul)
        .Case("divsi", Op::DivS)
        .Case("divui", Op::DivU)
        .Case("ceildivsi", Op::CeilDivS)
        .Case("ceildivui", Op::CeilDivU)
        .Case("floordivsi", Op::FloorDivS)
        .Case("remsi", Op::RemS)
        .Case("remui", Op::RemU)
        .Case("minsi", Op::MinS)
        .Case("minui", Op::MinU)
        .Case("maxsi", Op::MaxS)
        .Case("maxui", Op::MaxU)
        .Case("andi", Op::And)
        .Case("ori", Op::Or)
        .Case("xori", Op::Xor)
        .Case("shli", Op::ShL)
        .Case("shrsi", Op::ShRS)
        .Case("shrui", Op::ShRU)
        .Case("select", Op::Select)
        .Case("cmpi", Op::Compare)
        .Default(std::nullopt);
  }

  static size_t countOperands(Op op) {
    switch (op) {
    case Op::Constant:
    case Op::Extent:
    case Op::Value:
    case Op::Program:
    case Op::Programs:
      return 0;
    case Op::Middle:
    case Op::Trips:
    case Op::Select:
      return 3;
    default:
      return 2;
    }
  }

  Error readNumber(const json::Value &value) {
    const json::Object *object = value.getAsObject();
    std::optional<Op> op;
    if (object)
      op = findOp(object->getString("op").value_or(""));
    if (!op)
      return refuse("a number whose operation nobody knows");
    Number number{*op};
    auto member = [&](StringRef name) { return object->getInteger(name).value_or(0); };
    number.value = *op == Op::Constant                     ? member("value")
                   : *op == Op::Extent || *op == Op::Value ? member("argument")
                                                           : member("axis");
    number.dim = member("dim");
    if (*op == Op::Compare) {
      const auto *known = llvm::find(kPredicates, object->getString("predicate").value_or(""));
      if (known == std::end(kPredicates))
        return refuse("a comparison whose predicate nobody knows");
      number.value = known - std::begin(kPredicates);
    }
    const json::Array *of = object->getArray("of");
    size_t wanted = countOperands(*op);
    if ((of ? of->size() : 0) != wanted)
      return refuse("an operation with other operands");
    for (size_t i = 0; i < wanted; ++i) {
      int64_t place = (*of)[i].getAsInteger().value_or(-1);
      if (place < 0 || place >= int64_t(model.numbers.size()))
        return refuse("an operand that comes later");
      number.of[i] = place;
    }
    if ((*op == Op::Program || *op == Op::Programs) && (number.value < 0 || number.value > 2))
      return refuse("an axis of x, y and z");
    model.numbers.push_back(number);
    return Error::success();
  }

  Error readPlaces(const json::Object &object, StringRef name, std::vector<uint32_t> &places) {
    if (const json::Array *array = object.getArray(name))
      for (const json::Value &value : *array) {
        int64_t place = value.getAsInteger().value_or(-1);
        if (place < 0 || place >= int64_t(model.numbers.size()))
          return refuse("a number that is not there, in '" + name + "'");
        places.push_back(place);
      }
    return Error::success();
  }

  Error read(const json::Object &object) {
    if (const json::Array *numbers = object.getArray("numbers"))
      for (const json::Value &number : *numbers)
        if (Error error = readNumber(number))
          return error;
    if (Error error = readPlaces(object, "programs", model.programs))
      return error;
    if (Error error = readPlaces(object, "bytes", model.bytes))
      return error;
    if (model.programs.empty() || model.programs.size() > 3)
      return refuse("the programs of one to three axes");
    if (const json::Array *loops = object.getArray("loops"))
      for (const json::Value &value : *loops) {
        const json::Object *loop = value.getAsObject();
        int64_t trips = loop ? loop->getInteger("trips").value_or(-1) : -1;
        if (trips < 0 || trips >= int64_t(model.numbers.size()))
          return refuse("loops with trips");
        auto us = [&](StringRef name) { return loop->getNumber(name).value_or(0); };
        model.loops.push_back({uint32_t(trips), us("us"), us("cache_us"), us("arriving_us"),
                               loop->getBoolean("beside").value_or(true)});
      }
    if (const json::Array *cluster = object.getArray("cluster"))
      for (size_t i = 0; i < std::min<size_t>(3, cluster->size()); ++i)
        model.cluster[i] = std::max<int64_t>(1, (*cluster)[i].getAsInteger().value_or(1));
    model.cores = object.getInteger("cores").value_or(0);
    if (model.cores < 1)
      return refuse("cores");
    auto number = [&](StringRef name) { return object.getNumber(name).value_or(0); };
    model.startUs = number("start_us");
    model.turnUs = number("turn_us");
    model.endUs = number("end_us");
    model.bytesPerUs = number("bytes_per_us");
    return Error::success();
  }
};

Expected<std::unique_ptr<Model>> Model::create(StringRef text) {
  Expected<json::Value> parsed = json::parse(text);
  if (!parsed)
    return refuse(toString(parsed.takeError()));
  const json::Object *object = parsed->getAsObject();
  if (!object)
    return refuse("a JSON object");
  auto model = std::make_unique<Model>();
  if (Error error = Reader{*model}.read(*object))
    return std::move(error);
  return std::move(model);
}

//===- Computing ----------------------------------------------------------------------------===//

/// Numbers of the model are those of an index, of 64 bits that wrap around.
static int64_t add(int64_t a, int64_t b) { return int64_t(uint64_t(a) + uint64_t(b)); }
static int64_t sub(int64_t a, int64_t b) { return int64_t(uint64_t(a) - uint64_t(b)); }
static int64_t mul(int64_t a, int64_t b) { return int64_t(uint64_t(a) * uint64_t(b)); }

static bool compare(int64_t predicate, int64_t a, int64_t b) {
  uint64_t ua = a, ub = b;
  bool all[] = {a == b, a != b, a<b, a <= b, a> b, a >= b, ua<ub, ua <= ub, ua> ub, ua >= ub};
  return all[predicate];
}

Expected<int64_t> Model::find(ArrayRef<KilnArg> args, const Number &number) const {
  auto wrong = [&](const Twine &text) {
    return makeError(KILN_ERROR_INVALID_ARGUMENT,
                     "expected argument " + Twine(number.value) + " to be " + text);
  };
  if (number.value < 0 || number.value >= int64_t(args.size()))
    return wrong("there");
  const KilnArg &arg = args[number.value];
  if (number.op == Op::Value) {
    if (arg.kind != KILN_ARG_INTEGER && arg.kind != KILN_ARG_BOOL)
      return wrong("an integer");
    return arg.value.integer;
  }
  if (arg.kind != KILN_ARG_TENSOR || number.dim < 0 || number.dim >= arg.value.tensor.rank)
    return wrong("a tensor of more than " + Twine(number.dim) + " dimensions");
  return arg.value.tensor.shape[number.dim];
}

static Error divideByZero() {
  return makeError(KILN_ERROR_INVALID_ARGUMENT,
                   "expected sizes for which the model divides by no zero");
}

Error Model::compute(ArrayRef<KilnArg> args, std::vector<int64_t> &values) const {
  // Programs come first where others ask for them: the grid asks for none.
  int64_t extents[3] = {1, 1, 1};
  uint32_t counted = 0;
  values.resize(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    const Number &number = numbers[i];
    int64_t a = values[number.of[0]], b = values[number.of[1]], c = values[number.of[2]];
    bool divides = false;
    switch (number.op) {
    case Op::DivS:
    case Op::DivU:
    case Op::CeilDivS:
    case Op::CeilDivU:
    case Op::FloorDivS:
    case Op::RemS:
    case Op::RemU:
      divides = true;
      break;
    default:
      break;
    }
    bool wraps = a == INT64_MIN && b == -1;
    if (divides && (b == 0 || wraps))
      return divideByZero();
    auto trips = [&] { return c > 0 && b > a ? divideCeil(uint64_t(sub(b, a)), uint64_t(c)) : 0; };
    int64_t value = 0;
    switch (number.op) {
    case Op::Constant:
      value = number.value;
      break;
    case Op::Extent:
    case Op::Value: {
      Expected<int64_t> found = find(args, number);
      if (!found)
        return found.takeError();
      value = *found;
      break;
    }
    case Op::Program:
      value = std::max<int64_t>(extents[number.value] - 1, 0) / 2;
      break;
    case Op::Programs:
      value = extents[number.value];
      break;
    case Op::Middle:
      value = add(a, mul(int64_t(trips() / 2), c));
      break;
    case Op::Trips:
      value = int64_t(trips());
      break;
    case Op::Add:
      value = add(a, b);
      break;
    case Op::Sub:
      value = sub(a, b);
      break;
    case Op::Mul:
      value = mul(a, b);
      break;
    case Op::DivS:
      value = a / b;
      break;
    case Op::DivU:
      value = int64_t(uint64_t(a) / uint64_t(b));
      break;
    case Op::CeilDivS:
      value = divideCeilSigned(a, b);
      break;
    case Op::CeilDivU:
      value = int64_t(divideCeil(uint64_t(a), uint64_t(b)));
      break;
    case Op::FloorDivS:
      value = divideFloorSigned(a, b);
      break;
    case Op::RemS:
      value = a % b;
      break;
    case Op::RemU:
      value = int64_t(uint64_t(a) % uint64_t(b));
      break;
    case Op::MinS:
      value = std::min(a, b);
      break;
    case Op::MinU:
      value = int64_t(std::min(uint64_t(a), uint64_t(b)));
      break;
    case Op::MaxS:
      value = std::max(a, b);
      break;
    case Op::MaxU:
      value = int64_t(std::max(uint64_t(a), uint64_t(b)));
      break;
    case Op::And:
      value = a & b;
      break;
    case Op::Or:
      value = a | b;
      break;
    case Op::Xor:
      value = a ^ b;
      break;
    case Op::ShL:
      value = uint64_t(b) < 64 ? int64_t(uint64_t(a) << b) : 0;
      break;
    case Op::ShRS:
      value = a >> std::min<uint64_t>(uint64_t(b), 63);
      break;
    case Op::ShRU:
      value = uint64_t(b) < 64 ? int64_t(uint64_t(a) >> b) : 0;
      break;
    case Op::Select:
      value = a ? b : c;
      break;
    case Op::Compare:
      value = compare(number.value, a, b);
      break;
    }
    values[i] = value;
    while (counted < programs.size() && programs[counted] <= i) {
      extents[counted] = values[programs[counted]];
      ++counted;
    }
  }
  return Error::success();
}

/// How long two things take that run beside one another. What little the shorter one adds tells
/// apart what the longer one leaves alike.
static double join(double a, double b) { return std::max(a, b) + std::min(a, b) / 16; }

Expected<double> Model::predict(ArrayRef<KilnArg> args, int64_t deviceCores) const {
  std::vector<int64_t> values;
  if (Error error = compute(args, values))
    return std::move(error);
  double tiles = 1, program = endUs + turnUs;
  for (auto [axis, place] : enumerate(programs)) {
    int64_t extent = std::max<int64_t>(values[place], 0);
    tiles *= double(divideCeil(uint64_t(extent), uint64_t(cluster[axis])) * cluster[axis]);
  }
  double all = double(deviceCores > 0 ? deviceCores : cores), busy = std::min(tiles, all) / all;
  for (const Loop &loop : loops) {
    double cache = std::max(loop.cacheUs * busy, loop.arrivingUs);
    double trip = loop.isBeside ? join(loop.us, cache) : loop.us + cache;
    program += double(std::max<int64_t>(values[loop.trips], 0)) * trip;
  }
  double rounds = std::ceil(tiles / all);
  double moved = 0;
  for (uint32_t place : bytes)
    moved += double(values[place]);
  return startUs + join(rounds * program, bytesPerUs > 0 ? moved / bytesPerUs : 0);
}
