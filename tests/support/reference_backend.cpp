// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/reference_backend.h"

#include "engine/compute/dtype.h"
#include "engine/compute/pass.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace spanscope::testing {

using compute::AttentionShape;
using compute::DType;
using compute::KeyRange;
using compute::KvShape;
using compute::QueryRun;
using compute::RotaryTable;

namespace {

void require(bool condition, const char* what) {
  if (!condition) throw std::logic_error(std::string("reference backend: ") + what);
}

std::size_t index(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

class ReferenceTensor : public compute::Tensor {
 public:
  void resize(std::int64_t rows, std::int64_t columns) override {
    require(rows >= 0 && columns >= 0, "negative tensor size");
    m_rows = rows;
    m_columns = columns;
    m_values.assign(index(rows) * index(columns), std::numeric_limits<double>::quiet_NaN());
  }
  std::int64_t rows() const override { return m_rows; }
  std::int64_t columns() const override { return m_columns; }
  double* row(std::int64_t r) { return m_values.data() + index(r) * index(m_columns); }
  const double* row(std::int64_t r) const { return m_values.data() + index(r) * index(m_columns); }

 private:
  std::int64_t m_rows = 0;
  std::int64_t m_columns = 0;
  std::vector<double> m_values;
};

class ReferenceWeight : public compute::Weight {
 public:
  ReferenceWeight(const compute::HostMatrix& matrix, compute::WeightUse use)
      : m_rows(matrix.rows), m_columns(matrix.columns), m_use(use) {
    require(matrix.rows >= 0 && matrix.columns >= 0, "negative weight size");
    m_values.resize(index(matrix.rows) * index(matrix.columns));
    std::vector<float> row(index(matrix.columns));
    for (std::int64_t r = 0; r < matrix.rows; ++r) {
      compute::widen(matrix.format, matrix.row(r), matrix.columns, row.data());
      std::copy(row.begin(), row.end(),
                m_values.begin() + static_cast<std::ptrdiff_t>(index(r) * row.size()));
    }
  }
  std::int64_t rows() const override { return m_rows; }
  std::int64_t columns() const override { return m_columns; }
  std::size_t bytes() const override { return m_values.size() * sizeof(double); }
  compute::WeightUse use() const { return m_use; }
  const double* row(std::int64_t r) const { return m_values.data() + index(r) * index(m_columns); }

 private:
  std::int64_t m_rows;
  std::int64_t m_columns;
  compute::WeightUse m_use;
  std::vector<double> m_values;
};

/// [layers][blocks · blockSize][heads · headSize], keys and values apart. Layers of fewer elements use the
/// beginning of a slot.
class ReferenceStore : public compute::KvStore {
 public:
  explicit ReferenceStore(const KvShape& shape) : m_shape(shape) {
    require(
        shape.layers > 0 && shape.blocks > 0 && shape.blockSize > 0 && shape.heads > 0 && shape.headSize > 0,
        "KV store sizes must be positive");
    require(shape.headSize % 2 == 0, "head size must be even");
    const std::size_t count = index(shape.layers) * index(slots()) * width();
    m_keys.assign(count, std::numeric_limits<double>::quiet_NaN());
    m_values = m_keys;
  }
  const KvShape& shape() const override { return m_shape; }
  void copyBlock(BlockId source, BlockId target, std::int32_t slots) {
    require(
        source >= 0 && source < m_shape.blocks && target >= 0 && target < m_shape.blocks && source != target,
        "copyBlock: no such block");
    require(slots >= 0 && slots <= m_shape.blockSize, "copyBlock: too many slots");
    for (std::int32_t layer = 0; layer < m_shape.layers; ++layer) {
      for (std::int32_t slot = 0; slot < slots; ++slot) {
        const std::int64_t from = std::int64_t{source} * m_shape.blockSize + slot;
        const std::int64_t to = std::int64_t{target} * m_shape.blockSize + slot;
        std::copy_n(key(layer, from), width(layer), key(layer, to));
        std::copy_n(value(layer, from), width(layer), value(layer, to));
      }
    }
  }
  void read(std::int32_t layer, std::int64_t slot, std::span<float> keyOut,
            std::span<float> valueOut) const override {
    require(layer >= 0 && layer < m_shape.layers && slot >= 0 && slot < slots(), "read: no such slot");
    require(keyOut.size() == width(layer) && valueOut.size() == width(layer), "read: wrong size");
    for (std::size_t i = 0; i < width(layer); ++i) {
      keyOut[i] = static_cast<float>(key(layer, slot)[i]);
      valueOut[i] = static_cast<float>(value(layer, slot)[i]);
    }
  }
  std::int64_t slots() const { return std::int64_t{m_shape.blocks} * m_shape.blockSize; }
  std::size_t width() const { return index(m_shape.heads) * index(m_shape.headSize); }
  std::size_t width(std::int32_t layer) const { return index(m_shape.headsOf(layer).elements()); }
  double* key(std::int32_t layer, std::int64_t slot) { return m_keys.data() + offset(layer, slot); }
  double* value(std::int32_t layer, std::int64_t slot) { return m_values.data() + offset(layer, slot); }
  const double* key(std::int32_t layer, std::int64_t slot) const {
    return m_keys.data() + offset(layer, slot);
  }
  const double* value(std::int32_t layer, std::int64_t slot) const {
    return m_values.data() + offset(layer, slot);
  }

 private:
  std::size_t offset(std::int32_t layer, std::int64_t slot) const {
    return (index(layer) * index(slots()) + index(slot)) * width();
  }

  KvShape m_shape;
  std::vector<double> m_keys;
  std::vector<double> m_values;
};

class ReferencePass : public compute::Pass {
 public:
  ReferencePass(const AttentionShape& heads, RotaryTable table, const KvShape& kv, compute::PassInputs given)
      : shape(heads), rotary(std::move(table)), store(kv), inputs(std::move(given)) {}

  std::vector<std::int32_t> rows(compute::RowList list) const {
    if (list == compute::RowList::Chosen) return chosenRows;
    std::vector<std::int32_t> rows = inputs.logitRows;
    if (list == compute::RowList::Logits) {
      std::iota(rows.begin(), rows.end(), 0);
    } else {
      rows.insert(rows.end(), inputs.hiddenRows.begin(), inputs.hiddenRows.end());
    }
    return rows;
  }

  AttentionShape shape;
  RotaryTable rotary;
  KvShape store;
  compute::PassInputs inputs;
  compute::PassResults results;
  std::vector<std::int32_t> chosenRows;
};

template <class Concrete, class Base>
Concrete& as(Base& base) {
  auto* concrete = dynamic_cast<Concrete*>(&base);
  require(concrete != nullptr, "an object of another backend");
  return *concrete;
}

ReferenceTensor& tensor(compute::Tensor& x) {
  return as<ReferenceTensor>(x);
}
const ReferenceTensor& tensor(const compute::Tensor& x) {
  return as<const ReferenceTensor>(x);
}

const ReferenceWeight& weightFor(const compute::Weight& weight, compute::WeightUse use) {
  const auto& concrete = as<const ReferenceWeight>(weight);
  const bool isMatrix = use == compute::WeightUse::Matrix && concrete.use() == compute::WeightUse::Logits;
  require(concrete.use() == use || isMatrix, "weight prepared for another use");
  return concrete;
}

/// Turns one head in place: pair i is (head[i], head[i + n/2]).
void rotate(double* head, std::size_t headSize, const RotaryTable& rotary, std::int64_t position) {
  const std::size_t half = headSize / 2;
  for (std::size_t i = 0; i < half; ++i) {
    const double angle = static_cast<double>(position) * rotary.inverseFrequencies[i];
    const double c = std::cos(angle) * rotary.scaleOf(i);
    const double s = std::sin(angle) * rotary.scaleOf(i);
    const double first = head[i];
    const double second = head[i + half];
    head[i] = first * c - second * s;
    head[i + half] = second * c + first * s;
  }
}

double rounded(double value, DType type) {
  if (type != DType::BF16) return value;
  return static_cast<double>(compute::floatFromBf16(compute::bf16FromFloat(static_cast<float>(value))));
}

std::int32_t keyBlockCount(const KeyRange& range, std::int32_t blockSize) {
  return (range.end + blockSize - 1) / blockSize;
}

void checkRun(const QueryRun& run, const std::vector<std::int32_t>& locals, const KvShape& store) {
  require(run.firstRow >= 0 && run.rowCount > 0 && index(run.firstRow) + index(run.rowCount) <= locals.size(),
          "query run out of range");
  const std::span<const std::int32_t> rows =
      std::span(locals).subspan(index(run.firstRow), index(run.rowCount));
  require(std::is_sorted(rows.begin(), rows.end()), "local indices of a run descend");
  for (const KeyRange& range : run.keys) {
    require(range.begin >= 0 && range.begin <= range.end, "key range out of order");
    require(std::cmp_greater_equal(range.blocks.size(), keyBlockCount(range, store.blockSize)),
            "key range without blocks");
    for (std::int32_t block = range.begin / store.blockSize; block < keyBlockCount(range, store.blockSize);
         ++block) {
      require(range.blocks[index(block)] >= 0 && range.blocks[index(block)] < store.blocks,
              "key range: no such block");
    }
    if (range.causal) {
      require(range.base == run.base, "a causal range is the rows' own segment");
      require(range.end > rows.back(), "a causal range ends before its last row");
    }
  }
}

/// Softmax over one key range: scores[i] belongs to local token begin + i.
struct Partial {
  double maximum = -std::numeric_limits<double>::infinity();
  double sum = 0;
  std::vector<double> output;  ///< Σ exp(score − maximum) · value
  std::vector<double> scores;  ///< −∞ for what is not read

  double logSumExp() const { return maximum + std::log(sum); }
};

double capped(double value, float cap) {
  const auto limit = static_cast<double>(cap);
  return limit > 0 ? limit * std::tanh(value / limit) : value;
}

/// Whether a pass was made for this layer of a store.
bool fits(const KvShape& pass, const KvShape& store, std::int32_t layer) {
  return pass.headsOf(layer) == store.headsOf(layer) && pass.layers == store.layers &&
         pass.blocks == store.blocks && pass.blockSize == store.blockSize && pass.type == store.type;
}

/// Where one query head of one row reads.
struct HeadQuery {
  const double* query;
  std::int64_t position;
  std::int32_t local;
  std::size_t keyHead;
};

/// Scores and values of the keys of one range that a row sees.
struct Scored {
  std::vector<double> scores;
  std::vector<std::vector<double>> keys;
  std::vector<double> query;
  std::vector<const double*> values;
};

Scored scoreRange(const ReferencePass& plan, const ReferenceStore& store, std::int32_t layer,
                  KeyLayout layout, const KeyRange& range, const HeadQuery& row) {
  const std::size_t size = index(plan.shape.headSize);
  const std::int32_t blockSize = plan.store.blockSize;
  std::vector<double> query(row.query, row.query + size);
  rotate(query.data(), size, plan.rotary,
         layout == KeyLayout::LocalRotation ? row.position - range.base : row.position);

  const double scale =
      static_cast<double>(plan.shape.scale) * static_cast<double>(plan.shape.positionScale.at(row.position));
  Scored scored;
  const std::int32_t end = range.causal ? std::min(range.end, row.local + 1) : range.end;
  std::vector<double> key(size);
  for (std::int32_t j = range.begin; j < end; ++j) {
    if (plan.shape.window > 0 && row.position - (range.base + j) >= plan.shape.window) {
      // Keeps the places of the others.
      scored.scores.push_back(-std::numeric_limits<double>::infinity());
      scored.keys.push_back(key);
      scored.values.push_back(nullptr);
      continue;
    }
    const std::int64_t slot = std::int64_t{range.blocks[index(j / blockSize)]} * blockSize + j % blockSize;
    std::copy_n(store.key(layer, slot) + row.keyHead * size, size, key.begin());
    if (layout == KeyLayout::Raw) rotate(key.data(), size, plan.rotary, range.base + j);
    double score = 0;
    for (std::size_t d = 0; d < size; ++d) score += query[d] * key[d];
    scored.scores.push_back(capped(score * scale, plan.shape.softCap));
    scored.keys.push_back(key);
    scored.values.push_back(store.value(layer, slot) + row.keyHead * size);
  }
  for (double& element : query) element *= scale;
  scored.query = std::move(query);
  return scored;
}

/// By range and virtual block, what all heads of a group score at most (compute/block_choice.h); nothing
/// where the row sees no key.
using BlockBounds = std::vector<std::vector<std::optional<double>>>;

void raiseBounds(BlockBounds& bounds, const std::vector<Scored>& ranges, const QueryRun& run,
                 std::int32_t blockSize) {
  bounds.resize(ranges.size());
  for (std::size_t r = 0; r < ranges.size(); ++r) {
    const Scored& scored = ranges[r];
    const std::int32_t begin = run.keys[r].begin;
    const std::int32_t end = begin + static_cast<std::int32_t>(scored.keys.size());
    bounds[r].resize(index(end + blockSize - 1) / index(blockSize));
    for (std::int32_t block = begin / blockSize; block * blockSize < end && begin < end; ++block) {
      bool isSeen = false;
      for (std::int32_t j = std::max(begin, block * blockSize); j < std::min(end, (block + 1) * blockSize);
           ++j)
        isSeen = isSeen || !std::isinf(scored.scores[index(j - begin)]);
      if (!isSeen) continue;
      double bound = 0;
      for (std::size_t d = 0; d < scored.query.size(); ++d) {
        double most = -std::numeric_limits<double>::infinity();
        for (std::int32_t j = std::max(begin, block * blockSize); j < std::min(end, (block + 1) * blockSize);
             ++j) {
          if (std::isinf(scored.scores[index(j - begin)])) continue;
          most = std::max(most, scored.query[d] * scored.keys[index(j - begin)][d]);
        }
        bound += most;
      }
      std::optional<double>& own = bounds[r][index(block)];
      own = own ? std::max(*own, bound) : bound;
    }
  }
}

/// Leaves of what a row sees the blocks that it reads.
void keepBlocks(std::vector<Scored>& ranges, const BlockBounds& bounds, const QueryRun& run,
                std::int32_t blockSize) {
  std::vector<std::pair<std::size_t, std::size_t>> blocks;
  for (std::size_t r = 0; r < bounds.size(); ++r) {
    for (std::size_t block = 0; block < bounds[r].size(); ++block) {
      if (bounds[r][block]) blocks.emplace_back(r, block);
    }
  }
  if (blocks.size() <= index(run.mostBlocks)) return;
  std::vector<std::pair<std::size_t, std::size_t>> order(blocks.begin() + 1, blocks.end() - 1);
  std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    return *bounds[a.first][a.second] > *bounds[b.first][b.second];
  });
  for (std::size_t i = index(run.mostBlocks) - 2; i < order.size(); ++i) {
    const auto [r, block] = order[i];
    const std::size_t begin = index(run.keys[r].begin);
    std::vector<double>& scores = ranges[r].scores;
    const std::size_t size = index(blockSize);
    for (std::size_t j = std::max(begin, block * size);
         j < std::min(begin + scores.size(), (block + 1) * size); ++j)
      scores[j - begin] = -std::numeric_limits<double>::infinity();
  }
}

