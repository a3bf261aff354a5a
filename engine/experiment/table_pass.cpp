// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/table_pass.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::experiment {
namespace {

constexpr std::int32_t kBlockSize = 16;
constexpr std::int32_t kRowsPerPass = 128;  // limits the logits in memory

[[noreturn]] void refuse(std::string place, std::string found, std::string expected) {
  throw Failure(
      {.file = {}, .place = std::move(place), .found = std::move(found), .expected = std::move(expected)});
}

void check(const layout::SpanTable& table, const model::ModelConfig& config) {
  if (table.tokenCount() > config.maxPositions) {
    refuse("span table", counted(table.tokenCount(), "token"),
           "at most " + std::to_string(config.maxPositions) + ", the model's context");
  }
  for (const layout::Segment& segment : table.segments) {
    for (const TokenId token : segment.tokens) {
      if (token < 0 || token >= config.vocabularySize) {
        refuse("token id", std::to_string(token),
               "an id from 0 to " + std::to_string(config.vocabularySize - 1));
      }
    }
  }
}

}  // namespace

void computeTable(model::Decoder& decoder, compute::Backend& backend, const layout::SpanTable& table,
                  const std::function<void(std::int64_t position, std::span<const float> logits)>& give,
                  std::stop_token stop, compute::DType keysAndValues) {
  const model::ModelConfig& config = decoder.config();
  check(table, config);

  std::vector<std::vector<BlockId>> blocks;
  BlockId next = 1;
  for (const layout::Segment& segment : table.segments) {
    std::vector<BlockId>& own = blocks.emplace_back();
    for (std::int32_t begin = 0; begin < segment.length(); begin += kBlockSize) own.push_back(next++);
  }
  const std::unique_ptr<compute::KvStore> store =
      backend.makeKvStore(decoder.kvShape(next, kBlockSize, keysAndValues));

  std::int64_t position = 0;
  for (std::size_t s = 0; s < table.segments.size(); ++s) {
    const layout::Segment& segment = table.segments[s];
    for (std::int32_t begin = 0; begin < segment.length(); begin += kRowsPerPass) {
      const std::int32_t end = std::min(begin + kRowsPerPass, segment.length());
      model::Batch batch;
      for (std::int32_t local = begin; local < end; ++local) {
        batch.tokens.push_back(segment.tokens[static_cast<std::size_t>(local)]);
        batch.localIndices.push_back(local);
        batch.slots.push_back(std::int64_t{blocks[s][static_cast<std::size_t>(local / kBlockSize)]} *
                                  kBlockSize +
                              local % kBlockSize);
        if (!segment.hidden && local >= segment.visibleBegin) batch.logitRows.push_back(local - begin);
      }
      compute::QueryRun rows;
      rows.rowCount = end - begin;
      rows.base = segment.base;
      for (const std::uint32_t seen : segment.sees) {
        const layout::Segment& other = table.segments[seen];
        rows.keys.push_back({.blocks = blocks[seen],
                             .begin = other.visibleBegin,
                             .end = other.length(),
                             .base = other.base,
                             .causal = false});
      }
      rows.keys.push_back(
          {.blocks = blocks[s], .begin = 0, .end = end, .base = segment.base, .causal = true});
      batch.runs.push_back(std::move(rows));
      const model::ForwardResult result = decoder.forward(batch, *store, stop);
      if (result.stopped) refuse("span table", "a request to stop", {});
      const auto width = static_cast<std::size_t>(config.vocabularySize);
      for (std::size_t row = 0; row < batch.logitRows.size(); ++row) {
        give(position++, std::span(result.logits).subspan(row * width, width));
      }
    }
  }
}

}  // namespace spanscope::experiment
