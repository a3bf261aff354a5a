// SPDX-License-Identifier: GPL-3.0-or-later
// What the document's next run would find in the cache: its steps and their span tables, compared with the
// forecast before and with the last run.
#pragma once

#include "engine/run/prediction.h"
#include "ui/session/view_input.h"
#include "ui/views/common/block_painter.h"

#include <QString>
#include <QStringList>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::ui {

/// The cache against which the run is predicted.
enum class Against : std::uint8_t { Present, Empty };

struct ForecastCounts {
  run::CountRange prompt;  ///< all counts are tokens, except `evicted`
  run::CountRange cached;
  run::CountRange relocated;
  run::CountRange computed;
  run::CountRange evicted;  ///< blocks
  bool operator==(const ForecastCounts&) const = default;
};

/// What a run of the same plan found, in tokens.
struct RanCounts {
  std::int64_t prompt = 0;
  std::int64_t cached = 0;
  std::int64_t relocated = 0;
  std::int64_t computed = 0;
  bool operator==(const RanCounts&) const = default;
};

/// A part of the prompt, or what lies beside the prompt.
struct ForecastSegment {
  QString name;
  std::size_t hue = 0;
  document::NodeId node = document::kNoNode;
  QString kind;             ///< "independent", "dependent", "hidden"
  bool isHidden = false;    ///< it lies beside the prompt and has neither hue nor base
  std::int64_t tokens = 0;  ///< the most possible, if it holds a reply
  bool holdsReply = false;
  std::int64_t base = 0;  ///< the most possible, if a reply stands before it
  bool isAfterReply = false;
  QString sees;             ///< names of the segments that it sees
  std::int64_t cached = 0;  ///< relocated tokens included
  std::int64_t relocated = 0;
  std::vector<BlockLook> blocks;
  QString blockWords;  ///< "2 hit, 1 computed (never seen)"
  bool operator==(const ForecastSegment&) const = default;
};

struct ForecastStep {
  StepIndex step = 0;
  QString name;
  document::NodeId node = document::kNoNode;
  ForecastCounts counts;
  std::optional<run::CountRange> computedBefore;  ///< computed tokens in the forecast before
  std::optional<RanCounts> ran;
  QString doubt;  ///< why counts are bounds; empty: they are exact
  std::vector<ForecastSegment> segments;
  bool operator==(const ForecastStep&) const = default;
};

struct ForecastTable {
  QString gap;    ///< why there is nothing to show; empty: there is something
  QString error;  ///< why the run will or may fail
  bool errorIsCertain = false;
  bool isPending = false;
  QString cache;  ///< the cache against which it is predicted, in words
  ForecastCounts totals;
  std::optional<run::CountRange> computedBefore;
  std::optional<RanCounts> ran;
  RunId ranRun = 0;  ///< the run of `ran`
  std::vector<ForecastStep> steps;
  bool operator==(const ForecastTable&) const = default;
};

ForecastTable forecastTable(const ViewInput& input, Against against);

/// "12", "12–20", "12 or more"
QString rangeText(const run::CountRange& range);
/// "83 → 13" if the range has changed, else "13".
QString changedText(const std::optional<run::CountRange>& before, const run::CountRange& now);
QString forecastCsv(const ForecastTable& table);

}  // namespace spanscope::ui