Partial weigh(const Scored& scored, std::size_t size) {
  Partial partial;
  partial.output.assign(size, 0);
  partial.scores = scored.scores;
  for (const double score : partial.scores) partial.maximum = std::max(partial.maximum, score);
  if (std::isinf(partial.maximum)) partial.scores.clear();  // nothing of it is read
  for (std::size_t i = 0; i < partial.scores.size(); ++i) {
    const double weight = std::exp(partial.scores[i] - partial.maximum);
    partial.sum += weight;
    for (std::size_t d = 0; d < size && weight > 0; ++d) partial.output[d] += weight * scored.values[i][d];
  }
  return partial;
}

}  // namespace

compute::DeviceInfo ReferenceBackend::info() const {
  const bool raw = m_layout == KeyLayout::Raw;
  return {raw ? "reference, raw keys" : "reference",
          "scalar",
          1,
          {},
          raw ? "reference-raw-1" : "reference-1",
          true,
          compute::DType::F32,
          true,
          true};
}

void ReferenceBackend::begin(std::stop_token stop) {
  m_stop = std::move(stop);
}
bool ReferenceBackend::stopped() {
  return m_stop.stop_requested();
}

std::unique_ptr<compute::Tensor> ReferenceBackend::makeTensor() {
  return std::make_unique<ReferenceTensor>();
}

