// SPDX-License-Identifier: GPL-3.0-or-later
// What moves in the token strip between two events: tokens of found blocks come from the position at which
// they were stored.
#pragma once

#include "ui/session/moment.h"
#include "ui/views/tokens/token_strip_model.h"

#include <QString>

#include <cstddef>
#include <vector>

namespace spanscope::ui {

struct TokenTravel {
  std::size_t from = 0;  ///< index of the token that stands now where this one was stored
  std::size_t to = 0;
  bool operator==(const TokenTravel&) const = default;
};

struct StripMotion {
  TokenStrip before;                   ///< the strip when what is underway began
  std::vector<TokenTravel> travels;    ///< ascending by `to`
  std::vector<std::size_t> computing;  ///< tokens that a pass is computing, ascending
  QString note;                        ///< what travels, in a few words; empty without travels

  /// The token as it was; nullptr: it was not there.
  const StripToken* tokenBefore(const TokenStrip& now, std::size_t token) const;
  bool travelsTo(std::size_t token) const;
  bool isComputing(std::size_t token) const;
};

/// What is underway at this moment, which is one of the input's position. `strip` is the strip there.
StripMotion stripMotion(const ViewInput& input, const Moment& moment, const TokenStrip& strip);

}  // namespace spanscope::ui
