// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/table_pass.h"

#include "engine/base/error.h"
#include "engine/run/pair_vectors.h"

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

}  // namespace

void computeTable(model::Decoder& decoder, compute::Backend& backend, const layout::SpanTable& table,
                  const std::function<void(std::int64_t position, std::span<const float> logits)>& give,
                  std::stop_token stop, compute::DType keysAndValues) {
  const model::ModelConfig& config = decoder.config();
  run::checkTable(table, config);

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
      model::Batch batch =
          run::rowsOfSegment(table, static_cast<std::uint32_t>(s), begin, end, blocks, kBlockSize);
      for (std::int32_t local = begin; local < end; ++local) {
        if (!segment.hidden && local >= segment.visibleBegin) batch.logitRows.push_back(local - begin);
      }
      const model::ForwardResult result = decoder.forward(batch, *store, stop);
      if (result.stopped) throw Failure(errorAt("span table", "The job was stopped.", {}));
      const auto width = static_cast<std::size_t>(config.vocabularySize);
      for (std::size_t row = 0; row < batch.logitRows.size(); ++row) {
        give(position++, std::span(result.logits).subspan(row * width, width));
      }
    }
  }
}

}  // namespace spanscope::experiment
