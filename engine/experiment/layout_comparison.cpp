// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/layout_comparison.h"

#include "engine/base/error.h"
#include "engine/cache/kv_cache.h"
#include "engine/experiment/repeat_run.h"
#include "engine/run/predictor.h"
#include "engine/run/run_options.h"
#include "engine/run/trace_values.h"

#include <algorithm>

namespace spanscope::experiment {
namespace {

/// Returns a configuration with the session's number of tokens in blocks of another size.
run::SessionConfig withBlocksOf(run::SessionConfig config, std::int32_t blockSize) {
  const std::int64_t tokens = std::int64_t{config.blockSize} * config.blockCount;
  config.blockSize = blockSize;
  config.blockCount = static_cast<std::int32_t>(
      std::clamp<std::int64_t>(tokens / blockSize + 1, cache::kMinBlockCount, cache::kMaxBlockCount));
  config.store = {};
  return config;
}

class Comparing {
 public:
  Comparing(const plan::Plan& plan, const run::RunOptions& options, const model::ModelConfig& model,
            const text::Tokenizer& tokenizer, const text::ChatTemplate& chat, const std::stop_token& stop)
      : m_plan(plan),
        m_reversed(withReversedPluses(plan)),
        m_options(options),
        m_model(model),
        m_tokenizer(tokenizer),
        m_chat(chat),
        m_stop(stop) {}

  /// Returns nothing when stopped.
  std::optional<LayoutRow> row(layout::Layout layout, run::SessionConfig session) {
    LayoutRow row{.layout = layout, .blockSize = session.blockSize};
    run::RunOptions options = m_options;
    options.layout = layout;
    for (const bool tails : {false, true}) {
      session.cacheTails = tails;
      run::Predictor predictor(session, m_model, m_tokenizer, m_chat);
      const run::Prediction first = predictor.predict(m_plan, options, m_stop);
      if (first.stopped) return std::nullopt;
      if (first.error) {
        row.problem = first.error->message();
        return row;
      }
      if (tails) describe(first, row);
      const run::Prediction second = predictor.predict(m_reversed, options, m_stop);
      if (second.stopped) return std::nullopt;
      run::CountRange& computed = tails ? row.swapped : row.swappedFull;
      for (const run::StepPrediction& step : second.steps) computed += step.computed;
    }
    return row;
  }

 private:
  static void describe(const run::Prediction& prediction, LayoutRow& row) {
    for (const run::StepPrediction& step : prediction.steps) {
      row.computed += step.computed;
      const auto applied = run::layoutEvent(step.table, nullptr);
      const auto laidOut = run::spanTableEvent(step.table, nullptr);
      row.counts += metrics::layoutMetrics(applied, laidOut.segments, row.blockSize);
      for (const layout::Segment& segment : step.table.segments) {
        if (!segment.hidden) row.blocks += (segment.length() + row.blockSize - 1) / row.blockSize;
      }
    }
  }

  const plan::Plan& m_plan;
  plan::Plan m_reversed;
  const run::RunOptions& m_options;
  const model::ModelConfig& m_model;
  const text::Tokenizer& m_tokenizer;
  const text::ChatTemplate& m_chat;
  const std::stop_token& m_stop;
};

}  // namespace

std::optional<LayoutComparison> compareLayouts(
    const plan::Plan& plan, const run::RunOptions& options, const run::SessionConfig& session,
    const model::ModelConfig& model, const text::Tokenizer& tokenizer, const text::ChatTemplate& chat,
    std::span<const std::int32_t> blockSizes, const std::stop_token& stop) {
  LayoutComparison comparison;
  comparison.hasAnswers =
      std::ranges::any_of(plan.steps, [](const plan::Step& step) { return !step.needs.empty(); });
  comparison.hasOrder = widestPlus(plan) > 1;
  Comparing comparing(plan, options, model, tokenizer, chat, stop);
  for (const layout::LayoutInfo& info : layout::layouts()) {
    for (const std::int32_t blockSize : blockSizes) {
      std::optional<LayoutRow> row = comparing.row(info.layout, withBlocksOf(session, blockSize));
      if (!row) return std::nullopt;
      comparison.rows.push_back(std::move(*row));
    }
  }
  return comparison;
}

}  // namespace spanscope::experiment
