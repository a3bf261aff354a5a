// SPDX-License-Identifier: GPL-3.0-or-later
// What the layout of a run did to one of its prompts, token by token: pads, markers and cropped tokens.
#pragma once

#include "engine/metrics/layout_metrics.h"
#include "ui/session/view_input.h"

#include <QString>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace spanscope::ui {

struct LayoutMarks {
  QString layout;  ///< name of the layout; empty: the exact layout, which changes nothing
  std::map<std::uint32_t, std::vector<trace::LayoutRun>> runs;  ///< by segment, ascending
  std::vector<trace::CroppedRun> cropped;                       ///< cropped tokens, ascending by place
  metrics::LayoutMetrics sums;

  bool isExact() const { return layout.isEmpty(); }
  /// The role of a pad or marker; nothing for a token of the prompt itself.
  std::optional<trace::LayoutRole> roleOf(std::uint32_t segment, std::int32_t local) const;
  /// How many of the local tokens begin … end − 1 are pads and how many are markers.
  struct Counts {
    std::int32_t pads = 0;
    std::int32_t markers = 0;
  };
  Counts within(std::uint32_t segment, std::int32_t begin, std::int32_t end) const;
};

/// What the first `input.position` events tell of it.
LayoutMarks layoutMarks(const ViewInput& input, RequestId request);

/// "39 pads in 4 blocks · 4 markers · 12 cropped · +51.8 % tokens"; empty for the exact layout.
QString layoutSummary(const LayoutMarks& marks);

/// "plus marker", "cross marker", "pad".
QString roleName(trace::LayoutRole role);

}  // namespace spanscope::ui
