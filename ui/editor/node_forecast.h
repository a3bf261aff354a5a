// SPDX-License-Identifier: GPL-3.0-or-later
// What the forecast says of each node of the document, to be told apart at a glance from what a run has done.
#pragma once

#include "engine/run/prediction.h"
#include "ui/editor/node_status.h"
#include "ui/session/forecast.h"

#include <QString>

#include <cstdint>
#include <map>
#include <vector>

namespace spanscope::ui {

/// Tokens of a leaf, or of the prompt of a node that generates.
struct NodeForecast {
  run::CountRange prompt;
  run::CountRange cached;  ///< relocated ones included
  run::CountRange relocated;
  run::CountRange computed;
  std::int64_t blocks = 0;       ///< of the prompt, 0 for a leaf; at most, where the counts are bounds
  std::int64_t foundBlocks = 0;  ///< of these the ones that are wholly there
  bool isCertain = true;         ///< false: the run may have other counts, or those of a leaf are bounds too
  bool operator==(const NodeForecast&) const = default;
};

/// By copy of the node's step; a leaf has one entry.
using NodeForecasts = std::map<document::NodeId, std::vector<NodeForecast>>;

/// Of a forecast that is known. A leaf that stands in several prompts is shown as the last one of them finds
/// it, as it is after a run.
NodeForecasts nodeForecasts(const Forecast& forecast, const document::Document& document);

/// What is worth showing beside the status of a node; nullptr: nothing is predicted of it, or just what the
/// shown run had, or that nothing of it is cached where nothing was.
const NodeForecast* forecastBeside(const NodeForecasts& forecasts, document::NodeId node,
                                   const NodeStatus& status);

/// "next 87 %", "next 62–87 %", "next ≈ 87 %": the share of its tokens that will come from the cache.
QString forecastBadge(const NodeForecast& forecast);
/// The same in a sentence with the counts.
QString forecastWords(const NodeForecast& forecast);

}  // namespace spanscope::ui