std::unique_ptr<compute::Weight> ReferenceBackend::prepare(const compute::HostMatrix& matrix,
                                                           compute::WeightUse use) {
  require(use != compute::WeightUse::Vector || matrix.rows == 1, "a vector has one row");
  return std::make_unique<ReferenceWeight>(matrix, use);
}

std::unique_ptr<compute::KvStore> ReferenceBackend::makeKvStore(const KvShape& shape) {
  return std::make_unique<ReferenceStore>(shape);
}

std::unique_ptr<compute::Pass> ReferenceBackend::makePass(const AttentionShape& shape,
                                                          const RotaryTable& rotary, const KvShape& store,
                                                          const compute::PassInputs& inputs) {
  require(shape.headSize == store.headSize && shape.keyHeads == store.heads, "pass: another KV shape");
  require(shape.queryHeads > 0 && shape.queryHeads % shape.keyHeads == 0, "pass: head counts do not fit");
  require(rotary.inverseFrequencies.size() * 2 == index(shape.headSize), "pass: another rotary table");
  const std::size_t rows = inputs.tokens.size();
  require(inputs.localIndices.size() == rows && inputs.slots.size() == rows, "pass: row counts differ");
  for (std::size_t r = 0; r < rows; ++r) {
    require(inputs.slots[r] >= 0 && inputs.slots[r] < std::int64_t{store.blocks} * store.blockSize,
            "pass: no such slot");
    require(inputs.localIndices[r] >= 0, "pass: negative local index");
  }
  for (const QueryRun& run : inputs.runs) checkRun(run, inputs.localIndices, store);
  for (const compute::Draw& draw : inputs.draws)
    require(draw.logits >= 0 && index(draw.logits) < inputs.logitRows.size(), "pass: no such logits");
  compute::checkNarrowing(inputs);
  for (const std::uint32_t run : inputs.mass.runs) require(run < inputs.runs.size(), "mass: no such run");
  return std::make_unique<ReferencePass>(shape, rotary, store, inputs);
}

