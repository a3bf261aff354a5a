// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/layout_lines.h"

#include "app/cli/terminal_output.h"
#include "engine/metrics/metric_table.h"

#include <array>
#include <string_view>
#include <vector>

namespace spanscope::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kLayoutMetrics = {"prompt-tokens",    "padding-tokens", "padding-blocks",
                                       "delimiter-tokens", "cropped-tokens", "added-tokens"};

std::string shortName(std::string_view id) {
  return metrics::get(id).shortName;
}

}  // namespace

std::string layoutWords(layout::Layout layout) {
  return layout == layout::Layout::Exact ? "" : std::string(", layout ") + layout::infoOf(layout).name;
}

std::string layoutTable(const experiment::LayoutComparison& comparison) {
  std::vector<TextTable::Column> columns{{"layout", TextTable::Align::Left}, {shortName("block-size")}};
  for (const char* const id : kLayoutMetrics) columns.push_back({shortName(id)});
  columns.push_back({shortName("blocks")});
  columns.push_back({shortName("computed-tokens")});
  if (comparison.hasOrder) {
    columns.push_back({"swapped, full blocks"});
    columns.push_back({"swapped"});
  }
  TextTable table(std::move(columns));
  std::string problems;
  for (const experiment::LayoutRow& row : comparison.rows) {
    const char* const name = layout::infoOf(row.layout).name;
    if (row.problem) {
      problems += "  " + std::string(name) + " in blocks of " + std::to_string(row.blockSize) +
                  " cannot run: " + *row.problem + "\n";
      continue;
    }
    std::vector<std::string> cells{name, std::to_string(row.blockSize)};
    for (const std::string_view id : kLayoutMetrics) {
      const metrics::Metric& metric = metrics::get(id);
      const bool isItself = id == "added-tokens" && row.layout == layout::Layout::Exact;
      cells.push_back(isItself ? "" : metrics::text(metric.unit, metric.of(row.counts).value_or(0.0)));
    }
    cells.push_back(std::to_string(row.blocks));
    cells.push_back(rangeText(row.computed));
    if (comparison.hasOrder) {
      cells.push_back(rangeText(row.swappedFull));
      cells.push_back(rangeText(row.swapped));
    }
    table.addRow(std::move(cells));
  }
  std::string text = table.text() + problems;
  text += "  Computed: tokens that a first run computes with an empty cache";
  if (comparison.hasOrder)
    text +=
        ".\n  Swapped: tokens that a second run computes, with the children of each plus in reversed "
        "order.\n  In the column of full blocks, the cache keeps only full blocks, as in servers. In the "
        "last column, the\n  cache also keeps partial blocks.";
  text += '\n';
  if (comparison.hasAnswers)
    text += /*id:replies-at-their-longest*/ "  Every answer is assumed to have its max length.\n";
  return text;
}

Json layoutJson(const metrics::LayoutMetrics& counts) {
  return {{"prompt", counts.tokens},   {"pads", counts.pads},       {"pad_blocks", counts.padBlocks},
          {"markers", counts.markers}, {"cropped", counts.cropped}, {"exact_prompt", counts.exactTokens()}};
}

Json layoutsJson(const experiment::LayoutComparison& comparison) {
  Json rows = Json::array();
  for (const experiment::LayoutRow& row : comparison.rows) {
    Json json{{"layout", layout::infoOf(row.layout).name}, {"block_size", row.blockSize}};
    if (row.problem) {
      json["problem"] = *row.problem;
      rows.push_back(std::move(json));
      continue;
    }
    json.update(layoutJson(row.counts));
    json["blocks"] = row.blocks;
    json["computed"] = rangeJson(row.computed);
    if (comparison.hasOrder) {
      json["swapped_full_blocks"] = rangeJson(row.swappedFull);
      json["swapped"] = rangeJson(row.swapped);
    }
    rows.push_back(std::move(json));
  }
  return rows;
}

std::string rangeText(const run::CountRange& range) {
  const std::string least = std::to_string(range.least);
  if (!range.bounded()) return least + " or more";
  return range.known() ? least : least + "–" + std::to_string(range.most);
}

nlohmann::ordered_json rangeJson(const run::CountRange& range) {
  const nlohmann::ordered_json most = range.bounded() ? nlohmann::ordered_json(range.most) : nullptr;
  return {{"least", range.least}, {"most", most}};
}

}  // namespace spanscope::cli
