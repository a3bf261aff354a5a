// SPDX-License-Identifier: GPL-3.0-or-later
// The changes that the layout of a run made to one of its prompts: padding, delimiter and cropped tokens.
#pragma once

#include "engine/metrics/token_account.h"
#include "ui/session/view_input.h"

#include <QString>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace spanscope::ui {

struct LayoutMarks {
  QString layout;  ///< name of the layout; empty: the exact layout, which has no changes
  std::map<std::uint32_t, std::vector<trace::LayoutRun>> runs;  ///< by segment, ascending
  std::vector<trace::CroppedRun> cropped;                       ///< cropped tokens, ascending by place
  metrics::LayoutMetrics sums;

  bool isExact() const { return layout.isEmpty(); }
  /// The role of a padding or delimiter token; nothing for a token of the prompt itself.
  std::optional<trace::LayoutRole> roleOf(std::uint32_t segment, std::int32_t local) const;
  /// The number of padding and of delimiter tokens among the local tokens begin … end − 1.
  struct Counts {
    std::int32_t pads = 0;
    std::int32_t markers = 0;
  };
  Counts within(std::uint32_t segment, std::int32_t begin, std::int32_t end) const;
};

/// The changes that the first `input.position` events report.
LayoutMarks layoutMarks(const ViewInput& input, RequestId request);

/// "39 padding tokens · 4 delimiter tokens · …"; empty for the exact layout.
QString layoutSummary(const LayoutMarks& marks);

/// The text of a token with this role in views: "+", "@" or "·", for any token of the server.
QString roleText(trace::LayoutRole role);

/// "plus delimiter", "cross delimiter", "padding".
QString roleName(trace::LayoutRole role);

}  // namespace spanscope::ui
