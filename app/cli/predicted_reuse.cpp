// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/predicted_reuse.h"

#include "app/cli/layout_lines.h"
#include "app/cli/run_printer.h"
#include "app/cli/terminal_output.h"
#include "engine/base/counted.h"
#include "engine/cache/what_if.h"
#include "engine/metrics/metric_table.h"
#include "engine/text/tokenizer.h"
#include "engine/trace/event_fields.h"
#include "engine/trace/miss_reasons.h"
#include "engine/workbench/run_options.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace spanscope::cli {
namespace {

// The output of `spanq explain --why`: the reason for each miss, and a change that would make the block a
// hit.

using cache::Change;
using cache::WhatIf;
using Json = nlohmann::ordered_json;

constexpr std::size_t kMostShown = 6;  // tokens in a row

class ReuseReader {
 public:
  ReuseReader(const run::StepPrediction& step, const text::Tokenizer& tokenizer)
      : m_step(step), m_tokenizer(tokenizer) {}

  std::string table() const {
    TextTable table({{"segment"},
                     {"blocks"},
                     {"computed"},
                     {"why", TextTable::Align::Left},
                     {"change that makes hits", TextTable::Align::Left}});
    for (std::size_t i = 0; i < m_step.blocks.size();) {
      const trace::BlockLookedUp& first = m_step.blocks[i];
      if (first.tokens == first.wanted) {
        ++i;
        continue;
      }
      const std::string why = causeOf(first);
      const std::string change = changesOf(i);
      std::int32_t computed = 0;
      std::size_t end = i;
      for (; end < m_step.blocks.size(); ++end) {
        const trace::BlockLookedUp& block = m_step.blocks[end];
        if (block.segment != first.segment || block.tokens == block.wanted || causeOf(block) != why ||
            changesOf(end) != change)
          break;
        computed += block.wanted - block.tokens;
      }
      const std::int32_t last = m_step.blocks[end - 1].virtualIndex;
      std::string blocks = std::to_string(first.virtualIndex);
      if (last > first.virtualIndex) blocks += "–" + std::to_string(last);
      table.addRow({std::to_string(first.segment), blocks, std::to_string(computed), why, change});
      i = end;
    }
    return table.text();
  }

 private:
  std::span<const TokenId> tokensOf(std::uint32_t segment) const {
    return m_step.table.segments[segment].tokens;
  }
  std::string causeOf(const trace::BlockLookedUp& block) const {
    std::string reason = trace::infoOf(block.reason).words;
    if (block.reason == trace::MissReason::TokensDiffer)
      reason += " from token " + std::to_string(block.differsAt) + " on";
    const std::vector<std::uint32_t>& sees = m_step.table.segments[block.segment].sees;
    if (block.contextDiffersAt >= 0 && static_cast<std::size_t>(block.contextDiffersAt) < sees.size())
      reason +=
          " from segment " + std::to_string(sees[static_cast<std::size_t>(block.contextDiffersAt)]) + " on";
    if (block.tokens > 0) reason += ", " + std::to_string(block.tokens) + " reused";
    return reason;
  }

  /// Returns the smallest change, and a larger pool as an alternative. Repeating the request is the last
  /// choice.
  std::string changesOf(std::size_t index) const {
    std::string text;
    for (const WhatIf& change : m_step.whatIf[index]) {
      if (change.change == Change::Again && !text.empty()) continue;
      text += (text.empty() ? "" : "; or ") + textOf(m_step.blocks[index], change);
    }
    return text;
  }

