// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/pair_vectors.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

namespace spanscope::run {
namespace {

constexpr std::int32_t kPairBlockSize = 16;
constexpr std::int32_t kPairRowsPerPass = 128;

[[noreturn]] void refusePair(std::string place, std::string found, std::string expected) {
  throw Failure(errorAt(std::move(place), std::move(found), std::move(expected)));
}

bool isIn(const layout::SpanTable& table, const trace::TokenPlace& place) {
  return place.segment < table.segments.size() && place.local >= 0 &&
         place.local < table.segments[place.segment].length();
}

bool seesKey(const PairRequest& request) {
  if (request.row.segment == request.key.segment) return request.key.local <= request.row.local;
  const layout::Segment& own = request.table.segments[request.row.segment];
  return std::ranges::find(own.sees, request.key.segment) != own.sees.end() &&
         request.key.local >= request.table.segments[request.key.segment].visibleBegin;
}

void checkPair(const PairRequest& request, const model::ModelConfig& config) {
  if (!isIn(request.table, request.row)) refusePair("row", "no such token", "a token of the span table");
  if (!isIn(request.table, request.key)) refusePair("key", "no such token", "a token of the span table");
  if (!seesKey(request))
    refusePair("key", "a token that the row cannot attend to", "a token that the row attends to");
  checkTable(request.table, config);
}

/// Computes rows of one table, and keeps the vectors of two of these rows.
class PairPasses {
 public:
  PairPasses(model::Decoder& decoder, compute::Backend& backend, const PairRequest& request)
      : m_decoder(decoder), m_request(request), m_needed(request.table.segments.size(), false) {
    need(request.row.segment);
    BlockId next = 1;
    for (std::size_t s = 0; s < m_needed.size(); ++s) {
      std::vector<BlockId>& own = m_blocks.emplace_back();
      const std::int32_t length = m_needed[s] ? request.table.segments[s].length() : 0;
      for (std::int32_t begin = 0; begin < length; begin += kPairBlockSize) own.push_back(next++);
    }
    m_store = backend.makeKvStore(decoder.kvShape(next, kPairBlockSize, compute::DType::F32));
  }

  PairVectors compute(const std::stop_token& stop) {
    for (std::uint32_t s = 0; s < m_needed.size(); ++s) {
      if (!m_needed[s]) continue;
      const std::int32_t end =
          s == m_request.row.segment ? m_request.row.local + 1 : m_request.table.segments[s].length();
      for (std::int32_t begin = 0; begin < end;) {
        const std::int32_t next = endOfPass(s, begin, end);
        pass(s, begin, next, stop);
        begin = next;
      }
    }
    return std::move(m_result);
  }

 private:
  void need(std::uint32_t segment) {
    if (m_needed[segment]) return;
    m_needed[segment] = true;
    for (const std::uint32_t seen : m_request.table.segments[segment].sees) need(seen);
  }

  /// Row and key have separate forward passes, so that only the requested vectors are fetched.
  std::int32_t endOfPass(std::uint32_t segment, std::int32_t begin, std::int32_t end) const {
    std::int32_t next = std::min(begin + kPairRowsPerPass, end);
    for (const trace::TokenPlace& place : {m_request.row, m_request.key}) {
      if (place.segment != segment) continue;
      if (place.local == begin) return begin + 1;
      if (place.local > begin) next = std::min(next, place.local);
    }
    return next;
  }

  void pass(std::uint32_t s, std::int32_t begin, std::int32_t end, const std::stop_token& stop) {
    const auto isAt = [&](const trace::TokenPlace& place) {
      return place.segment == s && place.local == begin && end == begin + 1;
    };
    const bool isRow = isAt(m_request.row);
    const bool isKey = isAt(m_request.key);
    model::Batch batch = rowsOfSegment(m_request.table, s, begin, end, m_blocks, kPairBlockSize);
    batch.vectorsWanted = isRow || isKey;
    if (isRow) {
      batch.mass = {.runs = {0}, .keySpans = {1}};
      for (std::int32_t layer = 0; layer < m_decoder.config().layers; ++layer)
        batch.massLayers.push_back(layer);
    }
    model::ForwardResult result = m_decoder.forward(batch, *m_store, stop);
    if (result.stopped) refusePair("pair of tokens", "The job was stopped.", {});
    if (isKey) {
      for (const model::LayerVectors& layer : result.vectors)
        m_result.keys.insert(m_result.keys.end(), layer.keys.begin(), layer.keys.end());
    }
    if (isRow) takeRow(result, m_request.table.segments[s]);
  }

  void takeRow(const model::ForwardResult& result, const layout::Segment& segment) {
    for (const model::LayerVectors& layer : result.vectors) {
      m_result.queries.insert(m_result.queries.end(), layer.queries.begin(), layer.queries.end());
      m_result.layers.push_back({.rotary = layer.rotary, .shape = layer.shape});
    }
    const auto seen = std::ranges::find(segment.sees, m_request.key.segment);
    const auto range = m_request.key.segment == m_request.row.segment
                           ? segment.sees.size()
                           : static_cast<std::size_t>(seen - segment.sees.begin());
    for (const compute::LayerMass& layer : result.mass) {
      const compute::RunMass& run = layer.runs.front();
      std::size_t width = 0;
      std::size_t at = 0;
      for (std::size_t i = 0; i < run.keyBlocks.size(); ++i) {
        if (i == range) at = width + static_cast<std::size_t>(m_request.key.local);
        width += static_cast<std::size_t>(run.keyBlocks[i]);
      }
      for (std::size_t head = 0; head * width < run.mass.size(); ++head)
        m_result.weights.push_back(run.mass[head * width + at]);
    }
  }

