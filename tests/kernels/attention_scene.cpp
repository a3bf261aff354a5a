// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/kernels/attention_scene.h"

#include "tests/support/compare.h"
#include "tests/support/passes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

namespace spanscope::testing {

using compute::DType;

namespace {

std::size_t count(std::int64_t a, std::int64_t b = 1) {
  return static_cast<std::size_t>(a * b);
}

std::int32_t blocksOf(std::int32_t tokens, std::int32_t blockSize) {
  return (tokens + blockSize - 1) / blockSize;
}

/// A store with the scene's segments in it, and where their blocks lie.
class Stored {
 public:
  Stored(compute::Backend& backend, const Scene& scene, const Presentation& presentation)
      : m_backend(backend), m_scene(scene) {
    const SceneShape& shape = scene.shape;
    std::int32_t used = 0;
    for (const SceneSegment& segment : scene.segments) used += blocksOf(segment.tokens, shape.blockSize);
    Random random(presentation.blockSeed);
    const auto blocks = used + 1 + static_cast<std::int32_t>(random.below(5));
    std::vector<BlockId> free(count(blocks - 1));
    std::iota(free.begin(), free.end(), 1);
    for (std::size_t i = free.size(); i > 1; --i) std::swap(free[i - 1], free[random.below(i)]);
    for (const SceneSegment& segment : scene.segments) {
      const auto needed = count(blocksOf(segment.tokens, shape.blockSize));
      m_blocks.emplace_back(free.end() - static_cast<std::ptrdiff_t>(needed), free.end());
      free.resize(free.size() - needed);
    }
    // A second layer comes after the one in use; a store of one layer would hide a wrong offset.
    m_shape = {2, blocks, shape.blockSize, shape.keyHeads, shape.headSize, shape.type};
    m_store = backend.makeKvStore(m_shape);
    poison();
    for (std::size_t i = 0; i + 1 < scene.segments.size(); ++i) write(i, 0, scene.segments[i].tokens);
  }

  static constexpr std::int32_t kLayer = 1;

  const compute::KvShape& shape() const { return m_shape; }
  const compute::KvStore& store() const { return *m_store; }
  const std::vector<BlockId>& blocks(std::size_t segment) const { return m_blocks[segment]; }

  void write(std::size_t index, std::int32_t first, std::int32_t last) {
    const SceneSegment& segment = m_scene.segments[index];
    const auto width = count(m_scene.shape.keyHeads, m_scene.shape.headSize);
    std::vector<std::int32_t> locals;
    std::vector<std::int64_t> slots;
    for (std::int32_t token = first; token < last; ++token) {
      const std::int64_t block = m_blocks[index][count(token / m_shape.blockSize)];
      locals.push_back(token);
      slots.push_back(block * m_shape.blockSize + token % m_shape.blockSize);
    }
    const auto part = [&](const std::vector<float>& all) {
      return std::span(all).subspan(count(first) * width, count(last - first) * width);
    };
    store(part(segment.keys), part(segment.values), locals, slots);
  }

 private:
  void poison() {
    const std::int64_t slotCount = std::int64_t{m_shape.blocks} * m_shape.blockSize;
    const std::vector<float> nothing(count(slotCount, std::int64_t{m_shape.heads} * m_shape.headSize),
                                     std::numeric_limits<float>::quiet_NaN());
    std::vector<std::int64_t> slots(count(slotCount));
    std::iota(slots.begin(), slots.end(), 0);
    store(nothing, nothing, std::vector<std::int32_t>(slots.size(), 0), slots);
  }

  void store(std::span<const float> keys, std::span<const float> values,
             const std::vector<std::int32_t>& locals, const std::vector<std::int64_t>& slots) {
    const auto rows = static_cast<std::int64_t>(slots.size());
    const std::int64_t width = std::int64_t{m_shape.heads} * m_shape.headSize;
    const auto keyRows = m_backend.makeTensor();
    const auto valueRows = m_backend.makeTensor();
    m_backend.upload(keys, rows, width, *keyRows);
    m_backend.upload(values, rows, width, *valueRows);
    storeTokens(m_backend, m_scene.rotary, *keyRows, *valueRows, locals, slots, kLayer, *m_store);
  }

