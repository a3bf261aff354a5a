// SPDX-License-Identifier: GPL-3.0-or-later
// What the map lacks of the layer and head in view, and whether a replay of the answer can compute it.
#pragma once

#include "ui/session/view_input.h"
#include "ui/views/attention/attention_model.h"

#include <QString>

#include <optional>

namespace spanscope::ui {

struct ReplayOffer {
  QString text;  ///< what is missing and why it cannot be computed now, or what was computed; empty: neither
  std::optional<ReplayChoice> choice;  ///< what would be computed; none: nothing to ask for
  bool canCompute = false;
  bool isComputing = false;  ///< just this
  bool operator==(const ReplayOffer&) const = default;
};

ReplayOffer replayOffer(const ViewInput& input, const AttentionModel& model, const AttentionOptions& options);

}  // namespace spanscope::ui
