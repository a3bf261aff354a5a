// SPDX-License-Identifier: GPL-3.0-or-later
// What the map lacks for the shown layer and head, and whether a replay of the answer can compute it.
#pragma once

#include "engine/jobs/attention_replay.h"
#include "ui/session/view_input.h"
#include "ui/views/attention/attention_model.h"

#include <QString>

#include <optional>

namespace spanscope::ui {

struct ReplayOffer {
  /// What is missing and why it cannot be computed now, or what was computed; empty: nothing to say.
  QString text;
  std::optional<jobs::ReplayChoice>
      choice;  ///< what a replay would compute; none: there is nothing to compute
  bool canCompute = false;
  bool isComputing = false;  ///< `choice` is being computed now
  bool operator==(const ReplayOffer&) const = default;
};

ReplayOffer replayOffer(const ViewInput& input, const AttentionModel& model, const AttentionOptions& options);

}  // namespace spanscope::ui
