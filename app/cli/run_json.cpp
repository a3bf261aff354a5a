// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/run_json.h"

#include "app/cli/text_table.h"
#include "engine/run/run_result.h"
#include "engine/trace/event_fields.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <optional>

namespace spanscope::cli {
nlohmann::ordered_json accountJson(const metrics::Totals& totals) {
  nlohmann::ordered_json json;
  for (const metrics::Metric& metric : metrics::all()) {
    if (metric.key == nullptr) continue;
    const std::optional<double> value = metric.number(totals);
    json[metric.key] = value ? nlohmann::ordered_json(std::llround(*value)) : nlohmann::ordered_json(nullptr);
  }
  return json;
}

nlohmann::ordered_json runToJson(const std::string& file, const plan::Plan& plan,
                                 const run::RunResult& result, const SpanCounts& spans,
                                 const LoadCounts& loads, const std::vector<metrics::Totals>& totals) {
  nlohmann::ordered_json json;
  json["file"] = file;
  json["outcome"] = trace::enumName(result.outcome);
  if (result.error) json["error"] = result.error->message();
  json["answer"] = result.answer;
  json["milliseconds"] = result.seconds * kMilliseconds;
  json["spans"] = {{"relocated", spans.relocated},
                   {"plain", spans.plain},
                   {"partial", spans.partial},
                   {"computed", spans.computed}};
  for (const auto& [tier, count] : loads) {
    json["loaded"][std::string(trace::enumName(tier))] = {
        {"tokens", count.tokens},
        {"bytes", count.bytes},
        {"milliseconds", static_cast<double>(count.nanoseconds) / 1e6}};
  }
  json["steps"] = nlohmann::ordered_json::array();
  for (const run::StepResult& step : result.steps) {
    const trace::StepMetrics& metrics = step.metrics;
    nlohmann::ordered_json row;
    row["step"] = step.step;
    row["node"] = plan.steps[step.step].node;
    row["copy"] = plan.steps[step.step].copy + 1;
    row["outcome"] = trace::enumName(step.outcome);
    row["text"] = step.text;
    row["tokens"] = step.tokens;
    row["prompt"] = metrics.promptTokens;
    row["cached"] = metrics.cachedTokens;
    row["relocated"] = metrics.relocatedTokens;
    row["computed"] = metrics.computedTokens;
    row["account"] = accountJson(totals[step.step]);
    row["generated"] = metrics.generatedTokens;
    row["preemptions"] = metrics.preemptions;
    row["recomputed"] = metrics.recomputedTokens;
    row["time_to_first_token_ms"] = metrics.timeToFirstToken * kMilliseconds;
    row["inter_token_latency_ms"] = metrics.interTokenLatency * kMilliseconds;
    row["queue_ms"] = metrics.queueTime * kMilliseconds;
    json["steps"].push_back(std::move(row));
  }
  return json;
}

}  // namespace spanscope::cli
