// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/kernels/cuda/attention_problem.h"

#include "tests/kernels/cuda/pairwise.h"
#include "tests/support/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace spanscope::testing {

using cuda::RowRun;
using cuda::SegmentKeys;

namespace {

std::size_t index(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

/// The segments that the last run sees: `keys` tokens in all, the last its own.
std::vector<SegmentKeys> drawSegments(const ProblemShape& shape, Random& random) {
  std::vector<SegmentKeys> segments;
  std::int64_t base = random.between(-50, 200);
  int left = std::max(shape.keys - shape.rows, 0);
  for (int i = 0; i < shape.segments; ++i) {
    const bool isOwn = i + 1 == shape.segments;
    SegmentKeys segment;
    const auto tokens = static_cast<int>(isOwn ? left : random.between(0, left / (shape.segments - i)));
    left -= tokens;
    segment.end = tokens + (isOwn ? shape.rows : 0);
    segment.causal = isOwn;
    if (random.below(2) == 0 && tokens > 1)
      segment.begin = static_cast<std::int32_t>(random.between(0, tokens / 2));
    segment.base = base;
    base += random.between(0, 300);
    segments.push_back(segment);
  }
  return segments;
}

}  // namespace

std::string ProblemShape::text() const {
  return std::to_string(rows) + " rows, " + std::to_string(keys) + " keys in " + std::to_string(segments) +
         " segments, " + std::to_string(keyHeads) + " × " + std::to_string(group) + " heads of " +
         std::to_string(headSize) + ", blocks of " + std::to_string(blockSize) +
         (isFloat ? ", f32" : ", bf16") +
         (window > 0 ? ", a window of " + std::to_string(window) : std::string());
}

std::int64_t productsOf(const ProblemShape& shape) {
  return std::int64_t{shape.rows} * shape.group * shape.keyHeads * (shape.keys + shape.rows) * shape.headSize;
}

std::vector<ProblemShape> pairwiseShapes(const ShapeChoices& choices, std::int64_t mostProducts,
                                         Random& random) {
  std::vector<ProblemShape> shapes;
  for (const auto& choice : pairwiseSample(
           {choices.rows.size(), choices.keys.size(), choices.segments.size(), choices.headSizes.size(),
            choices.groups.size(), choices.blockSizes.size(), choices.windows.size()},
           random)) {
    ProblemShape& shape = shapes.emplace_back(ProblemShape{.rows = choices.rows[choice[0]],
                                                           .keys = choices.keys[choice[1]],
                                                           .segments = choices.segments[choice[2]],
                                                           .keyHeads = choice[1] % 2 == 0 ? 2 : 1,
                                                           .group = choices.groups[choice[4]],
                                                           .headSize = choices.headSizes[choice[3]],
                                                           .blockSize = choices.blockSizes[choice[5]],
                                                           .window = choices.windows[choice[6]]});
    while (productsOf(shape) > mostProducts && shape.rows > 16) shape.rows /= 2;
  }
  return shapes;
}

AttentionProblem::AttentionProblem(EmulatedDevice& card, const ProblemShape& shape, Random& random)
    : m_shape(shape), m_angles(shape.headSize, 0, kTheta) {
  std::vector<SegmentKeys> segments = drawSegments(shape, random);
  const auto blocksOf = [&](const SegmentKeys& segment) {
    return (segment.end + shape.blockSize - 1) / shape.blockSize;
  };
  int used = 0;
  for (const SegmentKeys& segment : segments) used += blocksOf(segment);
  std::vector<std::int32_t> free(index(used + 2));
  std::iota(free.begin(), free.end(), 0);
  for (std::size_t i = free.size(); i > 1; --i) std::swap(free[i - 1], free[random.below(i)]);
  m_pool = std::make_unique<DevicePool>(card, cuda::KeyValuePool{.isFloat = shape.isFloat,
                                                                 .layers = 2,
                                                                 .blocks = used + 2,
                                                                 .blockSize = shape.blockSize,
                                                                 .heads = shape.keyHeads,
                                                                 .headSize = shape.headSize});
  // What no segment holds stays unwritten.
  m_keys.assign(index(m_pool->shape().elements()), std::numeric_limits<float>::quiet_NaN());
  m_values = m_keys;
  for (SegmentKeys& segment : segments) {
    for (int i = 0; i < blocksOf(segment); ++i) {
      segment.blocks.push_back(free.back());
      free.pop_back();
    }
    for (std::int32_t token = 0; token < segment.end; ++token) {
      const std::int64_t slot =
          std::int64_t{segment.blocks[index(token / shape.blockSize)]} * shape.blockSize +
          token % shape.blockSize;
      for (int head = 0; head < shape.keyHeads; ++head) {
        const std::vector<float> key = randomValues(random, index(shape.headSize), 1.2);
        const std::vector<double> rotated = m_angles.rotate(key, token);
        const std::vector<float> value = randomValues(random, index(shape.headSize));
        const std::size_t place = m_pool->placeOf(kLayer, slot, head);
        std::transform(rotated.begin(), rotated.end(), m_keys.begin() + static_cast<std::ptrdiff_t>(place),
                       [](double x) { return static_cast<float>(x); });
        std::copy(value.begin(), value.end(), m_values.begin() + static_cast<std::ptrdiff_t>(place));
      }
    }
  }
  m_pool->upload(m_keys, m_values);
  m_keys = m_pool->downloadKeys();
  m_values = m_pool->downloadValues();
  m_queries =
      testing::toBf16(randomValues(random, index(rows()) * index(queryHeads() * shape.headSize), 1.2));

  // The single row is first in the batch. It attends to the first segment at another start position.
  RowRun single{
      .firstRow = 0, .rowCount = 1, .firstLocal = 0, .base = random.between(0, 400), .keys = {segments[0]}};
  single.keys[0].causal = false;
  single.keys[0].base = random.between(-300, 300);
  const SegmentKeys& own = segments.back();
  RowRun all{.firstRow = 1,
             .rowCount = shape.rows,
             .firstLocal = own.end - shape.rows,
             .base = own.base,
             .keys = segments};
  single.window = all.window = shape.window;
  m_runs = {single, all};
}

float AttentionProblem::scale() const {
  return 1.0F / std::sqrt(static_cast<float>(m_shape.headSize));
}

std::size_t AttentionProblem::placeOfOwn(std::int32_t token, int head) const {
  const SegmentKeys& own = m_runs.back().keys.back();
  const std::int64_t slot = std::int64_t{own.blocks[index(token / m_shape.blockSize)]} * m_shape.blockSize +
                            token % m_shape.blockSize;
  return m_pool->placeOf(kLayer, slot, head);
}

void AttentionProblem::markKey(std::int32_t token) {
  for (int head = 0; head < m_shape.keyHeads; ++head)
    std::fill_n(m_values.begin() + static_cast<std::ptrdiff_t>(placeOfOwn(token, head)), m_shape.headSize,
                1000.0F);
  m_pool->upload(m_keys, m_values);
  m_values = m_pool->downloadValues();
}

void AttentionProblem::ignoreKeys(std::int32_t count) {
  for (cuda::Bf16& query : m_queries) query = roundedToBf16(std::abs(valueOf(query)) + 0.25F);
  for (std::int32_t token = 0; token < count; ++token) {
    for (int head = 0; head < m_shape.keyHeads; ++head)
      std::fill_n(m_keys.begin() + static_cast<std::ptrdiff_t>(placeOfOwn(token, head)), m_shape.headSize,
                  -100.0F);
  }
  m_pool->upload(m_keys, m_values);
  m_keys = m_pool->downloadKeys();
}

ProblemResult AttentionProblem::reference() const {
  const std::size_t size = index(m_shape.headSize);
  const std::size_t heads = index(queryHeads());
  ProblemResult result;
  result.out.assign(m_queries.size(), 0);
  result.magnitude.assign(m_queries.size(), 0);
  result.logSums.assign(m_queries.size() / size, -std::numeric_limits<double>::infinity());
  double queryNorm = 0;
  double keyNorm = 0;
  for (const RowRun& run : m_runs) {
    const std::int32_t span = run.massSpan == RowRun::kNoMass ? 1 : run.massSpan;
    std::vector<std::size_t> firstStretch;
    std::size_t stretches = 0;
    for (const SegmentKeys& keys : run.keys) {
      firstStretch.push_back(stretches);
      stretches += index((keys.end + span - 1) / span);
    }
    std::vector<double>& mass = result.mass.emplace_back(heads * stretches, 0.0);
    std::vector<double>& first = result.first.emplace_back(heads * run.keys.size(), 0.0);
    for (std::int32_t r = 0; r < run.rowCount; ++r) {
      const std::int32_t local = run.firstLocal + r;
      for (std::size_t head = 0; head < heads; ++head) {
        const std::size_t at = (index(run.firstRow + r) * heads + head) * size;
        const std::vector<float> query = toFloats(std::span(m_queries).subspan(at, size));
        queryNorm = std::max(queryNorm, norm(query));
        struct Seen {
          double score;
          std::size_t place, stretch, range;
          bool isFirst;
        };
        std::vector<Seen> seen;
        for (std::size_t i = 0; i < run.keys.size(); ++i) {
          const SegmentKeys& keys = run.keys[i];
          const std::vector<double> turned = m_angles.rotate(query, run.base + local - keys.base);
          const std::int32_t end = keys.causal ? std::min(keys.end, local + 1) : keys.end;
          for (std::int32_t token = keys.begin; token < end; ++token) {
            if (run.window > 0 && run.base + local - (keys.base + token) >= run.window) continue;
            const std::int64_t slot =
                std::int64_t{keys.blocks[index(token / m_shape.blockSize)]} * m_shape.blockSize +
                token % m_shape.blockSize;
            const std::size_t place = m_pool->placeOf(kLayer, slot, static_cast<int>(head) / m_shape.group);
            double score = 0;
            for (std::size_t d = 0; d < size; ++d)
              score += turned[d] * static_cast<double>(m_keys[place + d]);
            keyNorm = std::max(keyNorm, norm(std::span(m_keys).subspan(place, size)));
            seen.push_back({score * static_cast<double>(scale()), place,
                            firstStretch[i] + index(token / span), i, token == keys.begin});
          }
        }
        double largest = -std::numeric_limits<double>::infinity();
        for (const Seen& key : seen) largest = std::max(largest, key.score);
        double total = 0;
        for (const Seen& key : seen) total += std::exp(key.score - largest);
        result.logSums[at / size] = seen.empty() ? largest : largest + std::log(total);
        for (const Seen& key : seen) {
          const double weight = std::exp(key.score - largest) / total;
          mass[head * stretches + key.stretch] += weight;
          if (key.isFirst) first[head * run.keys.size() + key.range] += weight;
          for (std::size_t d = 0; d < size; ++d) {
            const auto value = static_cast<double>(m_values[key.place + d]);
            result.out[at + d] += weight * value;
            result.magnitude[at + d] += weight * std::abs(value);
          }
        }
      }
    }
  }
  result.scoreNorm = static_cast<double>(scale()) * queryNorm * keyNorm;
  // An error of a score is a relative error of its weight, above and below the line. Rotated elements carry a
  // few roundings of f32, as does 2^x; the sum of weights is a chain as long as there are keys, in f32.
  const double score = dotTolerance(size, 1, result.scoreNorm) + 0x1p-21 * result.scoreNorm;
  result.weightTolerance = 2 * score + 0x1p-19 + 0x1p-23 * std::sqrt(m_shape.keys);
  return result;
}

double scoreToleranceOnTensorCores(const AttentionProblem& problem, const ProblemResult& expected) {
  // Each element is rounded by up to 2^−8 of itself and independently: over a head that is about
  // 2^−8 · |q| |k| / √(3 · headSize) of a score; five times as much is never seen.
  return 3 * 0x1p-8 * expected.scoreNorm / std::sqrt(problem.shape().headSize);
}

std::string differsOnTensorCores(const AttentionProblem& problem, const std::vector<cuda::Bf16>& out,
                                 const ProblemResult& expected) {
  // Weights are rounded too, and then the result.
  const double relative =
      expected.weightTolerance + 2 * scoreToleranceOnTensorCores(problem, expected) + 0x1p-8;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto actual = static_cast<double>(valueOf(out[i]));
    const double tolerance = expected.magnitude[i] * relative + std::abs(expected.out[i]) * 0x1p-8;
    if (std::abs(actual - expected.out[i]) <= tolerance) continue;
    return "element " + std::to_string(i) + ": " + std::to_string(actual) + ", expected " +
           std::to_string(expected.out[i]) + ", tolerance " + std::to_string(tolerance);
  }
  return {};
}

}  // namespace spanscope::testing
