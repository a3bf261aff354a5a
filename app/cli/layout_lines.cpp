// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/layout_lines.h"

#include "app/cli/text_table.h"

#include <nlohmann/json.hpp>

#include <vector>

namespace spanscope::cli {

namespace {

using Json = nlohmann::ordered_json;

}  // namespace

std::string layoutWords(layout::Layout layout) {
  return layout == layout::Layout::Exact ? "" : std::string(", layout ") + layout::infoOf(layout).name;
}

std::string layoutTable(const experiment::LayoutComparison& comparison) {
  std::vector<TextTable::Column> columns{{"layout", TextTable::Align::Left},
                                         {"block size"},
                                         {"tokens"},
                                         {"pads"},
                                         {"in blocks"},
                                         {"markers"},
                                         {"cropped"},
                                         {"against exact"},
                                         {"blocks"},
                                         {"computed"}};
  if (comparison.hasOrder) {
    columns.push_back({"swapped, full blocks"});
    columns.push_back({"swapped"});
  }
  TextTable table(std::move(columns));
  std::string problems;
  for (const experiment::LayoutRow& row : comparison.rows) {
    const metrics::LayoutMetrics& counts = row.counts;
    const char* const name = layout::infoOf(row.layout).name;
    if (row.problem) {
      problems += "  " + std::string(name) + " in blocks of " + std::to_string(row.blockSize) +
                  " cannot run: " + *row.problem + "\n";
      continue;
    }
    std::vector<std::string> cells{name,
                                   std::to_string(row.blockSize),
                                   std::to_string(counts.tokens),
                                   std::to_string(counts.pads),
                                   std::to_string(counts.padBlocks),
                                   std::to_string(counts.markers),
                                   std::to_string(counts.cropped),
                                   row.layout == layout::Layout::Exact ? "" : metrics::addedText(counts),
                                   std::to_string(row.blocks),
                                   rangeText(row.computed)};
    if (comparison.hasOrder) {
      cells.push_back(rangeText(row.swappedFull));
      cells.push_back(rangeText(row.swapped));
    }
    table.addRow(std::move(cells));
  }
  std::string text = table.text() + problems;
  text += "  computed: tokens, with a cache that is empty at first";
  if (comparison.hasOrder)
    text +=
        "; swapped: and then with the children of every plus in\n  reversed order, where only full blocks "
        "are kept, as servers do, and where what does not fill one is kept too";
  text += '\n';
  if (comparison.hasReplies) text += "  Replies are taken to be as long as they may be.\n";
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