void ReferenceBackend::embed(const compute::Pass& pass, const compute::Weight& table, compute::Tensor& out) {
  const std::vector<TokenId>& ids = as<const ReferencePass>(pass).inputs.tokens;
  const ReferenceWeight& source = weightFor(table, compute::WeightUse::Embedding);
  ReferenceTensor& target = tensor(out);
  target.resize(static_cast<std::int64_t>(ids.size()), source.columns());
  for (std::size_t r = 0; r < ids.size(); ++r) {
    require(ids[r] >= 0 && ids[r] < source.rows(), "embed: id out of range");
    std::copy_n(source.row(ids[r]), source.columns(), target.row(static_cast<std::int64_t>(r)));
  }
}

void ReferenceBackend::rmsNorm(const compute::Tensor& x, const compute::Weight& weight, float epsilon,
                               compute::Tensor& out) {
  require(&x != &out, "rmsNorm: in place");
  const ReferenceTensor& source = tensor(x);
  const ReferenceWeight& scale = weightFor(weight, compute::WeightUse::Vector);
  const std::int64_t columns = scale.columns();
  require(columns > 0 && source.columns() % columns == 0, "rmsNorm: sizes differ");
  ReferenceTensor& target = tensor(out);
  target.resize(source.rows(), source.columns());
  for (std::int64_t r = 0; r < source.rows() && !stopped(); ++r) {
    for (std::int64_t first = 0; first < source.columns(); first += columns) {
      const double* const x0 = source.row(r) + first;
      double squares = 0;
      for (std::int64_t c = 0; c < columns; ++c) squares += x0[c] * x0[c];
      const double mean = squares / static_cast<double>(columns);
      const double factor = 1.0 / std::sqrt(mean + static_cast<double>(epsilon));
      for (std::int64_t c = 0; c < columns; ++c) target.row(r)[first + c] = x0[c] * factor * scale.row(0)[c];
    }
  }
}

void ReferenceBackend::layerNorm(const compute::Tensor& x, const compute::Weight& weight, float epsilon,
                                 compute::Tensor& out) {
  require(&x != &out, "layerNorm: in place");
  const ReferenceTensor& source = tensor(x);
  const ReferenceWeight& scale = weightFor(weight, compute::WeightUse::Vector);
  const std::int64_t columns = scale.columns();
  require(columns > 0 && source.columns() % columns == 0, "layerNorm: sizes differ");
  ReferenceTensor& target = tensor(out);
  target.resize(source.rows(), source.columns());
  for (std::int64_t r = 0; r < source.rows() && !stopped(); ++r) {
    for (std::int64_t first = 0; first < source.columns(); first += columns) {
      const std::span<const double> row(source.row(r) + first, index(columns));
      const double mean = std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(columns);
      double squares = 0;
      for (const double value : row) squares += (value - mean) * (value - mean);
      const double variance = squares / static_cast<double>(columns);
      const double factor = 1.0 / std::sqrt(variance + static_cast<double>(epsilon));
      for (std::int64_t c = 0; c < columns; ++c)
        target.row(r)[first + c] = (row[index(c)] - mean) * factor * scale.row(0)[c];
    }
  }
}