  model::Decoder& m_decoder;
  const PairRequest& m_request;
  std::vector<bool> m_needed;
  std::vector<std::vector<BlockId>> m_blocks;
  std::unique_ptr<compute::KvStore> m_store;
  PairVectors m_result;
};

}  // namespace

void checkTable(const layout::SpanTable& table, const model::ModelConfig& config) {
  if (table.tokenCount() > config.maxPositions)
    throw Failure(errorAt("span table", counted(table.tokenCount(), "token"),
                          "at most " + std::to_string(config.maxPositions) + ", the model's context"));
  for (const layout::Segment& segment : table.segments) {
    for (const TokenId token : segment.tokens) {
      if (token < 0 || token >= config.vocabularySize)
        throw Failure(errorAt("token id", std::to_string(token),
                              "an id from 0 to " + std::to_string(config.vocabularySize - 1)));
    }
  }
}

model::Batch rowsOfSegment(const layout::SpanTable& table, std::uint32_t segment, std::int32_t begin,
                           std::int32_t end, std::span<const std::vector<BlockId>> blocks,
                           std::int32_t blockSize) {
  const layout::Segment& own = table.segments[segment];
  model::Batch batch;
  for (std::int32_t local = begin; local < end; ++local) {
    batch.tokens.push_back(own.tokens[static_cast<std::size_t>(local)]);
    batch.localIndices.push_back(local);
    batch.slots.push_back(std::int64_t{blocks[segment][static_cast<std::size_t>(local / blockSize)]} *
                              blockSize +
                          local % blockSize);
  }
  compute::QueryRun& rows = batch.runs.emplace_back();
  rows.rowCount = end - begin;
  rows.base = own.base;
  for (const std::uint32_t seen : own.sees) {
    const layout::Segment& other = table.segments[seen];
    rows.keys.push_back({.blocks = blocks[seen],
                         .begin = other.visibleBegin,
                         .end = other.length(),
                         .base = other.base,
                         .causal = false});
  }
  rows.keys.push_back({.blocks = blocks[segment], .begin = 0, .end = end, .base = own.base, .causal = true});
  return batch;
}

namespace {

/// Returns the elements of the earlier layers, whose heads may differ.
std::size_t elementsBefore(const std::vector<LayerRotation>& layers, std::int32_t layer,
                           std::int32_t compute::AttentionShape::*heads) {
  std::size_t elements = 0;
  for (const LayerRotation& each : std::span(layers).first(static_cast<std::size_t>(layer)))
    elements += static_cast<std::size_t>(each.shape.*heads) * static_cast<std::size_t>(each.shape.headSize);
  return elements;
}

}  // namespace

std::span<const float> PairVectors::query(std::int32_t layer, std::int32_t head) const {
  const compute::AttentionShape& shape = layers[static_cast<std::size_t>(layer)].shape;
  const auto size = static_cast<std::size_t>(shape.headSize);
  const std::size_t before = elementsBefore(layers, layer, &compute::AttentionShape::queryHeads);
  return std::span(queries).subspan(before + static_cast<std::size_t>(head) * size, size);
}

std::span<const float> PairVectors::key(std::int32_t layer, std::int32_t head) const {
  const compute::AttentionShape& shape = layers[static_cast<std::size_t>(layer)].shape;
  const auto size = static_cast<std::size_t>(shape.headSize);
  const std::int32_t own = head / (shape.queryHeads / shape.keyHeads);
  const std::size_t before = elementsBefore(layers, layer, &compute::AttentionShape::keyHeads);
  return std::span(keys).subspan(before + static_cast<std::size_t>(own) * size, size);
}

float PairVectors::weight(std::int32_t layer, std::int32_t head) const {
  const compute::AttentionShape& shape = layers[static_cast<std::size_t>(layer)].shape;
  return weights[static_cast<std::size_t>(layer * shape.queryHeads + head)];
}

PairVectors pairVectors(model::Decoder& decoder, compute::Backend& backend, const PairRequest& request,
                        const std::stop_token& stop) {
  checkPair(request, decoder.config());
  return PairPasses(decoder, backend, request).compute(stop);
}

std::vector<RotatedPair> rotatedPairs(std::span<const float> query, std::span<const float> key,
                                      const LayerRotation& layer, std::int64_t queryRotation,
                                      std::int64_t keyRotation) {
  const std::size_t half = layer.rotary.inverseFrequencies.size();
  std::vector<RotatedPair> pairs;
  for (std::size_t i = 0; i < half; ++i) {
    const double frequency = layer.rotary.inverseFrequencies[i];
    const double factor = layer.rotary.scaleOf(i);
    const auto turned = [&](const PlanePoint& from, std::int64_t positions) {
      const double angle = frequency * static_cast<double>(positions);
      const double c = factor * std::cos(angle);
      const double s = factor * std::sin(angle);
      return PlanePoint{from.x * c - from.y * s, from.x * s + from.y * c};
    };
    RotatedPair pair{.frequency = frequency,
                     .query = {double(query[i]), double(query[i + half])},
                     .key = {double(key[i]), double(key[i + half])},
                     .rotatedQuery = {},
                     .rotatedKey = {}};
    pair.rotatedQuery = turned(pair.query, queryRotation);
    pair.rotatedKey = turned(pair.key, keyRotation);
    pair.score = double(layer.shape.scale) *
                 (pair.rotatedQuery.x * pair.rotatedKey.x + pair.rotatedQuery.y * pair.rotatedKey.y);
    pairs.push_back(pair);
  }
  return pairs;
}

double scoreOf(std::span<const RotatedPair> pairs) {
  double score = 0;
  for (const RotatedPair& pair : pairs) score += pair.score;
  return score;
}

}  // namespace spanscope::run