  compute::Backend& m_backend;
  const Scene& m_scene;
  compute::KvShape m_shape;
  std::unique_ptr<compute::KvStore> m_store;
  std::vector<std::vector<BlockId>> m_blocks;
};

/// Rows of a scene that make up a run, ascending.
using Chunk = std::vector<std::int32_t>;

compute::QueryRun makeRun(const Scene& scene, const Stored& stored, const Chunk& chunk, std::int64_t shift) {
  compute::QueryRun run;
  run.rowCount = static_cast<std::int32_t>(chunk.size());
  run.base = scene.segments.back().base + shift;
  for (std::size_t i = 0; i < scene.segments.size(); ++i) {
    const SceneSegment& segment = scene.segments[i];
    compute::KeyRange range{stored.blocks(i), segment.begin, segment.end, segment.base + shift, false};
    if (i + 1 == scene.segments.size()) {
      range.causal = true;
      range.end = scene.firstLocal() + chunk.back() + 1;
    }
    run.keys.push_back(std::move(range));
  }
  return run;
}

/// One pass over some chunks; their rows go to the batch in the order given.
void runPass(compute::Backend& backend, const Scene& scene, const Stored& stored,
             const std::vector<Chunk>& chunks, const Presentation& presentation, SceneResult& result) {
  const auto width = count(scene.shape.queryHeads, scene.shape.headSize);
  compute::PassInputs inputs;
  std::vector<float> queries;
  compute::MassRequest& request = inputs.mass;
  for (const Chunk& chunk : chunks) {
    // Blocks, single keys and stretches that cut across the blocks.
    constexpr std::array<std::int32_t, 3> kSpans{0, 1, 5};
    if (presentation.observed) {
      request.keySpans.push_back(kSpans[inputs.runs.size() % kSpans.size()]);
      request.runs.push_back(static_cast<std::uint32_t>(inputs.runs.size()));
    }
    compute::QueryRun& run = inputs.runs.emplace_back(makeRun(scene, stored, chunk, presentation.shift));
    run.mostBlocks = scene.shape.mostBlocks;
    run.firstRow = static_cast<std::int64_t>(inputs.tokens.size());
    for (const std::int32_t row : chunk) {
      inputs.tokens.push_back(0);
      inputs.localIndices.push_back(scene.firstLocal() + row);
      inputs.slots.push_back(0);
      const auto begin = scene.queries.begin() + static_cast<std::ptrdiff_t>(count(row) * width);
      queries.insert(queries.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
    }
  }
  const auto rows = backend.makeTensor();
  const auto out = backend.makeTensor();
  backend.upload(queries, static_cast<std::int64_t>(queries.size() / width), static_cast<std::int64_t>(width),
                 *rows);
  const auto pass = backend.makePass(scene.attention(), scene.rotary, stored.shape(), inputs);
  std::unique_ptr<compute::Weight> sinks;
  if (!scene.sinks.empty()) {
    const compute::HostMatrix vector{std::as_bytes(std::span(scene.sinks)).data(), compute::WeightFormat::F32,
                                     1, scene.shape.queryHeads};
    sinks = backend.prepare(vector, compute::WeightUse::Vector);
  }
  backend.attend(*pass, *rows, stored.store(), Stored::kLayer, presentation.observed, *out, sinks.get());
  backend.fetch(*pass, *out);
  const compute::PassResults results = backend.finish(*pass);
  const std::vector<float>& values = results.fetched.at(0);
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    auto from = values.begin() + static_cast<std::ptrdiff_t>(count(inputs.runs[i].firstRow) * width);
    for (const std::int32_t row : chunks[i]) {
      std::copy_n(from, width, result.out.begin() + static_cast<std::ptrdiff_t>(count(row) * width));
      from += static_cast<std::ptrdiff_t>(width);
    }
    if (presentation.observed) result.mass.push_back(results.mass.at(0).runs.at(i));
  }
}

double largestNorm(const std::vector<float>& values, std::size_t size) {
  double largest = 0;
  for (std::size_t i = 0; i < values.size(); i += size) {
    largest = std::max(largest, norm(std::span(values).subspan(i, size)));
  }
  return largest;
}

}  // namespace

compute::AttentionShape Scene::attention() const {
  return {shape.queryHeads, shape.keyHeads,
          shape.headSize,   1.0F / std::sqrt(static_cast<float>(shape.headSize)),
          shape.window,     shape.positionScale,
          shape.softCap};
}

std::string Scene::text() const {
  std::string text = std::to_string(shape.queryHeads) + "/" + std::to_string(shape.keyHeads) + " heads of " +
                     std::to_string(shape.headSize) + ", blocks of " + std::to_string(shape.blockSize) + " " +
                     compute::nameOf(shape.type) + ", " + std::to_string(shape.rows) + " rows";
  if (shape.mostBlocks > 0) text += " of at most " + std::to_string(shape.mostBlocks) + " blocks";
  if (shape.window > 0) text += ", a window of " + std::to_string(shape.window);
  if (shape.positionScale.isOn()) {
    text += ", queries scaled by " + std::to_string(shape.positionScale.beta) + " at every " +
            std::to_string(shape.positionScale.step);
  }
  if (shape.softCap > 0) text += ", a soft cap of " + std::to_string(shape.softCap);
  text += ", segments";
  for (const SceneSegment& segment : segments) {
    text += " " + std::to_string(segment.begin) + "-" + std::to_string(segment.end) + "/" +
            std::to_string(segment.tokens) + "@" + std::to_string(segment.base);
  }
  return text;
}

Scene makeScene(const SceneShape& shape, Random& random) {
  Scene scene;
  scene.shape = shape;
  for (std::int32_t pair = 0; pair < shape.headSize / 2; ++pair) {
    scene.rotary.inverseFrequencies.push_back(std::pow(10000.0, -2.0 * pair / shape.headSize));
  }
  const auto width = count(shape.keyHeads, shape.headSize);
  std::int64_t base = random.between(-50, 200);
  for (std::int32_t i = 0; i < shape.segments; ++i) {
    SceneSegment segment;
    const bool isOwn = i + 1 == shape.segments;
    segment.tokens =
        static_cast<std::int32_t>(random.between(1, shape.mostTokens)) + (isOwn ? shape.rows : 0);
    segment.base = base;
    segment.end = segment.tokens;
    if (random.below(2) == 0) {
      // Something hidden before, something after; the own segment must leave each row its own key.
      const std::int32_t most = isOwn ? segment.tokens - shape.rows : segment.tokens - 1;
      segment.begin = static_cast<std::int32_t>(random.between(0, most));
      if (!isOwn) segment.end = static_cast<std::int32_t>(random.between(segment.begin, segment.tokens));
    }
    segment.keys = randomValues(random, width * count(segment.tokens), 1.5);
    segment.values = randomValues(random, width * count(segment.tokens));
    base += random.between(0, 100);
    scene.segments.push_back(std::move(segment));
  }
  scene.queries = randomValues(random, count(shape.rows) * count(shape.queryHeads, shape.headSize), 1.5);
  return scene;
}

SceneShape randomShape(Random& random) {
  constexpr std::int32_t kBlockSizes[] = {1, 2, 3, 5, 8, 16, 16, 32, 48, 64, 100, 256};
  SceneShape shape;
  shape.keyHeads = static_cast<std::int32_t>(random.between(1, 3));
  shape.queryHeads = shape.keyHeads * static_cast<std::int32_t>(random.between(1, 8));
  shape.headSize = 2 * static_cast<std::int32_t>(random.between(1, random.below(4) == 0 ? 64 : 20));
  shape.blockSize = kBlockSizes[random.below(std::size(kBlockSizes))];
  shape.type = random.below(3) == 0 ? DType::BF16 : DType::F32;
  shape.segments = static_cast<std::int32_t>(random.between(1, 4));
  shape.mostTokens = static_cast<std::int32_t>(random.between(1, 150));
  if (random.below(4) == 0) {
    // Many of few tokens, which share what longer ones have for themselves.
    shape.segments = static_cast<std::int32_t>(random.between(5, 60));
    shape.mostTokens = static_cast<std::int32_t>(random.between(1, 40));
  }
  shape.rows = static_cast<std::int32_t>(random.between(1, 40));
  return shape;
}

SceneResult runScene(compute::Backend& backend, const Scene& scene, const Presentation& presentation) {
  std::vector<Chunk> chunks;
  std::int32_t first = 0;
  const auto addChunk = [&](std::int32_t rows) {
    Chunk& chunk = chunks.emplace_back(count(rows));
    std::iota(chunk.begin(), chunk.end(), first);
    first += rows;
  };
  for (const std::int32_t rows : presentation.chunks) addChunk(rows);
  if (!presentation.rows.empty()) chunks.push_back(presentation.rows);
  if (chunks.empty()) addChunk(scene.shape.rows);

  SceneResult result;
  result.out.resize(scene.queries.size());
  Stored stored(backend, scene, presentation);
  const std::size_t own = scene.segments.size() - 1;
  const std::int32_t before = scene.firstLocal();
  if (presentation.onePassPerChunk) {
    stored.write(own, 0, before);
    for (const Chunk& chunk : chunks) {
      stored.write(own, before + chunk.front(), before + chunk.back() + 1);
      runPass(backend, scene, stored, {chunk}, presentation, result);
    }
  } else {
    stored.write(own, 0, scene.segments[own].tokens);
    if (presentation.reversed) std::reverse(chunks.begin(), chunks.end());
    runPass(backend, scene, stored, chunks, presentation, result);
    if (presentation.reversed) std::reverse(result.mass.begin(), result.mass.end());
  }
  return result;
}

namespace {

constexpr double kF32 = 0x1p-24;

bool isF32(double unit) {
  return unit == kF32;
}

}  // namespace

double weightTolerance(const Scene& scene, double unit) {
  const auto size = count(scene.shape.headSize);
  const std::int64_t last = scene.segments.back().base + scene.segments.back().tokens;
  const double scale =
      static_cast<double>(scene.attention().scale) * static_cast<double>(scene.shape.positionScale.at(last));
  const double query = largestNorm(scene.queries, size);
  double key = 0;
  std::size_t keys = 0;
  for (const SceneSegment& segment : scene.segments) {
    key = std::max(key, largestNorm(segment.keys, size));
    keys += count(segment.tokens);
  }
  // Rounding of rotated elements, then of the chain. A key that rounds to the other neighbour in bf16 counts
  // for one place of that type in a few of its elements.
  const double stored = std::max(8 * kF32, scene.shape.type == DType::BF16 ? 0x1p-10 : 0.0);
  // What tensors round are single products of the chain; their errors add up as their squares.
  const double tensors = isF32(unit) ? 0.0 : 6 * unit / std::sqrt(static_cast<double>(size));
  const double score = scale * (dotTolerance(size, query, key, kF32) + (stored + tensors) * query * key);
  const double weights = isF32(unit) ? 0.0 : 4 * unit;
  return 2 * score + weights + 16 * kF32 + 2 * kF32 * std::sqrt(static_cast<double>(keys));
}

double outTolerance(const Scene& scene, double unit) {
  double largest = 0;
  for (const SceneSegment& segment : scene.segments) {
    for (const float value : segment.values)
      largest = std::max(largest, std::abs(static_cast<double>(value)));
  }
  const double rounded = isF32(unit) ? 0.0 : 2 * unit;
  return (weightTolerance(scene, unit) + rounded) * largest;
}

}  // namespace spanscope::testing