void ReferenceBackend::matmul(const compute::Tensor& x, const compute::Weight& weight,
                              const compute::Weight* bias, bool accumulate, compute::Tensor& out) {
  require(&x != &out, "matmul: in place");
  const ReferenceTensor& source = tensor(x);
  const ReferenceWeight& matrix = weightFor(weight, compute::WeightUse::Matrix);
  require(matrix.columns() == source.columns(), "matmul: inner sizes differ");
  const ReferenceWeight* added = bias != nullptr ? &weightFor(*bias, compute::WeightUse::Vector) : nullptr;
  require(added == nullptr || added->columns() == matrix.rows(), "matmul: bias has another size");
  ReferenceTensor& target = tensor(out);
  if (accumulate) {
    require(target.rows() == source.rows() && target.columns() == matrix.rows(),
            "matmul: sum of another shape");
  } else {
    target.resize(source.rows(), matrix.rows());
  }
  for (std::int64_t r = 0; r < source.rows() && !stopped(); ++r) {
    for (std::int64_t n = 0; n < matrix.rows(); ++n) {
      double sum = 0;
      for (std::int64_t k = 0; k < source.columns(); ++k) sum += source.row(r)[k] * matrix.row(n)[k];
      if (added != nullptr) sum += added->row(0)[n];
      target.row(r)[n] = accumulate ? sum + target.row(r)[n] : sum;
    }
  }
}

void ReferenceBackend::multiplyGated(compute::Activation activation, const compute::Tensor& gate,
                                     const compute::Tensor& up, compute::Tensor& out) {
  const ReferenceTensor& left = tensor(gate);
  const ReferenceTensor& right = tensor(up);
  require(left.rows() == right.rows() && left.columns() == right.columns(), "multiplyGated: shapes differ");
  require(&up != &out, "multiplyGated: out may be gate, not up");
  ReferenceTensor& target = tensor(out);
  if (&gate != &out) target.resize(left.rows(), left.columns());
  for (std::int64_t r = 0; r < left.rows(); ++r) {
    for (std::int64_t c = 0; c < left.columns(); ++c) {
      if (activation == compute::Activation::ClampedSwiglu) {
        const double clamped = std::min(left.row(r)[c], 7.0);
        const double other = std::clamp(right.row(r)[c], -7.0, 7.0) + 1;
        target.row(r)[c] = clamped / (1 + std::exp(-1.702 * clamped)) * other;
        continue;
      }
      const double x = left.row(r)[c];
      const double u = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
      // (1 + tanh u) / 2 without the difference of numbers that are nearly equal.
      const double part = 1 / (1 + std::exp(activation == compute::Activation::Silu ? -x : -2 * u));
      target.row(r)[c] = x * part * right.row(r)[c];
    }
  }
}

void ReferenceBackend::mixExperts(const compute::Tensor& x, const compute::Tensor& scores,
                                  std::span<const compute::ExpertWeights> experts,
                                  const compute::ExpertChoice& choice, compute::Activation activation,
                                  compute::Tensor& out) {
  const ReferenceTensor& source = tensor(x);
  const ReferenceTensor& routed = tensor(scores);
  ReferenceTensor& target = tensor(out);
  require(&x != &out, "mixExperts: in place");
  require(routed.rows() == source.rows() && index(routed.columns()) == experts.size(),
          "mixExperts: scores of another shape");
  require(choice.used >= 1 && index(choice.used) <= experts.size(), "mixExperts: too many experts per row");
  target.resize(source.rows(), source.columns());
  ReferenceTensor row;
  ReferenceTensor gate;
  ReferenceTensor up;
  ReferenceTensor down;
  for (std::int64_t r = 0; r < source.rows() && !stopped(); ++r) {
    const double* score = routed.row(r);
    std::vector<std::size_t> order(experts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [score](std::size_t a, std::size_t b) { return score[a] > score[b]; });
    double sum = 0;
    for (std::size_t i = 0; i < (choice.isNormalised ? index(choice.used) : order.size()); ++i)
      sum += std::exp(score[order[i]] - score[order.front()]);
    row.resize(1, source.columns());
    std::copy_n(source.row(r), source.columns(), row.row(0));
    std::fill_n(target.row(r), source.columns(), 0.0);
    for (std::size_t i = 0; i < index(choice.used); ++i) {
      const compute::ExpertWeights& expert = experts[order[i]];
      matmul(row, *expert.gate, expert.gateBias, false, gate);
      matmul(row, *expert.up, expert.upBias, false, up);
      multiplyGated(activation, gate, up, gate);
      matmul(gate, *expert.down, expert.downBias, false, down);
      const double weight = std::exp(score[order[i]] - score[order.front()]) / sum;
      for (std::int64_t c = 0; c < source.columns(); ++c) target.row(r)[c] += weight * down.row(0)[c];
    }
  }
}

void ReferenceBackend::scale(compute::Tensor& x, float factor) {
  ReferenceTensor& target = tensor(x);
  for (std::int64_t r = 0; r < target.rows(); ++r) {
    for (std::int64_t c = 0; c < target.columns(); ++c) target.row(r)[c] *= static_cast<double>(factor);
  }
}

void ReferenceBackend::softCap(compute::Tensor& x, float cap) {
  require(cap > 0, "softCap: no cap");
  ReferenceTensor& target = tensor(x);
  for (std::int64_t r = 0; r < target.rows(); ++r) {
    for (std::int64_t c = 0; c < target.columns(); ++c) target.row(r)[c] = capped(target.row(r)[c], cap);
  }
}