  /// “Tarek is a baker. The…” (tokens 13–30, /g/input/cross/1), or the first and the last of several nodes.
  /// The text in quotes is the beginning of the first node.
  std::string messagesIn(std::uint32_t segment, const WhatIf& change) const {
    const std::int32_t end = change.begin + change.count;
    NodePath first;
    NodePath last;
    std::span<const TokenId> text;
    std::int32_t at = 0;
    for (const layout::TokenRun& run : m_step.table.segments[segment].runs) {
      if (at <= change.begin && change.begin < at + run.count) first = run.node;
      if (at < end && end <= at + run.count) last = run.node;
      const bool isText = run.source == layout::TokenRun::Source::Text;
      if (text.empty() && isText && change.begin <= at && at < end)
        text = tokensOf(segment).subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(run.count));
      at += run.count;
    }
    const std::string nodes = first + (last == first ? std::string() : " to " + last);
    const std::string tokens = "tokens " + std::to_string(change.begin) + "–" + std::to_string(end - 1);
    return text.empty() ? nodes + " (" + tokens + ")" : shown(text) + " (" + tokens + ", " + nodes + ")";
  }

  std::string storedAs(const WhatIf& change) const {
    const auto found = m_step.servedBy.find(change.block);
    if (found == m_step.servedBy.end()) return "in the cache";
    const std::string node = found->second.node.empty() ? "the root" : found->second.node;
    return "as " + node + " of query " + std::to_string(found->second.run);
  }

  std::string shown(std::span<const TokenId> tokens) const {
    std::string text;
    for (std::size_t i = 0; i < tokens.size() && i < kMostShown; ++i)
      text += run::isUnknown(tokens[i]) ? std::string("?") : m_tokenizer.display(tokens[i]);
    if (tokens.size() > kMostShown) text += "…";
    return "“" + text + "”";
  }

  std::string textOf(const trace::BlockLookedUp& block, const WhatIf& change) const {
    switch (change.change) {
      case Change::AlwaysComputed:
        return "nothing: the last token is always computed";
      case Change::CacheOn:
        return "a cache that also keeps partial blocks";
      case Change::OtherTokens: {
        const std::span<const TokenId> own =
            tokensOf(block.segment).subspan(static_cast<std::size_t>(change.begin), change.stored.size());
        return shown(change.stored) + " in place of " + shown(own);
      }
      case Change::OwnSpan: {
        const std::string count = change.cached == change.count ? counted(change.count, "token")
                                                                : std::to_string(change.cached) + " of " +
                                                                      counted(change.count, "token");
        return messagesIn(block.segment, change) + " under a plus, with policy spans: " + count + " cached " +
               storedAs(change);
      }
      case Change::SameContext:
        return "the same messages in the same order as when the block was cached " + storedAs(change);
      case Change::FindEarlier:
        return "block " + std::to_string(change.earlier) + " as a hit, because this block is cached " +
               storedAs(change);
      case Change::LargerPool:
        return "--blocks " + std::to_string(change.blockCount);
      case Change::Again: {
        const auto firstMiss =
            std::ranges::find_if(m_step.blocks, [&block](const trace::BlockLookedUp& other) {
              return other.segment == block.segment && other.reason != trace::MissReason::None;
            });
        if (block.reason == trace::MissReason::AfterMiss && firstMiss != m_step.blocks.end())
          return "none of its own: the first miss is block " + std::to_string(firstMiss->virtualIndex);
        return "none: only the same request again is a hit";
      }
    }
    return {};
  }

  const run::StepPrediction& m_step;
  const text::Tokenizer& m_tokenizer;
};

/// Returns a table of the misses, as lines of text that end with a newline. Neighbouring blocks with the same
/// cause share a line. Predicted runs have the numbers of the queries, from 1.
std::string whyTable(const run::StepPrediction& step, const text::Tokenizer& tokenizer) {
  return ReuseReader(step, tokenizer).table();
}

/// The changes that would make one block a hit, as JSON.
Json changesJson(const run::StepPrediction& step, const std::vector<WhatIf>& changes) {
  Json list = Json::array();
  for (const WhatIf& change : changes) {
    Json entry{{"change", cache::changeName(change.change)}, {"found", change.found}};
    if (change.change == Change::OtherTokens || change.change == Change::OwnSpan)
      entry["begin"] = change.begin;
    if (change.change == Change::OtherTokens) entry["tokens"] = change.stored;
    if (change.change == Change::OwnSpan) {
      entry["count"] = change.count;
      entry["cached"] = change.cached;
    }
    if (change.change == Change::FindEarlier) entry["earlier"] = change.earlier;
    if (change.change == Change::LargerPool) entry["blocks"] = change.blockCount;
    const auto stored = step.servedBy.find(change.block);
    if (stored != step.servedBy.end())
      entry["stored_by"] = {{"run", stored->second.run}, {"node", stored->second.node}};
    list.push_back(std::move(entry));
  }
  return list;
}

