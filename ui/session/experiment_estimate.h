// SPDX-License-Identifier: GPL-3.0-or-later
// How long an experiment would take that a person has not started yet.
#pragma once

#include "engine/experiment/token_amount.h"

#include <QString>

#include <cstdint>
#include <optional>

namespace spanscope::ui {

struct ExperimentEstimate {
  enum class State : std::uint8_t {
    Waits,      ///< for what goes on in the engine
    NotLoaded,  ///< the model is not, so that tokens cannot be counted
    Counted,
    Unknown,  ///< it cannot be counted
  };
  QString request;  ///< experimentRequestText() of what would be carried out
  State state = State::Waits;
  /// Of what was counted; nothing: the pace of the model is not known.
  std::optional<experiment::SecondsRange> seconds{};
};

/// "about 40 s", "20 s to 1 min"
QString shownDuration(const experiment::SecondsRange& seconds);
/// A sentence; empty where there is nothing to say yet.
QString estimateText(const ExperimentEstimate& estimate);

}  // namespace spanscope::ui
