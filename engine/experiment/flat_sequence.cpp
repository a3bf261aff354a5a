// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/flat_sequence.h"

#include "engine/base/error.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace spanscope::experiment {

FlatSequence::FlatSequence(model::Decoder& decoder, compute::Backend& backend, std::int64_t tokens,
                           std::int32_t blockSize, compute::DType keysAndValues)
    : m_decoder(decoder),
      m_blockSize(blockSize),
      m_blocks(static_cast<std::size_t>((tokens + blockSize - 1) / blockSize)) {
  std::iota(m_blocks.begin(), m_blocks.end(), 1);
  const auto blocks = static_cast<std::int32_t>(m_blocks.size()) + 1;
  m_store = backend.makeKvStore(decoder.kvShape(blocks, blockSize, keysAndValues));
}

model::ForwardResult FlatSequence::compute(std::int64_t begin, std::span<const TokenId> tokens, Rows rows,
                                           const std::stop_token& stop) {
  model::Batch batch;
  batch.logitsWanted = rows != Rows::Silent;
  const auto count = static_cast<std::int32_t>(tokens.size());
  const auto addRun = [&](std::int32_t first, std::int32_t number) {
    compute::QueryRun& run = batch.runs.emplace_back();
    run.firstRow = first;
    run.rowCount = number;
    run.keys.push_back({.blocks = m_blocks,
                        .begin = 0,
                        .end = static_cast<std::int32_t>(begin) + first + number,
                        .base = 0,
                        .causal = true});
  };
  for (std::int32_t row = 0; row < count; ++row) {
    const std::int64_t place = begin + row;
    batch.tokens.push_back(tokens[static_cast<std::size_t>(row)]);
    batch.localIndices.push_back(static_cast<std::int32_t>(place));
    batch.slots.push_back(std::int64_t{m_blocks[static_cast<std::size_t>(place / m_blockSize)]} *
                              m_blockSize +
                          place % m_blockSize);
    if (rows != Rows::Silent) batch.logitRows.push_back(row);
    if (rows != Rows::Observed) continue;
    batch.mass.runs.push_back(static_cast<std::uint32_t>(batch.runs.size()));
    batch.mass.keySpans.push_back(1);
    addRun(row, 1);
  }
  if (rows == Rows::Observed) {
    batch.massLayers.resize(static_cast<std::size_t>(m_decoder.config().layers));
    std::iota(batch.massLayers.begin(), batch.massLayers.end(), 0);
  } else {
    addRun(0, count);
  }
  model::ForwardResult result = m_decoder.forward(batch, *m_store, stop);
  if (result.stopped || stop.stop_requested())
    throw Failure(errorAt("full prefill", "a request to stop", {}));
  return result;
}

}  // namespace spanscope::experiment