constexpr const char* kPredictionOptions[] = {"--policy",     "--layout",  "--max-tokens",
                                              "--block-size", "--blocks",  "--template",
                                              "--adapter",    "--context", "--kv"};
constexpr const char* kNotRun =
    /*id:query-before-fail*/ "an earlier query will fail, so this query will not run";

/// The engine's own counts of a step. The counts include tokens beside the prompt.
struct Count {
  const char* name;
  run::CountRange run::StepPrediction::*range;
};
constexpr Count kCounts[] = {{.name = "prompt", .range = &run::StepPrediction::prompt},
                             {.name = "cached", .range = &run::StepPrediction::cached},
                             {.name = "relocated", .range = &run::StepPrediction::relocated},
                             {.name = "computed", .range = &run::StepPrediction::computed},
                             {.name = "evicted", .range = &run::StepPrediction::evicted}};

/// Returns the predicted metrics in the order of their table.
std::vector<const metrics::Metric*> predictedMetrics() {
  std::vector<const metrics::Metric*> predicted;
  for (const metrics::Metric& metric : metrics::all()) {
    if (metric.isOf(metrics::Scope::Prediction) && metric.ofPrediction != nullptr)
      predicted.push_back(&metric);
  }
  return predicted;
}

/// Returns "?" if the value depends on the lengths of answers.
std::string predictedText(const metrics::Metric& metric, const run::AccountPrediction& account) {
  const std::optional<run::CountRange> range = metric.of(account);
  return range ? rangeText(*range) : "?";
}

/// Whether a table has a column for the metric even if all values are 0.
bool isAlwaysShown(const metrics::Metric& metric) {
  return !metric.isRare && std::string_view(metric.id) != "tokens-computed-again";
}

/// Returns the metric's name in JSON.
std::string keyOf(const metrics::Metric& metric) {
  return metric.key != nullptr ? metric.key : metric.shortName;
}

run::CountRange sumOf(const run::Prediction& prediction, const Count& count) {
  run::CountRange sum;
  for (const run::StepPrediction& step : prediction.steps) {
    sum += step.*count.range;
  }
  return sum;
}

/// Returns the predicted error of a run, which may depend on the lengths of answers.
std::string errorText(const run::Prediction& prediction) {
  return std::string(prediction.errorIsCertain ? /*id:run-fail*/ "the run will fail: "
                                               : "the run fails for some answer lengths: ") +
         prediction.error->message();
}

const char* kindOf(const layout::Segment& segment) {
  if (segment.hidden) return "hidden prefix";
  return segment.independent ? "independent" : "dependent";
}

bool holdsUnknown(const layout::Segment& segment) {
  return std::ranges::any_of(segment.tokens, run::isUnknown);
}

/// Returns ascending indices in short form: "0–3, 5".
std::string indicesText(const std::vector<std::uint32_t>& indices) {
  if (indices.empty()) return "–";
  std::string text;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::size_t first = i;
    while (i + 1 < indices.size() && indices[i + 1] == indices[i] + 1) ++i;
    text += (text.empty() ? "" : ", ") + std::to_string(indices[first]);
    if (i > first) text += (i == first + 1 ? ", " : "–") + std::to_string(indices[i]);
  }
  return text;
}

/// Returns the result of one block: "relocated", "partial 5 of 16 (tokens differ)", "miss (never seen)".
std::string blockText(const trace::BlockLookedUp& block) {
  std::string text(trace::enumName(block.outcome));
  if (block.outcome == trace::LookupOutcome::Partial)
    text += " " + std::to_string(block.tokens) + " of " + std::to_string(block.wanted);
  if (block.reason != trace::MissReason::None)
    text += std::string(" (") + trace::infoOf(block.reason).words + ")";
  return text;
}