void ReferenceBackend::takeColumns(const compute::Tensor& x, std::int64_t first, std::int64_t count,
                                   compute::Tensor& out) {
  require(&x != &out, "takeColumns: in place");
  const ReferenceTensor& source = tensor(x);
  compute::checkColumns(source.columns(), first, count);
  ReferenceTensor& target = tensor(out);
  target.resize(source.rows(), count);
  for (std::int64_t r = 0; r < source.rows(); ++r) std::copy_n(source.row(r) + first, count, target.row(r));
}

void ReferenceBackend::addScaled(const compute::Tensor& x, float factor, compute::Tensor& out) {
  const ReferenceTensor& source = tensor(x);
  ReferenceTensor& target = tensor(out);
  require(source.rows() == target.rows() && source.columns() == target.columns(), "addScaled: shapes differ");
  for (std::int64_t r = 0; r < target.rows(); ++r) {
    for (std::int64_t c = 0; c < target.columns(); ++c)
      target.row(r)[c] += static_cast<double>(factor) * source.row(r)[c];
  }
}

void ReferenceBackend::gatherRows(const compute::Pass& pass, compute::RowList list, const compute::Tensor& x,
                                  compute::Tensor& out) {
  require(&x != &out, "gatherRows: in place");
  const std::vector<std::int32_t> rows = as<const ReferencePass>(pass).rows(list);
  const ReferenceTensor& source = tensor(x);
  ReferenceTensor& target = tensor(out);
  target.resize(static_cast<std::int64_t>(rows.size()), source.columns());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    require(rows[i] >= 0 && rows[i] < source.rows(), "gatherRows: no such row");
    std::copy_n(source.row(rows[i]), source.columns(), target.row(static_cast<std::int64_t>(i)));
  }
}

void ReferenceBackend::storeKeysValues(const compute::Pass& pass, const compute::Tensor& keys,
                                       const compute::Tensor& values, std::int32_t layer,
                                       compute::KvStore& store) {
  const auto& own = as<const ReferencePass>(pass);
  const std::vector<std::int32_t>& localIndices = own.inputs.localIndices;
  const std::vector<std::int64_t>& slots = own.inputs.slots;
  const RotaryTable& rotary = own.rotary;
  const ReferenceTensor& k = tensor(keys);
  const ReferenceTensor& v = tensor(values);
  ReferenceStore& target = as<ReferenceStore>(store);
  const KvShape& shape = target.shape();
  require(layer >= 0 && layer < shape.layers, "store: no such layer");
  const std::size_t size = index(shape.headsOf(layer).headSize);
  const std::size_t width = target.width(layer);
  require(fits(own.store, shape, layer), "store: another store than the pass is for");
  require(index(k.columns()) == width && index(v.columns()) == width, "store: width differs");
  require(k.rows() == v.rows() && index(k.rows()) == slots.size(), "store: row counts differ");
  for (std::int64_t r = 0; r < k.rows(); ++r) {
    std::vector<double> row(k.row(r), k.row(r) + width);
    if (m_layout == KeyLayout::LocalRotation) {
      for (std::size_t at = 0; at < width; at += size)
        rotate(row.data() + at, size, rotary, localIndices[index(r)]);
    }
    double* key = target.key(layer, slots[index(r)]);
    double* value = target.value(layer, slots[index(r)]);
    for (std::size_t i = 0; i < width; ++i) {
      key[i] = rounded(row[i], shape.type);
      value[i] = rounded(v.row(r)[i], shape.type);
    }
  }
}

void ReferenceBackend::copyBlocks(std::span<const compute::BlockCopy> copies, compute::KvStore& store) {
  for (const compute::BlockCopy& copy : copies)
    as<ReferenceStore>(store).copyBlock(copy.source, copy.target, copy.slots);
}

namespace {

/// Calls visit(element in the store, its bytes) for each element of the slots, in the order of host memory.
template <class Store, class Bytes, class Visit>
void visitHostBlock(Store& store, BlockId block, std::int32_t slots, Bytes bytes, Visit visit) {
  const KvShape& shape = store.shape();
  require(bytes.size() == index(slots) * compute::slotBytes(shape), "host block: wrong size");
  std::size_t at = 0;
  for (std::int32_t slot = 0; slot < slots; ++slot) {
    const std::int64_t place = std::int64_t{block} * shape.blockSize + slot;
    for (std::int32_t layer = 0; layer < shape.layers; ++layer) {
      for (auto* row : {store.key(layer, place), store.value(layer, place)}) {
        for (std::size_t i = 0; i < store.width(layer); ++i, at += compute::sizeOf(shape.type))
          visit(row[i], bytes.data() + at);
      }
    }
  }
}

}  // namespace

void ReferenceBackend::readBlocks(std::span<const compute::BlockToHost> blocks,
                                  const compute::KvStore& store) {
  const auto& kv = as<const ReferenceStore>(store);
  for (const compute::BlockToHost& block : blocks) {
    visitHostBlock(kv, block.block, block.slots, block.bytes, [&](double element, std::byte* to) {
      const auto value = static_cast<float>(element);
      const std::uint16_t half = compute::bf16FromFloat(value);
      if (kv.shape().type == DType::BF16) {
        std::memcpy(to, &half, sizeof(half));
      } else {
        std::memcpy(to, &value, sizeof(value));
      }
    });
  }
}

