// The structure of loop nests: levels, index arithmetic, and where ops are put.
#include "Nest.h"
#include "Program.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::cpu;

Nest::Nest(Program &program, Location loc, bool inside)
    : program(program), loc(loc), inside(inside), detached(loc.getContext()) {
  levels.push_back({program.builder.getInsertionBlock(), program.builder.getInsertionPoint()});
}

Nest::~Nest() { program.builder.setInsertionPoint(levels[0].block, levels[0].before); }

void Nest::placeAt(Operation *op, int level) {
  levels[level].block->getOperations().insert(levels[level].before, op);
  if (level > 0)
    for (Value result : op->getResults())
      levelOfValue[result] = level;
}

void Nest::place(Operation *op) {
  int level = 0;
  for (Value operand : op->getOperands())
    level = std::max(level, levelOf(operand));
  placeAt(op, level);
}

Value Nest::open(int64_t from, int64_t to, int64_t step) {
  return open(index(from), index(to), step, {}, nullptr);
}

Value Nest::open(Value from, Value to, int64_t step, ValueRange carried,
                 SmallVector<Value> *arguments) {
  Value by = index(step);
  auto loop = scf::ForOp::create(detached, loc, from, to, by, carried);
  Level &level = levels.back();
  level.block->getOperations().insert(level.before, loop);
  level.before = Block::iterator(loop);
  Block *body = loop.getBody();
  levels.push_back({body, carried.empty() ? Block::iterator(body->back()) : body->end()});
  levelOfValue[loop.getInductionVar()] = levels.size() - 1;
  for (BlockArgument argument : loop.getRegionIterArgs()) {
    levelOfValue[argument] = levels.size() - 1;
    arguments->push_back(argument);
  }
  return loop.getInductionVar();
}

SmallVector<Value> Nest::close(ValueRange yields) {
  if (!yields.empty())
    makeHere<scf::YieldOp>(yields);
  Operation *loop = levels.back().block->getParentOp();
  levels.pop_back();
  levels.back().before = std::next(Block::iterator(loop));
  auto inner = [&](size_t level) { return level >= levels.size(); };
  for (auto it = arithmetic.begin(); it != arithmetic.end();)
    it = inner(it->second.second) ? arithmetic.erase(it) : std::next(it);
  for (auto it = known.begin(); it != known.end();)
    it = inner(it->second.level) ? known.erase(it) : std::next(it);
  SmallVector<Value> results(loop->getResults());
  if (levels.size() > 1)
    for (Value result : results)
      levelOfValue[result] = levels.size() - 1;
  return results;
}

void Nest::forLanes(int64_t extent, function_ref<void(Value, int64_t)> body) {
  int64_t width = program.vectorWidth();
  int64_t whole = extent / width * width;
  if (whole == width) {
    body(index(0), width);
  } else if (whole > 0) {
    body(open(0, whole, width), width);
    close();
  }
  for (int64_t at = whole; at < extent;) {
    int64_t rest = llvm::bit_floor(static_cast<uint64_t>(extent - at));
    body(index(at), rest);
    at += rest;
  }
}

void Nest::forEach(ArrayRef<int64_t> shape, int lane, function_ref<void(Point)> body, int skipped) {
  Point point;
  unsigned opened = 0;
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    bool loop = static_cast<int>(dim) != lane && static_cast<int>(dim) != skipped && extent > 1;
    point.at.push_back(loop ? open(0, extent) : index(0));
    opened += loop;
  }
  if (lane < 0) {
    body(point);
  } else {
    forLanes(shape[lane], [&](Value at, int64_t width) {
      point.at[lane] = at;
      point.lane = width > 1 ? lane : -1;
      point.width = width;
      body(point);
    });
  }
  while (opened--)
    close();
}

//===- Index arithmetic ---------------------------------------------------------------------===//

static std::optional<int64_t> constantOf(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  return std::nullopt;
}