/// Returns the blocks of a segment in order, with equal neighbours counted: "hit ×2, miss (never seen)".
std::string blocksText(const run::StepPrediction& step, std::size_t segment) {
  std::string text;
  std::string current;
  int count = 0;
  const auto end = [&] {
    if (count == 0) return;
    text += (text.empty() ? "" : ", ") + current + (count > 1 ? " ×" + std::to_string(count) : "");
    count = 0;
  };
  for (const trace::BlockLookedUp& block : step.blocks) {
    if (block.segment != segment) continue;
    const std::string next = blockText(block);
    if (next != current) end();
    current = next;
    ++count;
  }
  end();
  return text.empty() ? "–" : text;
}

std::string stepTable(const plan::Plan& plan, const run::Prediction& prediction, std::int32_t blockSize) {
  run::AccountPrediction all;
  std::vector<run::AccountPrediction> accounts;
  for (const run::StepPrediction& step : prediction.steps) {
    accounts.push_back(run::accountOf(step, blockSize));
    accounts.back().evicted = step.evicted;
    all += accounts.back();
  }
  std::vector<const metrics::Metric*> counts;
  std::vector<TextTable::Column> columns{{"step"}, {"node", TextTable::Align::Left}};
  for (const metrics::Metric* metric : predictedMetrics()) {
    const std::optional<run::CountRange> sum = metric->of(all);
    if (!isAlwaysShown(*metric) && (!sum || sum->most == 0)) continue;
    counts.push_back(metric);
    columns.push_back({metric->shortName});
  }
  const bool anyDoubt =
      std::ranges::any_of(prediction.steps, [](const auto& step) { return step.doubt != run::Doubt::None; });
  if (anyDoubt) columns.push_back({"why not known", TextTable::Align::Left});
  TextTable table(std::move(columns));
  const auto addCounts = [&counts](std::vector<std::string>& cells, const run::AccountPrediction& account) {
    for (const metrics::Metric* metric : counts) cells.push_back(predictedText(*metric, account));
  };
  for (std::size_t i = 0; i < accounts.size(); ++i) {
    const run::StepPrediction& step = prediction.steps[i];
    std::vector<std::string> cells{std::to_string(step.step), stepName(plan, step.step)};
    addCounts(cells, accounts[i]);
    if (step.doubt != run::Doubt::None) cells.emplace_back(run::doubtReason(step.doubt));
    table.addRow(std::move(cells));
  }
  if (accounts.size() > 1) {
    std::vector<std::string> cells{"", "in all"};
    addCounts(cells, all);
    table.addRow(std::move(cells));
  }
  return table.text();
}

Json predictedAccount(const run::AccountPrediction& account) {
  Json json;
  for (const metrics::Metric* metric : predictedMetrics()) {
    if (metric->unit != metrics::Unit::Tokens) continue;
    const std::optional<run::CountRange> range = metric->of(account);
    // A count of the layout is one number or unknown.
    const bool isOfLayout = std::string_view(metric->events) == "layout_applied";
    json[keyOf(*metric)] = !range ? Json(nullptr) : isOfLayout ? Json(range->least) : rangeJson(*range);
  }
  return json;
}

/// Returns the first and the last node of the segment's tokens: "/g/input/cross/0 to /g/input/cross/2".
std::string nodesText(const layout::Segment& segment) {
  NodePath first = segment.node;
  NodePath last = segment.node;
  for (const layout::TokenRun& run : segment.runs) {
    if (run.node.empty()) continue;
    if (first.empty()) first = run.node;
    last = run.node;
  }
  if (first.empty()) return "the root";
  // A plus child has its own name, also if it has several messages.
  return last == first || segment.independent ? first : first + " to " + last;
}