void ReferenceBackend::writeBlocks(std::span<const compute::BlockFromHost> blocks, compute::KvStore& store) {
  auto& kv = as<ReferenceStore>(store);
  for (const compute::BlockFromHost& block : blocks) {
    visitHostBlock(kv, block.block, block.slots, block.bytes, [&](double& element, const std::byte* from) {
      float value = 0;
      std::uint16_t half = 0;
      if (kv.shape().type == DType::BF16) {
        std::memcpy(&half, from, sizeof(half));
        value = compute::floatFromBf16(half);
      } else {
        std::memcpy(&value, from, sizeof(value));
      }
      element = value;
    });
  }
}

void ReferenceBackend::attend(compute::Pass& pass, const compute::Tensor& queries,
                              const compute::KvStore& store, std::int32_t layer, bool observed,
                              compute::Tensor& out, const compute::Weight* sinks) {
  auto& planned = as<ReferencePass>(pass);
  const compute::MassRequest* request = observed ? &planned.inputs.mass : nullptr;
  std::vector<compute::RunMass>* mass =
      observed ? &planned.results.mass.emplace_back(compute::LayerMass{layer, {}}).runs : nullptr;
  const auto& kv = as<const ReferenceStore>(store);
  const ReferenceTensor& q = tensor(queries);
  ReferenceTensor& target = tensor(out);
  const std::size_t size = index(planned.shape.headSize);
  const std::size_t heads = index(planned.shape.queryHeads);
  const std::size_t group = heads / index(planned.shape.keyHeads);
  require(&queries != &out, "attend: in place");
  require(index(q.columns()) == heads * size, "attend: query width differs");
  require(layer >= 0 && layer < kv.shape().layers, "attend: no such layer");
  require(fits(planned.store, kv.shape(), layer) &&
              index(planned.shape.headSize) * index(planned.shape.keyHeads) == kv.width(layer),
          "attend: another store than planned for");
  target.resize(q.rows(), q.columns());
  for (std::size_t runIndex = 0; runIndex < planned.inputs.runs.size(); ++runIndex) {
    const QueryRun& run = planned.inputs.runs[runIndex];
    require(run.firstRow + run.rowCount <= q.rows(), "attend: a run beyond the rows");
    const auto asked = request == nullptr ? std::vector<std::uint32_t>::const_iterator()
                                          : std::find(request->runs.begin(), request->runs.end(), runIndex);
    const bool wantsMass = mass != nullptr && request != nullptr && asked != request->runs.end();
    const std::int32_t keySpan =
        wantsMass ? request->keySpan(static_cast<std::size_t>(asked - request->runs.begin()),
                                     planned.store.blockSize)
                  : planned.store.blockSize;
    std::vector<std::int32_t> keyBlocks;
    std::vector<std::size_t> firstBlock;
    std::size_t blocks = 0;
    for (const KeyRange& range : run.keys) {
      firstBlock.push_back(blocks);
      keyBlocks.push_back(keyBlockCount(range, keySpan));
      blocks += index(keyBlocks.back());
    }
    std::vector<double> runMass(heads * blocks, 0);
    std::vector<double> runFirst(heads * run.keys.size(), 0);
    for (std::int32_t r = 0; r < run.rowCount; ++r) {
      if (stopped()) return;
      const std::int32_t local = planned.inputs.localIndices[index(run.firstRow + r)];
      const auto scored = [&](std::size_t head) {
        const HeadQuery row{q.row(run.firstRow + r) + head * size, run.base + local, local, head / group};
        std::vector<Scored> ranges;
        for (const KeyRange& range : run.keys)
          ranges.push_back(scoreRange(planned, kv, layer, m_layout, range, row));
        return ranges;
      };
      BlockBounds bounds;
      for (std::size_t head = 0; head < heads; ++head) {
        if (run.mostBlocks > 0 && head % group == 0) {
          bounds.clear();
          for (std::size_t other = head; other < head + group; ++other)
            raiseBounds(bounds, scored(other), run, planned.store.blockSize);
        }
        std::vector<Scored> ranges = scored(head);
        if (run.mostBlocks > 0) keepBlocks(ranges, bounds, run, planned.store.blockSize);
        std::vector<Partial> partials;
        double total = sinks == nullptr ? -std::numeric_limits<double>::infinity()
                                        : weightFor(*sinks, compute::WeightUse::Vector).row(0)[head];
        for (const Scored& range : ranges) {
          partials.push_back(weigh(range, size));
          if (partials.back().scores.empty()) continue;
          const double other = partials.back().logSumExp();
          const double high = std::max(total, other);
          total = high + std::log(std::exp(total - high) + std::exp(other - high));
        }
        double* output = target.row(run.firstRow + r) + head * size;
        std::fill_n(output, size, 0.0);
        for (std::size_t i = 0; i < partials.size(); ++i) {
          const Partial& partial = partials[i];
          if (partial.scores.empty()) continue;
          for (std::size_t d = 0; d < size; ++d)
            output[d] += std::exp(partial.maximum - total) * partial.output[d];
          runFirst[head * run.keys.size() + i] += std::exp(partial.scores[0] - total);
          for (std::size_t s = 0; s < partial.scores.size(); ++s) {
            const std::size_t block = (index(run.keys[i].begin) + s) / index(keySpan);
            runMass[head * blocks + firstBlock[i] + block] += std::exp(partial.scores[s] - total);
          }
        }
      }
    }
    if (!wantsMass) continue;
    compute::RunMass entry;
    entry.keySpan = keySpan;
    entry.run = static_cast<std::uint32_t>(runIndex);
    entry.keyBlocks = std::move(keyBlocks);
    for (const double value : runMass) entry.mass.push_back(static_cast<float>(value));
    for (const double value : runFirst) entry.first.push_back(static_cast<float>(value));
    mass->push_back(std::move(entry));
  }
}