Value Nest::index(int64_t value) {
  Value &known = indices[value];
  if (!known) {
    auto op = arith::ConstantIndexOp::create(detached, loc, value);
    placeAt(op, 0);
    known = op;
  }
  return known;
}

Value Nest::integer(Type type, int64_t value) {
  if (auto vector = dyn_cast<VectorType>(type))
    return constant(DenseElementsAttr::get(
        vector, Attribute(IntegerAttr::get(vector.getElementType(), value))));
  return constant(IntegerAttr::get(type, value));
}

Value Nest::constant(TypedAttr value) {
  std::vector<const void *> key{value.getAsOpaquePointer()};
  auto &entry = arithmetic[key];
  if (!entry.first) {
    auto op = arith::ConstantOp::create(detached, loc, value);
    placeAt(op, 0);
    entry = {op, 0};
  }
  return entry.first;
}

static const char kAdd = 0, kMul = 0, kCast = 0, kSplat = 0;

Value Nest::add(Value a, Value b) {
  auto first = constantOf(a), second = constantOf(b);
  if (first && second)
    return index(*first + *second);
  if (first && *first == 0)
    return b;
  if (second && *second == 0)
    return a;
  auto &entry = arithmetic[{&kAdd, a.getAsOpaquePointer(), b.getAsOpaquePointer()}];
  if (!entry.first) {
    Value sum = make<arith::AddIOp>(a, b);
    entry = {sum, levelOf(sum)};
  }
  return entry.first;
}

Value Nest::mul(Value a, Value b) {
  auto first = constantOf(a), second = constantOf(b);
  if (first && second)
    return index(*first * *second);
  if ((first && *first == 0) || (second && *second == 0))
    return index(0);
  if (first && *first == 1)
    return b;
  if (second && *second == 1)
    return a;
  auto &entry = arithmetic[{&kMul, a.getAsOpaquePointer(), b.getAsOpaquePointer()}];
  if (!entry.first) {
    Value product = make<arith::MulIOp>(a, b);
    entry = {product, levelOf(product)};
  }
  return entry.first;
}

Value Nest::toI64(Value value) {
  if (auto known = constantOf(value))
    return integer(detached.getI64Type(), *known);
  auto &entry = arithmetic[{&kCast, value.getAsOpaquePointer()}];
  if (!entry.first) {
    Value cast = make<arith::IndexCastOp>(detached.getI64Type(), value);
    entry = {cast, levelOf(cast)};
  }
  return entry.first;
}

Value Nest::splat(Value scalar, int64_t width) {
  if (width == 1 || isa<VectorType>(scalar.getType()))
    return scalar;
  auto &entry =
      arithmetic[{&kSplat, scalar.getAsOpaquePointer(), reinterpret_cast<const void *>(width)}];
  if (!entry.first) {
    Value vector = make<vector::BroadcastOp>(VectorType::get({width}, scalar.getType()), scalar);
    entry = {vector, levelOf(vector)};
  }
  return entry.first;
}

Value Nest::lanes(Type element, int64_t width, int64_t step) {
  auto type = VectorType::get({width}, element);
  SmallVector<Attribute> values;
  for (int64_t lane = 0; lane < width; ++lane)
    values.push_back(IntegerAttr::get(
        element, APInt(isa<IndexType>(element) ? 64 : element.getIntOrFloatBitWidth(), lane * step,
                       true, true)));
  return constant(DenseElementsAttr::get(type, values));
}

Value Nest::linear(ValueRange at, ValueRange strides) {
  SmallVector<Value> terms;
  for (auto [index, stride] : llvm::zip_equal(at, strides))
    terms.push_back(mul(index, stride));
  Value sum = index(0); // from the outermost loop's term inwards
  for (int level = 0; level < static_cast<int>(levels.size()); ++level)
    for (Value term : terms)
      if (levelOf(term) == level)
        sum = add(sum, term);
  return sum;
}