std::string spanTable(const run::StepPrediction& step) {
  TextTable table({{"segment"},
                   {"node", TextTable::Align::Left},
                   {"kind", TextTable::Align::Left},
                   {"tokens"},
                   {"start"},
                   {"attends to", TextTable::Align::Left},
                   {"blocks", TextTable::Align::Left}});
  bool isAfterAnswer = false;
  for (std::size_t i = 0; i < step.table.segments.size(); ++i) {
    const layout::Segment& segment = step.table.segments[i];
    const bool hasAnswer = holdsUnknown(segment);
    const auto atMost = [](bool bounded, std::int64_t count) {
      return (bounded ? "≤ " : "") + std::to_string(count);
    };
    table.addRow({std::to_string(i), nodesText(segment), kindOf(segment), atMost(hasAnswer, segment.length()),
                  atMost(isAfterAnswer, segment.base), indicesText(segment.sees), blocksText(step, i)});
    isAfterAnswer |= hasAnswer;
  }
  return table.text();
}

Json blockJson(const run::StepPrediction& step, std::size_t index) {
  const trace::BlockLookedUp& block = step.blocks[index];
  Json json{{"outcome", trace::enumName(block.outcome)},
            {"reason", trace::enumName(block.reason)},
            {"tokens", block.tokens},
            {"wanted", block.wanted}};
  if (index < step.whatIf.size() && !step.whatIf[index].empty())
    json["what_if"] = changesJson(step, step.whatIf[index]);
  return json;
}

Json segmentsJson(const run::StepPrediction& step) {
  Json segments = Json::array();
  for (std::size_t i = 0; i < step.table.segments.size(); ++i) {
    const layout::Segment& segment = step.table.segments[i];
    Json blocks = Json::array();
    for (std::size_t index = 0; index < step.blocks.size(); ++index) {
      if (step.blocks[index].segment == i) blocks.push_back(blockJson(step, index));
    }
    segments.push_back({{"node", segment.node},
                        {"kind", segment.independent ? "independent" : "dependent"},
                        {"hidden", segment.hidden},
                        {"tokens", segment.length()},
                        {"reply_tokens", std::ranges::count_if(segment.tokens, run::isUnknown)},
                        {"base", segment.base},
                        {"sees", segment.sees},
                        {"blocks", std::move(blocks)}});
  }
  return segments;
}

}  // namespace

void addPredictionOptions(CLI::App& command, PredictionOptions& options) {
  const char* const group = "Predicted reuse";
  command
      .add_flag("--predict", options.isWanted,
                "Predict the cache hits of each query if the queries run one after the other")
      ->group(group);
  command
      .add_flag("--why", options.why,
                "Give the reason for each miss, and a change that would make the block a hit")
      ->group(group);
  command
      .add_flag("--layouts", options.layouts,
                "Compare the layouts at block sizes 2, 4 and 16: tokens, padding, delimiters, truncated and "
                "computed tokens")
      ->group(group);
  workbench::RunSettings& settings = options.session.settings;
  addSettings(command, settings,
              {"model", "chat_template", "template_variables", "adapter", "context", "kv_type"});
  addSettings(command, settings, {"policy", "prompt_layout", "max_tokens", "block_size", "blocks"});
  for (const char* name : kPredictionOptions) command.get_option(name)->group(group);
  command.get_option("--model")->description(
      "Hugging Face model folder or GGUF file for counting tokens (default: the bundled model)");
}

void checkPredictionOptions(const CLI::App& command, PredictionOptions& options) {
  options.isWanted = options.isWanted || options.why;
  if (options.isWanted) return;
  for (const char* name : kPredictionOptions) {
    if (command.get_option(name)->count() == 0 || options.layouts) continue;
    // The graph has no prediction.
    if (command.get_option("--dot")->count() > 0) throw CLI::ExcludesError("--dot", name);
    options.isWanted = true;
  }
}

ReusePrediction::ReusePrediction(const PredictionOptions& options)
    : m_options(options),
      m_model(describeChosenModel(options.session)),
      m_predictor(options.session.config(), m_model.config, *m_model.tokenizer, *m_model.chat) {
  use(options.session.settings);
  if (options.why) m_predictor.sayWhatIf();
}