void ReferenceBackend::deviations(const compute::Pass& pass, compute::StoredPart part,
                                  const compute::Tensor& x, std::int32_t layer, const compute::KvStore& store,
                                  compute::Tensor& out) {
  const auto& own = as<const ReferencePass>(pass);
  const auto& kv = as<const ReferenceStore>(store);
  const ReferenceTensor& source = tensor(x);
  ReferenceTensor& target = tensor(out);
  require(&x != &out, "deviations: in place");
  const std::size_t width = kv.width(layer);
  require(index(source.columns()) == width && index(source.rows()) == own.inputs.tokens.size(),
          "deviations: other rows than the pass has");
  target.resize(source.rows(), 1);
  const bool isRotated = part == compute::StoredPart::Keys && m_layout == KeyLayout::LocalRotation;
  for (std::int64_t r = 0; r < source.rows(); ++r) {
    std::vector<double> row(source.row(r), source.row(r) + width);
    const std::size_t size = index(kv.shape().headsOf(layer).headSize);
    for (std::size_t at = 0; isRotated && at < row.size(); at += size)
      rotate(row.data() + at, size, own.rotary, own.inputs.localIndices[index(r)]);
    const std::int64_t slot = own.inputs.slots[index(r)];
    const double* stored = part == compute::StoredPart::Keys ? kv.key(layer, slot) : kv.value(layer, slot);
    double sum = 0;
    for (std::size_t i = 0; i < row.size(); ++i)
      sum += (rounded(row[i], kv.shape().type) - stored[i]) * (rounded(row[i], kv.shape().type) - stored[i]);
    *target.row(r) = sum;
  }
}

/// Sorted by score, instead of chosen without sorting.
void ReferenceBackend::narrow(compute::Pass& pass, const compute::Tensor& scores) {
  auto& own = as<ReferencePass>(pass);
  const ReferenceTensor& values = tensor(scores);
  require(index(values.rows()) == own.inputs.tokens.size() && values.columns() == 1, "narrow: other scores");
  require(!own.inputs.narrowings.empty(), "narrow: nothing to narrow by");
  own.chosenRows.clear();
  std::int32_t first = 0;
  std::size_t runIndex = 0;
  for (const compute::RowGroup& group : own.inputs.narrowings.front()) {
    std::int32_t count = 0;
    for (std::uint32_t i = 0; i < group.runs; ++i) count += own.inputs.runs[runIndex++].rowCount;
    std::vector<std::int32_t> rows(index(count));
    std::iota(rows.begin(), rows.end(), first);
    if (group.kept < count) {
      std::stable_sort(rows.begin(), rows.end(),
                       [&](std::int32_t a, std::int32_t b) { return *values.row(a) > *values.row(b); });
    }
    rows.resize(index(group.kept));
    std::sort(rows.begin(), rows.end());
    own.chosenRows.insert(own.chosenRows.end(), rows.begin(), rows.end());
    first += count;
  }
  if (own.results.keptRows.empty()) {
    own.results.keptRows = own.chosenRows;
  } else {
    std::vector<std::int32_t> kept;
    for (const std::int32_t row : own.chosenRows) kept.push_back(own.results.keptRows[index(row)]);
    own.results.keptRows = std::move(kept);
  }
  own.inputs = compute::narrowed(own.inputs, own.chosenRows);
}

void ReferenceBackend::sample(compute::Pass& pass, const compute::Tensor& logits) {
  auto& own = as<ReferencePass>(pass);
  const ReferenceTensor& source = tensor(logits);
  require(index(source.rows()) == own.inputs.logitRows.size(), "sample: other rows than the pass has");
  for (const compute::Draw& draw : own.inputs.draws) {
    const double* row = source.row(draw.logits);
    std::vector<float> values(index(source.columns()));
    std::transform(row, row + source.columns(), values.begin(),
                   [](double value) { return static_cast<float>(value); });
    own.results.tokens.push_back(
        compute::sampleRow({.logits = values, .settings = draw.settings, .index = draw.index}));
  }
}

void ReferenceBackend::fetch(compute::Pass& pass, const compute::Tensor& x) {
  std::vector<float> copy(index(x.rows()) * index(x.columns()));
  download(x, copy);
  as<ReferencePass>(pass).results.fetched.push_back(std::move(copy));
}

compute::PassResults ReferenceBackend::finish(compute::Pass& pass) {
  compute::PassResults results = std::move(as<ReferencePass>(pass).results);
  results.stopped = stopped();
  return results;
}

void ReferenceBackend::download(const compute::Tensor& x, std::span<float> out) {
  const ReferenceTensor& source = tensor(x);
  require(out.size() == index(source.rows()) * index(source.columns()), "download: size differs");
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(source.row(0)[i]);
}

void ReferenceBackend::upload(std::span<const float> values, std::int64_t rows, std::int64_t columns,
                              compute::Tensor& out) {
  ReferenceTensor& target = tensor(out);
  target.resize(rows, columns);
  require(values.size() == index(rows) * index(columns), "upload: size differs");
  for (std::size_t i = 0; i < values.size(); ++i) target.row(0)[i] = static_cast<double>(values[i]);
}

}  // namespace spanscope::testing
