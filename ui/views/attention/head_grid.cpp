// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/attention/head_grid.h"

#include "ui/session/answer_shares.h"
#include "ui/views/common/segment_names.h"
#include "ui/words/part_text.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <variant>

namespace spanscope::ui {
namespace {

using trace::PartAttention;

/// The rows from which the tokens of the answer were drawn, by token.
std::map<std::int32_t, PartAttention> answerRows(const ViewInput& input, const AnswerShares& shares) {
  const RequestEvents* events = input.trace->request(shares.request);
  if (events == nullptr || shares.tokens.empty()) return {};
  std::map<std::int32_t, PartAttention> rows = partRows(input, *events, shares.parts);
  rows.erase(rows.upper_bound(shares.tokens.back().index), rows.end());
  return rows;
}

/// Adds one row of a layer and head to the map, without first tokens.
void addRow(HeadMap& map, std::size_t token, const PartAttention& row, std::size_t layer,
            const std::vector<std::size_t>& placeOf, std::size_t sources) {
  const std::size_t width = row.keyParts.size();
  const std::size_t from =
      (layer * static_cast<std::size_t>(row.heads) + static_cast<std::size_t>(map.head)) * width;
  for (std::size_t key = 0; key < width; ++key) {
    const std::uint32_t part = row.keyParts[key];
    if (part >= placeOf.size() || placeOf[part] >= sources) continue;
    map.mass[token * sources + placeOf[part]] = std::max(0.0F, row.mass[from + key] - row.first[from + key]);
  }
}

void finish(HeadMap& map, std::size_t sources, std::optional<std::size_t> selected) {
  std::vector<double> sums(sources, 0.0);
  float most = 0;
  for (std::size_t i = 0; i < map.mass.size(); ++i) {
    sums[i % sources] += static_cast<double>(map.mass[i]);
    most = std::max(most, map.mass[i]);
  }
  double whole = 0;
  for (const double sum : sums) whole += sum;
  map.most = static_cast<std::size_t>(std::max_element(sums.begin(), sums.end()) - sums.begin());
  map.share = whole > 0 ? sums[selected.value_or(map.most)] / whole : 0;
  if (most <= 0) return;
  for (float& mass : map.mass) mass /= most;
}

}  // namespace

HeadGrid headGrid(const ViewInput& input) {
  HeadGrid grid;
  const std::shared_ptr<const AnswerShares> shares = answerShares(input, input.shownRequest());
  const auto rows = answerRows(input, *shares);
  if (rows.empty()) return grid;
  const std::vector<PartName> names = requestParts(input, shares->request).names;
  const std::optional<std::uint32_t> selected = selectedSource(input, *shares);
  std::vector<std::size_t> placeOf(shares->parts.size(), shares->parts.size());
  for (std::uint32_t part = 0; part < shares->parts.size(); ++part) {
    if (!shares->isSource(part)) continue;
    placeOf[part] = grid.sources.size();
    if (selected == part) grid.selected = grid.sources.size();
    grid.sources.push_back(part);
    grid.names.push_back(names[part].name);
  }
  if (grid.sources.empty()) return {};
  grid.request = shares->request;
  grid.tokens = rows.size();

  std::map<std::pair<std::int32_t, std::int32_t>, HeadMap> maps;
  std::size_t token = 0;
  for (const auto& [index, row] : rows) {
    for (std::size_t layer = 0; layer < row.layers.size(); ++layer) {
      for (std::int32_t head = 0; head < row.heads; ++head) {
        HeadMap& map = maps[{row.layers[layer], head}];
        map.layer = row.layers[layer];
        map.head = head;
        map.mass.resize(grid.tokens * grid.sources.size(), 0.0F);
        addRow(map, token, row, layer, placeOf, grid.sources.size());
      }
    }
    ++token;
  }
  for (auto& [place, map] : maps) {
    finish(map, grid.sources.size(), grid.selected);
    grid.maps.push_back(std::move(map));
  }
  if (grid.selected) {
    std::stable_sort(grid.maps.begin(), grid.maps.end(),
                     [](const HeadMap& a, const HeadMap& b) { return a.share > b.share; });
  }
  return grid;
}

QString headText(const HeadGrid& grid, std::size_t map) {
  if (map >= grid.maps.size()) return {};
  const HeadMap& own = grid.maps[map];
  return tr("layer %1, head %2: %3 of what it read from sources is %4")
      .arg(own.layer)
      .arg(own.head)
      .arg(partText(own.share), grid.names[grid.selected.value_or(own.most)]);
}

QString headGridTitle(const HeadGrid& grid) {
  if (grid.isEmpty()) return tr("What single heads read was not recorded.");
  return grid.selected ? tr("Heads that found %1, the best first").arg(grid.names[*grid.selected])
                       : tr("Heads by layer. Select a document to see which of them found it.");
}

}  // namespace spanscope::ui