void ReusePrediction::use(const workbench::RunSettings& settings) {
  m_run = workbench::runOptionsOf(settings);
}

std::optional<run::Prediction> ReusePrediction::predict(const plan::Plan& plan, const std::stop_token& stop) {
  if (m_hasFailed) return std::nullopt;
  run::Prediction prediction = m_predictor.predict(plan, m_run, stop);
  m_hasFailed = prediction.error && prediction.errorIsCertain;
  return prediction;
}

std::optional<experiment::LayoutComparison> ReusePrediction::compareLayouts(
    const plan::Plan& plan, const std::stop_token& stop) const {
  return experiment::compareLayouts(plan, m_run, m_options.session.config(), m_model.config,
                                    *m_model.tokenizer, *m_model.chat, experiment::kComparedBlockSizes, stop);
}

std::string ReusePrediction::setting() const {
  const run::SessionConfig config = m_options.session.config();
  return std::string("policy ") + m_run.policy.name() + layoutWords(m_run.layout) + " on " + m_model.name +
         ", " + counted(config.blockCount, "block") + " of " + counted(config.blockSize, "token") +
         ", empty at first";
}

std::string predictionText(const plan::Plan& plan, const std::optional<run::Prediction>& prediction,
                           std::int32_t blockSize, const text::Tokenizer* tokenizer) {
  if (!prediction) return std::string("  not predicted: ") + kNotRun + "\n";
  std::string text;
  if (prediction->error) text += "  " + errorText(*prediction) + "\n";
  if (plan.steps.empty()) text += "  The query generates nothing, so there is no prompt.\n";
  if (prediction->steps.empty()) return text;
  text += stepTable(plan, *prediction, blockSize);
  for (const run::StepPrediction& step : prediction->steps) {
    text += /*id:span-table-step*/ "  Span table of step " + std::to_string(step.step) + ": " +
            stepName(plan, step.step);
    if (step.doubt != run::Doubt::None)
      text += /*id:predicted-replies-at-their-longest*/ ", for answers of max length";
    text += "\n" + spanTable(step);
    if (tokenizer == nullptr) continue;
    const auto isUsual = [](const trace::BlockLookedUp& block) {
      return block.tokens == block.wanted || block.reason == trace::MissReason::LastToken;
    };
    if (std::ranges::all_of(step.blocks, isUsual)) {
      text += "  Step " + std::to_string(step.step) +
              /*id:nothing-to-change*/
              " computes only the last token of its prompt. A run always computes "
              "this token, so there is nothing to change.\n";
      continue;
    }
    text += "  What step " + std::to_string(step.step) + " computes, and why:\n" + whyTable(step, *tokenizer);
  }
  return text;
}

Json predictionJson(const plan::Plan& plan, const std::optional<run::Prediction>& prediction,
                    std::int32_t blockSize) {
  if (!prediction) return nullptr;
  Json json;
  if (prediction->error) {
    json["error"] = prediction->error->message();
    json["error_is_certain"] = prediction->errorIsCertain;
  }
  Json totals;
  for (const Count& count : kCounts) totals[count.name] = rangeJson(sumOf(*prediction, count));
  run::AccountPrediction all;
  for (const run::StepPrediction& step : prediction->steps) all += run::accountOf(step, blockSize);
  totals["account"] = predictedAccount(all);
  json["totals"] = std::move(totals);
  json["order"] = prediction->order;
  json["steps"] = Json::array();
  for (const run::StepPrediction& step : prediction->steps) {
    Json row{{"step", step.step},
             {"node", plan.steps[step.step].node},
             {"copy", plan.steps[step.step].copy + 1},
             {"doubt", run::doubtName(step.doubt)}};
    for (const Count& count : kCounts) row[count.name] = rangeJson(step.*count.range);
    row["account"] = predictedAccount(run::accountOf(step, blockSize));
    row["segments"] = segmentsJson(step);
    json["steps"].push_back(std::move(row));
  }
  return json;
}

}  // namespace spanscope::cli
